// The parts of PosixFs that are about one descriptor. Internal to src/fs.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "fs/fs.h"

namespace quipu::fs {

inline constexpr mode_t kFileMode = 0600;
inline constexpr mode_t kDirectoryMode = 0700;

/// An owned descriptor, -1 for none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Fd();

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// Repeats a system call while it is interrupted.
template <class SystemCall>
auto retry(SystemCall call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

Stat to_stat(const struct ::stat& raw);

/// A name that stands in for O_TMPFILE until the file gets its own.
struct TemporaryName {
  std::shared_ptr<Fd> directory;
  std::string name;
};

class PosixFile final : public File {
 public:
  enum class Access { kRead, kAppend, kWrite };

  PosixFile(Fd fd, std::string path, Access access);
  ~PosixFile() override;
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override;
  Result<std::size_t> append(std::string_view bytes) override;
  Result<std::uint64_t> append_end() override;
  Result<std::size_t> write_at(std::string_view bytes, std::uint64_t offset) override;
  Result<void> truncate(std::uint64_t size) override;
  Result<void> allocate(std::uint64_t offset, std::uint64_t size) override;
  Result<void> sync() override;
  Result<Stat> stat() override;
  Result<Mapping> map(std::uint64_t offset, std::size_t size, MapMode mode) override;
  Result<bool> try_lock(std::uint64_t byte) override;
  Result<void> unlock(std::uint64_t byte) override;

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  void set_path(std::string path) { path_ = std::move(path); }
  /// Empty for files that never had one, or have their own name by now.
  TemporaryName& temporary() { return temporary_; }

 private:
  Error error(std::string_view call) const;
  Result<void> write_zeros(std::uint64_t end);
  Error wrong_mode(std::string_view call) const;

  Fd fd_;
  std::string path_;  // for messages
  Access access_;
  TemporaryName temporary_;
};

}  // namespace quipu::fs
