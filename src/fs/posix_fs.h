// PosixFs: the Fs of a real directory.
//
// No symbolic link is followed below the root, nothing above it is reachable,
// and what is opened is a regular file: the directory may be writable by
// somebody who plants links and FIFOs. Files are 0600 and directories 0700
// whatever the umask.
#pragma once

#include <memory>
#include <string>

#include "fs/fs.h"

namespace quipu::fs {

/// What kernel and file system are taken to offer. Absence is noticed at run
/// time; tests switch things off to walk the other road.
struct PosixFeatures {
  bool openat2 = true;    // else component by component, O_NOFOLLOW
  bool tmpfile = true;    // else a random dot-name
  bool noreplace = true;  // renameat2(RENAME_NOREPLACE), else link and unlink
};

class PosixFs {
 public:
  PosixFs() = delete;

  /// `not_found` when there is no such directory, `invalid_argument` when it is
  /// something else. Symbolic links in `root_directory` itself are followed.
  static Result<std::unique_ptr<Fs>> open(const std::string& root_directory,
                                          PosixFeatures features = {});

  /// Makes `path` and its missing parents, mode 0700, so that they survive a
  /// power cut. Being there already is success.
  static Result<void> make_root(const std::string& path);
};

}  // namespace quipu::fs
