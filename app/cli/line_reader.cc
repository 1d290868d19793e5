#include "cli/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace quipu::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{128} << 10;

}  // namespace

LineReader::LineReader(int fd, std::string place, std::size_t line_bytes_max)
    : fd_(fd), place_(std::move(place)), line_bytes_max_(line_bytes_max) {}

Result<std::optional<std::string_view>> LineReader::next() {
  while (true) {
    const std::size_t feed = buffer_.find('\n', scanned_);
    const bool whole = feed != std::string::npos;
    const std::size_t end = whole ? feed : buffer_.size();
    // One byte more for a carriage return.
    if (end - begin_ > line_bytes_max_ + 1) {
      return Error(Code::kTooLarge, fmt::format("{}: line {} has more than {} bytes", place_,
                                                line_number_ + 1, line_bytes_max_));
    }
    if (whole || (at_end_ && end > begin_)) {
      std::string_view line(buffer_.data() + begin_, end - begin_);
      if (line.ends_with('\r')) line.remove_suffix(1);
      begin_ = scanned_ = whole ? end + 1 : end;
      ++line_number_;
      return std::optional(line);
    }
    if (at_end_) return std::optional<std::string_view>();
    scanned_ = end;
    auto more = fill();
    if (!more) return std::move(more).error();
    at_end_ = !*more;
  }
}

Result<bool> LineReader::fill() {
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const std::size_t held = buffer_.size();
  buffer_.resize(held + kReadBytes);
  ssize_t got = 0;
  while ((got = read(fd_, buffer_.data() + held, kReadBytes)) < 0) {
    if (errno == EAGAIN) {
      pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      const Error error(Code::kIoError,
                        fmt::format("cannot read {}: {}", place_, std::strerror(errno)));
      buffer_.resize(held);
      return error;
    }
  }
  buffer_.resize(held + static_cast<std::size_t>(got));
  bytes_read_ += static_cast<std::uint64_t>(got);
  return got > 0;
}

}  // namespace quipu::cli
