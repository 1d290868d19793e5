#include "fs/posix_directories.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/try.h"
#include "fs/fs.h"
#include "fs/path.h"

namespace quipu::fs {
namespace {

constexpr int kDirectoryFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

}  // namespace

Error path_error(int number, std::string_view call, std::string_view path) {
  std::string what = std::string(call) + ' ' + (path.empty() ? "." : std::string(path));
  if (number == ELOOP || number == EISDIR || number == ENOTDIR || number == EXDEV) {
    return Error(Code::kInvalidArgument,
                 std::move(what) + ": a link, or not the kind of file it should be");
  }
  return error_from_errno(number, what);
}

// An O_PATH descriptor of a directory below the root, or -1 with errno.
int PosixDirectories::resolve(const std::string& path) {
  if (openat2_.load(std::memory_order_relaxed)) {
    struct open_how how = {};
    how.flags = kDirectoryFlags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const long fd =
        retry([&] { return ::syscall(SYS_openat2, root_->get(), path.c_str(), &how, sizeof how); });
    // EPERM is how older sandboxes answer to system calls that they don't know.
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(fd);
    openat2_.store(false, std::memory_order_relaxed);
  }
  Fd current;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string name(rest.substr(0, slash));
    rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
    const int parent = current.valid() ? current.get() : root_->get();
    Fd next(retry([&] { return ::openat(parent, name.c_str(), kDirectoryFlags); }));
    if (!next.valid()) return -1;
    current = std::move(next);
  }
  return ::fcntl(current.get(), F_DUPFD_CLOEXEC, 0);
}

Result<Directory> PosixDirectories::open(std::string_view path) {
  TRY(check_directory(path));
  if (path.empty()) return root_;
  Fd fd(resolve(std::string(path)));
  if (!fd.valid()) return path_error(errno, "open directory", path);
  auto opened = std::make_shared<Fd>(std::move(fd));
  if (path.find('/') == std::string_view::npos) remember(path, opened);
  return opened;
}

Directory PosixDirectories::remembered(std::string_view name) {
  const MutexLock lock(mutex_);
  for (const Remembered& entry : remembered_) {
    if (entry.name == name) return entry.directory;
  }
  return nullptr;
}

void PosixDirectories::remember(std::string_view name, const Directory& directory) {
  constexpr std::size_t kMaxRemembered = 16;
  const MutexLock lock(mutex_);
  for (Remembered& entry : remembered_) {
    if (entry.name == name) {
      entry.directory = directory;
      return;
    }
  }
  if (remembered_.size() < kMaxRemembered) remembered_.push_back({std::string(name), directory});
}

}  // namespace quipu::fs
