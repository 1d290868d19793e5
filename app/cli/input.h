// Files and standard input: bytes, and batches of lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/line_reader.h"
#include "quipu/result.h"

namespace quipu::cli {

/// The input, closed at the end unless it is standard input.
class Input {
 public:
  /// "-" is standard input.
  static Result<Input> open(const std::string& file);
  Input(Input&& other) noexcept;
  Input& operator=(Input&&) = delete;
  ~Input();

  int fd() const { return fd_; }
  /// 0 for what has no size.
  std::uint64_t size() const;
  /// How errors call it.
  const std::string& place() const { return place_; }
  /// Up to `size` bytes; 0 at the end.
  Result<std::size_t> read(char* into, std::size_t size) const;
  /// All of it; `too_large` beyond `bytes_max`.
  Result<std::string> read_all(std::size_t bytes_max) const;

 private:
  Input(int fd, std::string place) : fd_(fd), place_(std::move(place)) {}
  int fd_;
  std::string place_;
};

struct PendingBatch {
  std::deque<std::string> lines;  // a deque: the views below stay valid
  std::vector<std::string_view> views;
  std::vector<std::uint64_t> line_numbers;
  std::size_t bytes = 0;

  void add(std::string_view line, std::uint64_t number);
};

/// Reads one batch of at most `lines_max` lines (0: all), blank ones left out;
/// empty at the end of the input.
Result<PendingBatch> read_batch(LineReader& reader, std::size_t lines_max);

/// The library speaks of "entry 3: ..." or "entry ID ..."; whoever looks into the
/// input wants the line. `before`: entries of the append that were not in the
/// input.
Error in_terms_of_lines(Error error, const std::string& place, const PendingBatch& batch,
                        std::size_t before = 0);

}  // namespace quipu::cli
