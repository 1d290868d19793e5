// A HostWatch that knows paths from one directory on only.
#pragma once

#include <memory>
#include <string>

#include "fs/host_watch.h"

namespace quipu::fs {

/// `root` must lead to the directory for as long as the watch is used.
Result<std::unique_ptr<HostWatch>> watch_below(std::string root);

}  // namespace quipu::fs
