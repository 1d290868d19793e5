// Quarantine: nothing that recovery takes out of a log vanishes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "fs/fs.h"
#include "log/log_file.h"
#include "quipu/result.h"

namespace quipu::log {

/// Copies `[offset, offset + bytes)` of a log to a new file in quarantine and
/// makes it durable. The file's first line is a JSON object that says where the
/// bytes come from and why, the rest is the bytes. Returns its path.
Result<std::string> quarantine(fs::Fs& fs, const LogPaths& paths, fs::File& log,
                               std::uint64_t offset, std::uint64_t bytes, std::string_view reason,
                               Clock& clock);

}  // namespace quipu::log
