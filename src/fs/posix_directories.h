// How PosixFs finds directories below its root. Internal to src/fs.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "fs/posix_file.h"
#include "quipu/result.h"

namespace quipu::fs {

/// As `error_from_errno`, but a link, or a file of the wrong kind, on the way is
/// `invalid_argument`.
Error path_error(int number, std::string_view call, std::string_view path);

using Directory = std::shared_ptr<Fd>;  // O_PATH

/// Opens directories without following a link or leaving the root. Safe from
/// every thread.
class PosixDirectories {
 public:
  PosixDirectories(Fd root, bool openat2)
      : root_(std::make_shared<Fd>(std::move(root))), openat2_(openat2) {}

  const Directory& root() const { return root_; }

  /// Resolves the path anew, and remembers the answer for `remembered`.
  Result<Directory> open(std::string_view path) EXCLUDES(mutex_);

  /// What `open` found last, for directories right below the root; null when it
  /// was never asked. For `stat`, which is on the way of every append: what it
  /// says of a name and what was opened by that name are in the same directory.
  Directory remembered(std::string_view name) EXCLUDES(mutex_);

 private:
  struct Remembered {
    std::string name;
    Directory directory;
  };

  int resolve(const std::string& path);
  void remember(std::string_view name, const Directory& directory) EXCLUDES(mutex_);

  const Directory root_;
  std::atomic<bool> openat2_;
  Mutex mutex_;
  std::vector<Remembered> remembered_ GUARDED_BY(mutex_);
};

}  // namespace quipu::fs
