#include "fs/posix_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/try.h"

namespace quipu::fs {
namespace {

constexpr std::uint64_t kMapAlignment = 4096;

bool fits_offset(std::uint64_t value) {
  return value <= static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
}

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

struct flock one_byte(short type, std::uint64_t byte) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}

}  // namespace

Fd::~Fd() {
  // Never repeated: after EINTR Linux has closed the descriptor all the same.
  if (number_ >= 0) ::close(number_);
}

Stat to_stat(const struct ::stat& raw) {
  Stat stat;
  stat.identity = {raw.st_dev, raw.st_ino};
  stat.size = static_cast<std::uint64_t>(raw.st_size);
  stat.modified_ms = std::int64_t{raw.st_mtim.tv_sec} * 1000 + raw.st_mtim.tv_nsec / 1'000'000;
  return stat;
}

PosixFile::PosixFile(Fd fd, std::string path, Access access)
    : fd_(std::move(fd)), path_(std::move(path)), access_(access) {}

PosixFile::~PosixFile() {
  if (temporary_.directory != nullptr) {
    ::unlinkat(temporary_.directory->get(), temporary_.name.c_str(), 0);
  }
}

Error PosixFile::error(std::string_view call) const {
  return error_from_errno(errno, std::string(call) + ' ' + path_);
}

Error PosixFile::wrong_mode(std::string_view call) const {
  return Error(Code::kInvalidArgument, std::string(call) + ' ' + path_ + ": not opened for this");
}

Result<std::size_t> PosixFile::read_at(std::span<char> into, std::uint64_t offset) {
  if (!fits_offset(offset)) return std::size_t{0};
  const ssize_t got = retry(
      [&] { return ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset)); });
  if (got < 0) return error("read");
  return static_cast<std::size_t>(got);
}

Result<std::size_t> PosixFile::append(std::string_view bytes) {
  if (access_ != Access::kAppend) return wrong_mode("append");
  const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno == EINTR) return std::size_t{0};
  return error("write");
}

// A file opened with O_APPEND has its position behind what it wrote.
Result<std::uint64_t> PosixFile::append_end() {
  const off_t end = ::lseek(fd_.get(), 0, SEEK_CUR);
  if (end < 0) return error("lseek");
  return static_cast<std::uint64_t>(end);
}

Result<std::size_t> PosixFile::write_at(std::string_view bytes, std::uint64_t offset) {
  // With O_APPEND, Linux ignores the offset of pwrite and appends.
  if (access_ != Access::kWrite) return wrong_mode("write_at");
  if (!fits_offset(offset)) return error_from_errno(EFBIG, "write " + path_);
  const ssize_t written =
      ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno == EINTR) return std::size_t{0};
  return error("write");
}

Result<void> PosixFile::truncate(std::uint64_t size) {
  if (access_ == Access::kRead) return wrong_mode("truncate");
  if (!fits_offset(size)) return error_from_errno(EFBIG, "truncate " + path_);
  if (retry([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) != 0) {
    return error("truncate");
  }
  return {};
}

Result<void> PosixFile::allocate(std::uint64_t offset, std::uint64_t size) {
  if (access_ == Access::kRead) return wrong_mode("allocate");
  if (size == 0) return {};
  if (!fits_offset(offset) || !fits_offset(size) || !fits_offset(offset + size)) {
    return error_from_errno(EFBIG, "allocate " + path_);
  }
  if (retry([&] {
        return ::fallocate(fd_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(size));
      }) == 0) {
    return {};
  }
  if (errno != EOPNOTSUPP && errno != ENOSYS) return error("allocate");
  return write_zeros(offset + size);
}

// Only beyond the end: rewriting bytes that are there could undo a store that
// somebody makes through a mapping at the same time.
Result<void> PosixFile::write_zeros(std::uint64_t end) {
  static constexpr std::array<char, 16384> kZeros = {};
  TRY_ASSIGN(const Stat before, stat());
  for (std::uint64_t at = before.size; at < end;) {
    const std::size_t length =
        static_cast<std::size_t>(std::min<std::uint64_t>(kZeros.size(), end - at));
    const ssize_t written =
        retry([&] { return ::pwrite(fd_.get(), kZeros.data(), length, static_cast<off_t>(at)); });
    if (written < 0) return error("allocate");
    at += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> PosixFile::sync() {
  if (retry([&] { return ::fdatasync(fd_.get()); }) != 0) return error("fdatasync");
  return {};
}

Result<Stat> PosixFile::stat() {
  struct ::stat raw;
  if (::fstat(fd_.get(), &raw) != 0) return error("stat");
  return to_stat(raw);
}

Result<Mapping> PosixFile::map(std::uint64_t offset, std::size_t size, MapMode mode) {
  if (mode == MapMode::kShared && access_ == Access::kRead) return wrong_mode("map");
  if (offset % kMapAlignment != 0 || !fits_offset(offset)) {
    return Error(Code::kInvalidArgument, "map " + path_ + ": offset not a multiple of 4096");
  }
  if (size == 0) return Mapping();
  // Pages may be larger than our unit of alignment; map from the page's start.
  const auto before = static_cast<std::size_t>(offset % page_size());
  const std::size_t length = before + size;
  if (length < size) return error_from_errno(ENOMEM, "map " + path_);
  const int protection = mode == MapMode::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  const int flags = mode == MapMode::kPrivate ? MAP_PRIVATE : MAP_SHARED;
  void* const start =
      ::mmap(nullptr, length, protection, flags, fd_.get(), static_cast<off_t>(offset - before));
  if (start == MAP_FAILED) return error("map");
  std::shared_ptr<void> owner(start, [length](void* mapped) { ::munmap(mapped, length); });
  return Mapping(static_cast<std::byte*>(start) + before, size, std::move(owner));
}

Result<bool> PosixFile::try_lock(std::uint64_t byte) {
  if (access_ == Access::kRead) return wrong_mode("lock");
  if (!fits_offset(byte)) return error_from_errno(EINVAL, "lock " + path_);
  struct flock lock = one_byte(F_WRLCK, byte);
  if (retry([&] { return ::fcntl(fd_.get(), F_OFD_SETLK, &lock); }) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return error("lock");
}

Result<void> PosixFile::unlock(std::uint64_t byte) {
  if (!fits_offset(byte)) return error_from_errno(EINVAL, "unlock " + path_);
  struct flock lock = one_byte(F_UNLCK, byte);
  if (retry([&] { return ::fcntl(fd_.get(), F_OFD_SETLK, &lock); }) != 0) return error("unlock");
  return {};
}

}  // namespace quipu::fs
