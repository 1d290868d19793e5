// Files that were compressed with zstd, read as if they were not.
#pragma once

#include <memory>
#include <string>

#include "fs/host_files.h"

namespace quipu::fs {

/// Whether a path says that the file is compressed: `.zst`.
bool is_compressed(const std::string& path);

/// `file` decompressed. Made for reading on: to go back it begins again. Holds one
/// window, of at most 128 MiB whatever the file asks for. `stat` is that of the
/// compressed file. `corrupt` where it is damaged or cut off.
std::unique_ptr<HostFile> decompressed(std::unique_ptr<HostFile> file);

/// Opens a file to read what was written into it, compressed or not.
Result<std::unique_ptr<HostFile>> open_plain(HostFiles& files, const std::string& path);

}  // namespace quipu::fs
