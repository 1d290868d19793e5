// HostFiles: a look at the user's own directories, outside of any store. Reads
// only. The seam for tests of what depends on where a repository lies.
//
// Thread-safety: every call from every thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "quipu/result.h"

namespace quipu::fs {

class HostFiles {
 public:
  virtual ~HostFiles() = default;

  /// Whether anything has this name; links are followed. What cannot be looked at
  /// is not there.
  virtual bool exists(const std::string& path) = 0;
  /// The first `bytes_max` bytes of a regular file.
  virtual Result<std::string> read(const std::string& path, std::size_t bytes_max) = 0;

  /// Directories that hold work of all kinds: the root, the user's own, those for
  /// temporary files. Absolute paths.
  virtual std::vector<std::string> shared_places() = 0;

  /// The machine's own. Lives for ever.
  static HostFiles& system();
};

}  // namespace quipu::fs
