// LineWindow: the part of a file of lines that is being read.
//
// What is read is given out from the front. A file is looked at before it is read, to see
// whose it is (`peek`): what was read for that is not read again, unless it is very much or
// reading begins further on.
//
// Memory: what is not yet given out, and what is read at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "dialect/fields.h"
#include "dialect/reader.h"

namespace quipu::dialect {

class LineWindow {
 public:
  LineWindow(std::unique_ptr<fs::HostFile> file, ReadPosition from)
      : file_(std::move(file)), begin_(from.offset), offset_(from.offset) {}

  /// The lines at the beginning of the file that are JSON objects, at most `bytes_max` bytes:
  /// calls `see` with each until it answers false. Before anything else is read.
  Result<void> peek(std::size_t bytes_max, const std::function<bool(const Fields&)>& see);

  /// Where reading begins.
  std::uint64_t begin() const { return begin_; }
  /// What is read and not yet given out. Valid until the next `fill`.
  std::string_view rest() const { return {buffer_.get() + from_, to_ - from_}; }
  /// So many bytes of it are given out.
  void take(std::size_t bytes) { from_ += bytes; }
  /// Reads on; what was given out is forgotten. 0 at the end of the file.
  Result<std::size_t> fill();
  /// So many bytes before this place of the file, if they are still here; else nothing.
  std::string_view before(std::uint64_t offset, std::size_t bytes) const;

 private:
  std::size_t first_chunk() const;
  void go_to_begin();

  std::unique_ptr<fs::HostFile> file_;
  std::uint64_t begin_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t from_ = 0;   // of what is not yet given out
  std::size_t to_ = 0;     // of what is read
  std::size_t chunk_ = 0;  // to be read next; 0: nothing was read yet
  bool at_end_ = false;
  std::uint64_t offset_;  // of the end of the buffer in the file
};

/// Room for the members of most records.
inline constexpr std::size_t kUsualMembers = 32;

/// The object that a text begins with, if there is more behind it; else empty.
std::string_view first_object(std::string_view text);

}  // namespace quipu::dialect
