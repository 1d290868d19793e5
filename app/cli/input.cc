#include "cli/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "quipu/limits.h"

namespace quipu::cli {

Result<Input> Input::open(const std::string& file) {
  if (file == "-") return Input(STDIN_FILENO, "standard input");
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    ::close(fd);
    return Error(Code::kInvalidArgument, file + " is a directory")
        .with_hint("Name a file, or - for standard input.");
  }
  if (fd >= 0) return Input(fd, file);
  const Code code = errno == ENOENT   ? Code::kNotFound
                    : errno == EACCES ? Code::kNotAllowed
                                      : Code::kIoError;
  return Error(code, fmt::format("cannot open {}: {}", file, std::strerror(errno)))
      .with_hint("Name a file that can be read, or - for standard input.");
}

Input::Input(Input&& other) noexcept
    : fd_(std::exchange(other.fd_, STDIN_FILENO)), place_(std::move(other.place_)) {}

Input::~Input() {
  if (fd_ != STDIN_FILENO) close(fd_);
}

std::uint64_t Input::size() const {
  struct stat info {};
  const bool sized = fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
  return sized ? static_cast<std::uint64_t>(info.st_size) : 0;
}

Result<std::size_t> Input::read(char* into, std::size_t size) const {
  for (;;) {
    const ssize_t count = ::read(fd_, into, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EINTR) continue;
    return Error(Code::kIoError, fmt::format("cannot read {}: {}", place_, std::strerror(errno)));
  }
}

Result<std::string> Input::read_all(std::size_t bytes_max) const {
  std::string bytes;
  std::array<char, 16 << 10> piece;
  for (;;) {
    auto count = read(piece.data(), piece.size());
    if (!count) return std::move(count).error();
    if (*count == 0) return bytes;
    bytes.append(piece.data(), *count);
    if (bytes.size() > bytes_max) {
      return Error(Code::kTooLarge, fmt::format("{} is over {} bytes", place_, bytes_max));
    }
  }
}

void PendingBatch::add(std::string_view line, std::uint64_t number) {
  lines.emplace_back(line);
  views.push_back(lines.back());
  line_numbers.push_back(number);
  bytes += line.size();
}

Result<PendingBatch> read_batch(LineReader& reader, std::size_t lines_max) {
  PendingBatch batch;
  while (lines_max == 0 || batch.lines.size() < lines_max) {
    auto line = reader.next();
    if (!line) return std::move(line).error();
    if (!line->has_value()) break;
    const std::string_view text = **line;
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    // No more of it is read than what the library could take.
    if (batch.lines.size() == kBatchEntriesMax || batch.bytes + text.size() > kBatchBytesMax) {
      return Error(Code::kTooLarge,
                   fmt::format("{}: line {}: a batch may have at most {} entries and {} bytes",
                               reader.place(), reader.line_number(), kBatchEntriesMax,
                               kBatchBytesMax))
          .with_hint("`--batch N` stores N lines at a time.");
    }
    batch.add(text, reader.line_number());
  }
  return batch;
}

Error in_terms_of_lines(Error error, const std::string& place, const PendingBatch& batch,
                        std::size_t before) {
  constexpr std::string_view kEntry = "entry ";
  std::string_view rest = error.message();
  std::optional<std::size_t> position;
  if (rest.starts_with(kEntry)) {
    rest.remove_prefix(kEntry.size());
    const std::string_view word = rest.substr(0, rest.find_first_of(" :"));
    std::size_t number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool is_position =
        read.ptr == word.data() + word.size() && rest.starts_with(fmt::format("{}:", word));
    if (is_position && number > before && number - before <= batch.line_numbers.size()) {
      position = number - before - 1;
    }
    const auto& ids = error.entry_ids();
    const auto id = std::find(ids.begin(), ids.end(), word);
    const auto at = static_cast<std::size_t>(id - ids.begin());
    if (!position && id != ids.end() && at >= before) position = at - before;
  }
  const auto& numbers = batch.line_numbers;
  if (numbers.size() == 1) position = 0;
  if (position && *position < numbers.size()) {
    return std::move(error).in(fmt::format("{}: line {}", place, numbers[*position]));
  }
  return std::move(error).in(
      fmt::format("{}: lines {} to {}", place, numbers.front(), numbers.back()));
}

}  // namespace quipu::cli
