// HostFiles: a look at the user's own files, outside of any store. Reads only:
// there is no call here that changes anything. The seam for tests of what depends
// on what lies on a machine.
//
// Thread-safety: every call from every thread; one HostFile: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "fs/host_watch.h"
#include "quipu/result.h"

namespace quipu::fs {

enum class HostKind : unsigned char { kFile, kDirectory, kLink, kOther };

/// One name in a directory, or what it names.
struct HostStat {
  HostKind kind = HostKind::kOther;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const HostStat&) const = default;
};

struct HostName {
  std::string name;
  HostKind kind = HostKind::kOther;
};

/// An open regular file.
class HostFile {
 public:
  virtual ~HostFile() = default;
  /// As it was when it was opened.
  virtual HostStat stat() const = 0;
  /// Fewer bytes only at the end of the file; 0 means end.
  virtual Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) = 0;
};

class HostFiles {
 public:
  virtual ~HostFiles() = default;

  /// Whether anything has this name; links are followed. What cannot be looked at
  /// is not there.
  virtual bool exists(const std::string& path) = 0;
  /// The first `bytes_max` bytes of a regular file; links are followed.
  virtual Result<std::string> read(const std::string& path, std::size_t bytes_max) = 0;

  /// What the name itself is: links are not followed.
  virtual Result<HostStat> stat(const std::string& path);
  /// Names in a directory, sorted, without "." and "..".
  virtual Result<std::vector<HostName>> list(const std::string& path);
  /// A regular file; a link, FIFO or device of that name is `invalid_argument`, and
  /// does not make us wait.
  virtual Result<std::unique_ptr<HostFile>> open(const std::string& path);

  /// Directories that hold work of all kinds: the root, the user's own, those for
  /// temporary files. Absolute paths.
  virtual std::vector<std::string> shared_places() = 0;

  /// Says from now on what changes. `unsupported` where nothing can.
  virtual Result<std::unique_ptr<HostWatch>> watch();

  /// What `make` makes of the text of a regular file that many ask for: made once, and
  /// again when the file has changed. Null when there is none, or nothing could ever be
  /// made of it. One path has one `make`.
  using Made = std::shared_ptr<const void>;
  virtual Made made_of(const std::string& path, std::size_t bytes_max,
                       const std::function<Made(std::string text)>& make);

  /// The machine's own. Lives for ever.
  static HostFiles& system();

 private:
  struct Kept {
    HostStat stat;
    Made made;
  };
  Mutex mutex_;
  std::map<std::string, Kept> kept_ GUARDED_BY(mutex_);
};

}  // namespace quipu::fs
