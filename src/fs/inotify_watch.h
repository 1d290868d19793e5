// HostWatch by inotify(7).
#pragma once

#include <memory>

#include "fs/host_files.h"
#include "fs/host_watch.h"

namespace quipu::fs {

/// `files` must outlive it.
Result<std::unique_ptr<HostWatch>> watch_with_inotify(HostFiles& files);

}  // namespace quipu::fs
