#include "fs/posix_fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/try.h"
#include "fs/path.h"
#include "fs/posix_directories.h"
#include "fs/posix_file.h"
#include "fs/rooted_watch.h"

namespace quipu::fs {
namespace {

constexpr int kTries = 100;

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (retry([&] { return ::getrandom(&number, sizeof number, 0); }) != sizeof number) {
    // Not secret, only unlikely to meet itself: names are made with O_EXCL.
    struct timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    number = static_cast<std::uint64_t>(now.tv_nsec) << 32 ^
             static_cast<std::uint64_t>(now.tv_sec) ^ static_cast<std::uint64_t>(::getpid());
  }
  return number;
}

// Without a boot id nobody may believe that the page cache is still the same:
// a number that no other process has makes every comparison fail.
std::uint64_t read_boot_id() {
  std::array<char, 64> text;
  const Fd fd(
      retry([] { return ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC); }));
  const ssize_t got =
      fd.valid() ? retry([&] { return ::read(fd.get(), text.data(), text.size()); }) : -1;
  std::uint64_t hash = got > 0 ? 0xcbf29ce484222325u : random_number();
  for (ssize_t i = 0; i < got; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[static_cast<std::size_t>(i)])) * 0x100000001b3u;
  }
  return hash != 0 ? hash : 1;
}

std::string temporary_name() {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), ".tmp-%016llx",
                static_cast<unsigned long long>(random_number()));
  return text.data();
}

Error not_regular(std::string_view path) {
  return Error(Code::kInvalidArgument, "open " + std::string(path) + ": not a regular file");
}

class PosixFsImpl final : public Fs {
 public:
  PosixFsImpl(Fd root, PosixFeatures features)
      : directories_(std::move(root), features.openat2),
        boot_id_(read_boot_id()),
        features_(features) {}

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<std::unique_ptr<File>> create_unnamed(const std::string& directory) override;
  Result<void> link(File& file, const std::string& path) override;
  Result<std::vector<std::size_t>> link_all(const std::string& directory,
                                            std::span<const Naming> names) override;
  Result<void> link(const std::string& existing, const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> make_dir(const std::string& path) override;
  Result<void> sync_dir(const std::string& path) override;
  Result<void> sync_files(std::span<const std::unique_ptr<File>> files) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<Stat> stat(const std::string& path) override;
  Result<Stat> stat_size(const std::string& path) override;
  Result<std::unique_ptr<HostWatch>> watch() override {
    // By the directory that is open, whatever it is called now.
    return watch_below("/proc/self/fd/" + std::to_string(directories_.root()->get()));
  }
  std::uint64_t boot_id() const override { return boot_id_; }

 private:
  struct Place {  // a directory and a name in it
    Directory directory;
    const char* name;
  };
  static bool is_regular(const Place& at);
  Result<Place> place(const std::string& path);
  Result<Fd> open_for_reading(const std::string& path);
  Result<void> link(File& file, const Place& to, const std::string& path);
  Result<void> link_temporary(PosixFile& file, const Place& to, const std::string& path);

  PosixDirectories directories_;
  const std::uint64_t boot_id_;
  const PosixFeatures features_;
};

Result<PosixFsImpl::Place> PosixFsImpl::place(const std::string& path) {
  TRY(check_path(path));
  const SplitPath split = split_path(path);
  TRY_ASSIGN(Directory parent, directories_.open(split.directory));
  return Place{std::move(parent), split.name.data()};
}

bool PosixFsImpl::is_regular(const Place& at) {
  struct ::stat raw;
  return ::fstatat(at.directory->get(), at.name, &raw, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(raw.st_mode);
}

// Why there is nothing to open where no regular file is.
Error open_error(int number, const std::string& path) {
  const bool other_kind = number == ELOOP || number == EISDIR || number == ENXIO;
  return other_kind ? not_regular(path) : path_error(number, "open", path);
}

Result<std::unique_ptr<File>> PosixFsImpl::open(const std::string& path, OpenMode mode) {
  TRY_ASSIGN(const Place at, place(path));
  // O_NONBLOCK: a FIFO without a peer must not stop us; regular files ignore it.
  int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  flags |= mode == OpenMode::kRead ? O_RDONLY : O_RDWR;
  const bool appends = mode == OpenMode::kAppend || mode == OpenMode::kCreateNew;
  if (appends) flags |= O_APPEND;

  const auto try_open = [&](int more) {
    return retry([&] { return ::openat(at.directory->get(), at.name, flags | more, kFileMode); });
  };
  bool created = mode == OpenMode::kCreateNew;
  Fd fd(try_open(created ? O_CREAT | O_EXCL : 0));
  // Creation is always exclusive, so that we know whose permissions to set.
  for (int i = 0; !fd.valid() && errno == ENOENT && mode == OpenMode::kCreate && i < kTries; ++i) {
    fd = Fd(try_open(O_CREAT | O_EXCL));
    created = fd.valid();
    if (!created && errno == EEXIST) fd = Fd(try_open(0));
  }
  if (!fd.valid()) {
    const int number = errno;
    return is_regular(at) ? path_error(number, "open", path) : open_error(number, path);
  }
  struct ::stat raw;
  if (::fstat(fd.get(), &raw) != 0) return path_error(errno, "stat", path);
  if (!S_ISREG(raw.st_mode)) return not_regular(path);
  if (created && (raw.st_mode & 07777) != kFileMode && ::fchmod(fd.get(), kFileMode) != 0) {
    return path_error(errno, "chmod", path);
  }
  const auto access = mode == OpenMode::kRead ? PosixFile::Access::kRead
                      : appends               ? PosixFile::Access::kAppend
                                              : PosixFile::Access::kWrite;
  return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(fd), path, access));
}

