// Lines of a file or pipe, as they arrive and in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "quipu/result.h"

namespace quipu::cli {

class LineReader {
 public:
  /// Does not own `fd`. `place` names the input in errors.
  LineReader(int fd, std::string place, std::size_t line_bytes_max);

  /// The next line without its line feed (and carriage return), or nothing at
  /// the end of the input. Valid until the next call. Never reads on while a
  /// whole line is at hand. `too_large` for a line over the limit, as soon as
  /// the limit is passed.
  Result<std::optional<std::string_view>> next();

  /// Of the line last returned, from 1.
  std::uint64_t line_number() const { return line_number_; }
  std::uint64_t bytes_read() const { return bytes_read_; }
  const std::string& place() const { return place_; }

 private:
  /// False at the end of the input.
  Result<bool> fill();

  int fd_;
  std::string place_;
  std::size_t line_bytes_max_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of what was not returned yet
  std::size_t scanned_ = 0;  // no line feed before this
  std::uint64_t line_number_ = 0;
  std::uint64_t bytes_read_ = 0;
  bool at_end_ = false;
};

}  // namespace quipu::cli
