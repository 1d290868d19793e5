#include "fs/host_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "fs/fs.h"
#include "fs/inotify_watch.h"
#include "fs/posix_file.h"

namespace quipu::fs {
namespace {

HostKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return HostKind::kFile;
  if (S_ISDIR(mode)) return HostKind::kDirectory;
  if (S_ISLNK(mode)) return HostKind::kLink;
  return HostKind::kOther;
}

HostStat host_stat(const struct ::stat& raw) {
  HostStat stat;
  stat.kind = kind_of(raw.st_mode);
  stat.device = raw.st_dev;
  stat.inode = raw.st_ino;
  stat.size = static_cast<std::uint64_t>(raw.st_size);
  stat.modified_ns = raw.st_mtim.tv_sec * std::int64_t{1'000'000'000} + raw.st_mtim.tv_nsec;
  return stat;
}

class PosixHostFile final : public HostFile {
 public:
  PosixHostFile(Fd fd, const HostStat& stat, std::string path)
      : fd_(std::move(fd)), stat_(stat), path_(std::move(path)) {}

  HostStat stat() const override { return stat_; }

  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override {
    std::size_t size = 0;
    while (size < into.size()) {
      const ssize_t got = retry([&] {
        return ::pread(fd_.get(), into.data() + size, into.size() - size,
                       static_cast<off_t>(offset + size));
      });
      if (got < 0) return error_from_errno(errno, "read " + path_);
      size += static_cast<std::size_t>(got);
      // Less than was asked for, where the file ended: the end needs no call of its own. A file
      // that says it is empty may be one that does not know (/proc).
      const bool is_end = stat_.size != 0 && offset + size >= stat_.size;
      if (got == 0 || (size < into.size() && is_end)) break;
    }
    return size;
  }

 private:
  Fd fd_;
  HostStat stat_;
  std::string path_;
};

class PosixHostFiles final : public HostFiles {
 public:
  bool exists(const std::string& path) override {
    struct ::stat raw;
    return ::stat(path.c_str(), &raw) == 0;
  }

  Result<std::string> read(const std::string& path, std::size_t bytes_max) override {
    // O_NONBLOCK: a FIFO of that name must not stop us.
    const Fd fd(
        retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
    if (!fd.valid()) return error_from_errno(errno, "open " + path);
    struct ::stat raw;
    if (::fstat(fd.get(), &raw) != 0) return error_from_errno(errno, "stat " + path);
    if (!S_ISREG(raw.st_mode)) return Error(Code::kInvalidArgument, path + ": no regular file");
    std::string text(bytes_max, '\0');
    std::size_t size = 0;
    while (size < bytes_max) {
      const ssize_t got =
          retry([&] { return ::read(fd.get(), text.data() + size, bytes_max - size); });
      if (got < 0) return error_from_errno(errno, "read " + path);
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return text;
  }

  Result<HostStat> stat(const std::string& path) override {
    struct ::stat raw;
    if (::lstat(path.c_str(), &raw) != 0) return error_from_errno(errno, "stat " + path);
    return host_stat(raw);
  }

  Result<std::vector<HostName>> list(const std::string& path) override {
    struct Close {
      void operator()(DIR* open) const { ::closedir(open); }
    };
    const std::unique_ptr<DIR, Close> directory(::opendir(path.c_str()));
    if (directory == nullptr) return error_from_errno(errno, "list " + path);
    std::vector<HostName> names;
    for (errno = 0; const dirent* entry = ::readdir(directory.get()); errno = 0) {
      HostName name{.name = entry->d_name, .kind = HostKind::kOther};
      if (name.name == "." || name.name == "..") continue;
      name.kind = kind_of(static_cast<mode_t>(DTTOIF(entry->d_type)));
      if (entry->d_type == DT_UNKNOWN) {  // some file systems do not say
        if (const auto found = stat(path + "/" + name.name); found.ok()) name.kind = found->kind;
      }
      names.push_back(std::move(name));
    }
    if (errno != 0) return error_from_errno(errno, "list " + path);
    std::sort(names.begin(), names.end(),
              [](const HostName& a, const HostName& b) { return a.name < b.name; });
    return names;
  }

  Result<std::unique_ptr<HostFile>> open(const std::string& path) override {
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
    Fd fd(retry([&] { return ::open(path.c_str(), flags); }));
    if (!fd.valid()) {
      if (errno == ELOOP) return Error(Code::kInvalidArgument, path + ": a symbolic link");
      return error_from_errno(errno, "open " + path);
    }
    struct ::stat raw;
    if (::fstat(fd.get(), &raw) != 0) return error_from_errno(errno, "stat " + path);
    if (!S_ISREG(raw.st_mode)) return Error(Code::kInvalidArgument, path + ": no regular file");
    return std::unique_ptr<HostFile>(
        std::make_unique<PosixHostFile>(std::move(fd), host_stat(raw), path));
  }

  Result<std::unique_ptr<HostWatch>> watch() override { return watch_with_inotify(*this); }

  std::vector<std::string> shared_places() override {
    std::vector<std::string> places{"/", "/tmp", "/var/tmp"};
    for (const char* variable : {"HOME", "TMPDIR"}) {
      const char* place = std::getenv(variable);
      if (place != nullptr && *place == '/') places.emplace_back(place);
    }
    return places;
  }
};

}  // namespace

Result<HostStat> HostFiles::stat(const std::string& path) {
  return Error(Code::kNotFound, path + ": not there");
}
Result<std::vector<HostName>> HostFiles::list(const std::string& path) {
  return Error(Code::kNotFound, path + ": not there");
}
Result<std::unique_ptr<HostFile>> HostFiles::open(const std::string& path) {
  return Error(Code::kNotFound, path + ": not there");
}

HostFiles::Made HostFiles::made_of(const std::string& path, std::size_t bytes_max,
                                   const std::function<Made(std::string text)>& make) {
  const auto now = stat(path);
  if (!now.ok() || now->kind != HostKind::kFile || now->size > bytes_max) return nullptr;
  const MutexLock lock(mutex_);
  Kept& kept = kept_[path];
  if (kept.stat == *now) return kept.made;
  auto text = read(path, bytes_max);
  Made made = text.ok() ? make(std::move(*text)) : nullptr;
  // Somebody may be writing it: what it said before, until it says something again.
  if (made != nullptr) kept = {.stat = *now, .made = std::move(made)};
  return kept.made;
}

Result<std::unique_ptr<HostWatch>> HostFiles::watch() {
  return Error(Code::kUnsupported, "nothing says here what changes");
}

HostFiles& HostFiles::system() {
  static PosixHostFiles files;
  return files;
}

}  // namespace quipu::fs