Result<std::unique_ptr<File>> PosixFsImpl::create_unnamed(const std::string& directory_path) {
  // Where the directory is now is asked when the file gets its name: until then all that
  // counts is the file system.
  Directory parent = directories_.remembered(directory_path);
  if (parent == nullptr) {
    TRY_ASSIGN(parent, directories_.open(directory_path));
  }
  const std::string label = directory_path + "/(unnamed)";
  constexpr int kFlags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  TemporaryName temporary;
  Fd fd;
  if (features_.tmpfile) {
    fd = Fd(retry([&] { return ::openat(parent->get(), ".", kFlags | O_TMPFILE, kFileMode); }));
    // Kernels without O_TMPFILE take it for opening a directory: EISDIR.
    if (!fd.valid() && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
      return path_error(errno, "create", label);
    }
  }
  for (int i = 0; !fd.valid() && i < kTries; ++i) {
    temporary.name = temporary_name();
    fd = Fd(retry([&] {
      return ::openat(parent->get(), temporary.name.c_str(), kFlags | O_CREAT | O_EXCL, kFileMode);
    }));
    if (fd.valid()) temporary.directory = parent;
    if (!fd.valid() && errno != EEXIST) break;
  }
  if (!fd.valid()) return path_error(errno, "create", label);
  struct ::stat raw;
  const bool stated = ::fstat(fd.get(), &raw) == 0;
  const int number = errno;
  const int raw_fd = fd.get();
  auto file = std::make_unique<PosixFile>(std::move(fd), label, PosixFile::Access::kAppend);
  file->temporary() = std::move(temporary);
  if (!stated) return path_error(number, "stat", label);
  if ((raw.st_mode & 07777) != kFileMode && ::fchmod(raw_fd, kFileMode) != 0) {
    return path_error(errno, "chmod", label);
  }
  return std::unique_ptr<File>(std::move(file));
}

Result<void> PosixFsImpl::link_temporary(PosixFile& file, const Place& to,
                                         const std::string& path) {
  const TemporaryName from = file.temporary();
  if (features_.noreplace) {
    const long done = retry([&] {
      return ::syscall(SYS_renameat2, from.directory->get(), from.name.c_str(), to.directory->get(),
                       to.name, RENAME_NOREPLACE);
    });
    if (done == 0) {
      file.temporary() = {};
      return {};
    }
    if (errno != ENOSYS && errno != EINVAL && errno != EPERM) {
      return path_error(errno, "link", path);
    }
  }
  if (retry([&] {
        return ::linkat(from.directory->get(), from.name.c_str(), to.directory->get(), to.name, 0);
      }) != 0) {
    return path_error(errno, "link", path);
  }
  // The file has its name; a dot-name that stays behind is litter, not an error.
  ::unlinkat(from.directory->get(), from.name.c_str(), 0);
  file.temporary() = {};
  return {};
}

Result<void> PosixFsImpl::link(File& file, const std::string& path) {
  TRY_ASSIGN(const Place to, place(path));
  return link(file, to, path);
}

