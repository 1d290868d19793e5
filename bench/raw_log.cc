#include "raw_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "measure.h"

namespace quipu::bench {

RawLog::RawLog(const std::filesystem::path& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  check(file_ >= 0, "cannot open " + path.string());
}

RawLog::~RawLog() { ::close(file_); }

void RawLog::append(std::string_view bytes) {
  const ssize_t written = ::write(file_, bytes.data(), bytes.size());
  check(written == static_cast<ssize_t>(bytes.size()), "a raw write was cut short");
}

void RawLog::sync() { check(::fdatasync(file_) == 0, "a raw sync failed"); }

std::uint64_t RawLog::size() const {
  struct stat facts = {};
  check(::fstat(file_, &facts) == 0, "cannot look at a raw file");
  return static_cast<std::uint64_t>(facts.st_size);
}

SharedRawLog::SharedRawLog(const std::filesystem::path& path)
    : log_(path),
      name_(path.filename().string()),
      directory_(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      lock_file_(
          ::open((path.parent_path() / "raw.lck").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)),
      lock_byte_(static_cast<std::int64_t>(std::hash<std::string>()(name_) >> 2)) {
  check(directory_ >= 0 && lock_file_ >= 0, "cannot open the lock of " + path.string());
}

SharedRawLog::~SharedRawLog() {
  ::close(lock_file_);
  ::close(directory_);
}

void SharedRawLog::append(std::string_view bytes, bool sync) {
  lock(F_WRLCK);
  struct statx facts = {};
  check(
      ::statx(directory_, name_.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_SIZE, &facts) == 0,
      "cannot look at a raw file");
  log_.append(bytes);
  if (sync) log_.sync();
  lock(F_UNLCK);
}

void SharedRawLog::lock(short type) {
  struct flock byte = {};
  byte.l_type = type;
  byte.l_whence = SEEK_SET;
  byte.l_start = lock_byte_;
  byte.l_len = 1;
  check(::fcntl(lock_file_, F_OFD_SETLK, &byte) == 0, "cannot lock a raw file");
}

MappedFile::MappedFile(const std::filesystem::path& path)
    : size_(std::filesystem::file_size(path)) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check(file >= 0, "cannot open " + path.string());
  start_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  check(start_ != MAP_FAILED, "cannot map " + path.string());
}

MappedFile::~MappedFile() { ::munmap(start_, size_); }

}  // namespace quipu::bench
