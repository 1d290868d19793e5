// What the system charges: one file, one write, one fdatasync.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace quipu::bench {

class RawLog {
 public:
  explicit RawLog(const std::filesystem::path& path);
  ~RawLog();
  RawLog(const RawLog&) = delete;
  RawLog& operator=(const RawLog&) = delete;

  void append(std::string_view bytes);
  void sync();
  std::uint64_t size() const;

 private:
  int file_;
};

/// The same among writers of other processes: a byte of a lock file is taken, the
/// name looked at, the bytes written, the byte freed. What these calls cost, no
/// store that takes them can be below.
class SharedRawLog {
 public:
  explicit SharedRawLog(const std::filesystem::path& path);
  ~SharedRawLog();
  SharedRawLog(const SharedRawLog&) = delete;
  SharedRawLog& operator=(const SharedRawLog&) = delete;

  void append(std::string_view bytes, bool sync);

 private:
  void lock(short type);

  RawLog log_;
  std::string name_;
  int directory_;
  int lock_file_;
  std::int64_t lock_byte_;
};

/// A whole file, read through a mapping.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view text() const { return {static_cast<const char*>(start_), size_}; }

 private:
  void* start_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace quipu::bench