Result<std::vector<std::size_t>> PosixFsImpl::link_all(const std::string& directory_path,
                                                       std::span<const Naming> names) {
  TRY_ASSIGN(const Directory directory, directories_.open(directory_path));
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& [file, name] = names[i];
    const std::string path = directory_path + "/" + name;
    TRY(check_path(path));
    const auto linked = link(*file, {.directory = directory, .name = name.c_str()}, path);
    if (linked.ok()) continue;
    if (linked.error().code() != Code::kIdConflict) return linked.error();
    taken.push_back(i);
  }
  return taken;
}

Result<void> PosixFsImpl::link(File& file, const Place& to, const std::string& path) {
  auto* const posix = dynamic_cast<PosixFile*>(&file);
  if (posix == nullptr) {
    return Error(Code::kInvalidArgument, "link " + path + ": a file of another file system");
  }
  if (posix->temporary().directory != nullptr) {
    TRY(link_temporary(*posix, to, path));
    posix->set_path(path);
    return {};
  }
  int done =
      retry([&] { return ::linkat(posix->fd(), "", to.directory->get(), to.name, AT_EMPTY_PATH); });
  // That needs a privilege before Linux 6.10, and says ENOENT without. The way through
  // /proc needs none, but is longer.
  if (done != 0 && errno == ENOENT) {
    std::array<char, 40> proc;
    std::snprintf(proc.data(), proc.size(), "/proc/self/fd/%d", posix->fd());
    done = retry([&] {
      return ::linkat(AT_FDCWD, proc.data(), to.directory->get(), to.name, AT_SYMLINK_FOLLOW);
    });
  }
  if (done != 0) return path_error(errno, "link", path);
  posix->set_path(path);
  return {};
}

Result<void> PosixFsImpl::link(const std::string& existing, const std::string& path) {
  TRY_ASSIGN(const Place from, place(existing));
  TRY_ASSIGN(const Place to, place(path));
  struct ::stat raw;
  if (::fstatat(from.directory->get(), from.name, &raw, AT_SYMLINK_NOFOLLOW) != 0) {
    return path_error(errno, "link", existing);
  }
  if (!S_ISREG(raw.st_mode)) return not_regular(existing);
  if (retry([&] {
        return ::linkat(from.directory->get(), from.name, to.directory->get(), to.name, 0);
      }) != 0) {
    return path_error(errno, "link", path);
  }
  return {};
}

Result<void> PosixFsImpl::rename(const std::string& from, const std::string& to) {
  TRY_ASSIGN(const Place source, place(from));
  TRY_ASSIGN(const Place target, place(to));
  if (retry([&] {
        return ::renameat(source.directory->get(), source.name, target.directory->get(),
                          target.name);
      }) != 0) {
    return path_error(errno, "rename", from + " to " + to);
  }
  return {};
}

Result<void> PosixFsImpl::remove(const std::string& path) {
  TRY_ASSIGN(const Place at, place(path));
  if (retry([&] { return ::unlinkat(at.directory->get(), at.name, 0); }) != 0) {
    return path_error(errno, "remove", path);
  }
  return {};
}

Result<void> PosixFsImpl::make_dir(const std::string& path) {
  TRY_ASSIGN(const Place at, place(path));
  const int parent = at.directory->get();
  const bool created = retry([&] { return ::mkdirat(parent, at.name, kDirectoryMode); }) == 0;
  if (!created && errno != EEXIST) return path_error(errno, "make directory", path);
  struct ::stat raw;
  if (::fstatat(parent, at.name, &raw, AT_SYMLINK_NOFOLLOW) != 0) {
    return path_error(errno, "make directory", path);
  }
  if (!S_ISDIR(raw.st_mode)) return path_error(ENOTDIR, "make directory", path);
  if (created && (raw.st_mode & 0777) != kDirectoryMode &&
      ::fchmodat(parent, at.name, kDirectoryMode, AT_SYMLINK_NOFOLLOW) != 0) {
    return path_error(errno, "make directory", path);
  }
  return {};
}

