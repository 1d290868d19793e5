// Looking at a log from the outside: every line of it, and whether its index
// agrees. Reads only.
#pragma once

#include <vector>

#include "log/builder.h"
#include "log/log_file.h"
#include "quipu/inspect.h"
#include "quipu/result.h"

namespace quipu::log {

/// Every seal, parent and index record of one log. A batch that is just being
/// written looks like a torn tail: ask again under the session's lock before
/// telling anybody.
Result<VerifyReport> verify_log(fs::Fs& fs, const LogPaths& paths, const Inherited* inherited);

/// All lines, those that do not count included.
Result<std::vector<DumpLine>> dump_log(fs::Fs& fs, const LogPaths& paths);

}  // namespace quipu::log
