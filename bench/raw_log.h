// What the system charges: one file, one write, one fdatasync.
#pragma once

#include <cstdint>
#include <filesystem>
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
