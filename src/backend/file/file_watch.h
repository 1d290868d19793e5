// LogWatch on files: the system says which change.
#pragma once

#include <memory>

#include "backend/log_watch.h"
#include "fs/fs.h"

namespace quipu::file {

/// Null where the system cannot tell. `fs` must outlive it.
std::unique_ptr<LogWatch> watch_files(fs::Fs& fs, Clock& clock);

}  // namespace quipu::file