Result<Fd> PosixFsImpl::open_for_reading(const std::string& path) {
  TRY_ASSIGN(const Directory at, directories_.open(path));
  Fd fd(retry([&] { return ::openat(at->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd.valid()) return path_error(errno, "open directory", path);
  return fd;
}

Result<void> PosixFsImpl::sync_dir(const std::string& path) {
  TRY_ASSIGN(const Fd fd, open_for_reading(path));
  if (retry([&] { return ::fsync(fd.get()); }) != 0) return path_error(errno, "fsync", path);
  return {};
}

// One flush of the whole file system costs about as much as that of one file. Asked
// for through the file that was opened first: what failed to be written since then
// is reported to it.
Result<void> PosixFsImpl::sync_files(std::span<const std::unique_ptr<File>> files) {
  const auto* const first =
      files.size() > 1 ? dynamic_cast<const PosixFile*>(files.front().get()) : nullptr;
  if (first == nullptr) return Fs::sync_files(files);
  if (retry([&] { return ::syncfs(first->fd()); }) != 0) {
    return path_error(errno, "syncfs", first->path());
  }
  return {};
}

Result<std::vector<std::string>> PosixFsImpl::list(const std::string& path) {
  TRY_ASSIGN(Fd fd, open_for_reading(path));
  const int own = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);  // closedir closes this one
  DIR* const stream = own >= 0 ? ::fdopendir(own) : nullptr;
  if (stream == nullptr) {
    const int number = errno;
    if (own >= 0) ::close(own);
    return path_error(number, "list", path);
  }
  std::vector<std::string> names;
  int number = 0;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream);
    if (entry == nullptr) {
      number = errno;
      break;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  if (number != 0) return path_error(number, "list", path);
  return names;
}

Result<Stat> PosixFsImpl::stat(const std::string& path) {
  TRY(check_directory(path));
  struct ::stat raw;
  if (path.empty()) {
    if (::fstat(directories_.root()->get(), &raw) != 0) return path_error(errno, "stat", path);
    return to_stat(raw);
  }
  // For every session of a list, hence the cache.
  const SplitPath split = split_path(path);
  if (const Directory known = directories_.remembered(split.directory); known != nullptr) {
    if (::fstatat(known->get(), split.name.data(), &raw, AT_SYMLINK_NOFOLLOW) == 0) {
      return to_stat(raw);
    }
    // Perhaps the directory itself was replaced: look again below.
  }
  TRY_ASSIGN(const Place at, place(path));
  if (::fstatat(at.directory->get(), at.name, &raw, AT_SYMLINK_NOFOLLOW) != 0) {
    return path_error(errno, "stat", path);
  }
  return to_stat(raw);
}

Result<Stat> PosixFsImpl::stat_size(const std::string& path) {
  TRY(check_directory(path));
  // On the way of every append, hence the cache.
  const SplitPath split = split_path(path);
  if (const Directory known = directories_.remembered(split.directory); known != nullptr) {
    struct ::statx raw = {};
    if (::statx(known->get(), split.name.data(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_SIZE,
                &raw) == 0) {
      return Stat{.identity = {::makedev(raw.stx_dev_major, raw.stx_dev_minor), raw.stx_ino},
                  .size = raw.stx_size};
    }
  }
  return stat(path);
}

// Makes one directory and both its inode and its name durable.
Result<void> make_one(const std::string& path) {
  if (::mkdir(path.c_str(), kDirectoryMode) != 0) {
    if (errno == EEXIST) return {};
    return path_error(errno, "make directory", path);
  }
  if (::chmod(path.c_str(), kDirectoryMode) != 0) {
    return path_error(errno, "make directory", path);
  }
  for (const std::string& which : {path, path + "/.."}) {
    const Fd fd(retry([&] { return ::open(which.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!fd.valid() || retry([&] { return ::fsync(fd.get()); }) != 0) {
      return path_error(errno, "fsync", which);
    }
  }
  return {};
}

Error bad_root(const std::string& path) {
  return Error(Code::kInvalidArgument, "not a usable directory path: \"" + path + '"');
}

bool names_something(const std::string& path) {
  return !path.empty() && path.find('\0') == std::string::npos;
}

}  // namespace

Result<std::unique_ptr<Fs>> PosixFs::open(const std::string& root_directory,
                                          PosixFeatures features) {
  if (!names_something(root_directory)) return bad_root(root_directory);
  Fd root(retry([&] { return ::open(root_directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
  if (!root.valid()) {
    if (errno == ENOTDIR) {
      return Error(Code::kInvalidArgument, root_directory + ": not a directory");
    }
    return path_error(errno, "open", root_directory);
  }
  return std::unique_ptr<Fs>(std::make_unique<PosixFsImpl>(std::move(root), features));
}

Result<void> PosixFs::make_root(const std::string& path) {
  if (!names_something(path)) return bad_root(path);
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    TRY(make_one(path.substr(0, slash)));
  }
  TRY(make_one(path));
  struct ::stat raw;
  if (::stat(path.c_str(), &raw) != 0) return path_error(errno, "make directory", path);
  if (!S_ISDIR(raw.st_mode)) return Error(Code::kInvalidArgument, path + ": not a directory");
  return {};
}

}  // namespace quipu::fs
