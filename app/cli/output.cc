#include "cli/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace quipu::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

// Returns an errno, 0 for success. Standard output may be non-blocking, since
// whoever shares it with us may have made it so.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {
      pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void Output::line(std::string_view safe) {
  put(safe);
  put("\n");
}

void Output::data_line(std::string_view data) {
  if (terminal_.is_terminal) {
    put(safe_text(data, terminal_.charset()));
  } else {
    put(data);
  }
  put("\n");
}

Result<void> Output::flush() {
  drain();
  if (error_ == 0 || (error_ == EPIPE && reader_may_leave_)) return {};
  const Code code = error_ == ENOSPC || error_ == EDQUOT ? Code::kNoSpace : Code::kIoError;
  return Error(code, std::string("cannot write to standard output: ") + std::strerror(error_))
      .with_hint("What was printed is not complete.");
}

void Output::put(std::string_view bytes) {
  if (error_ != 0) return;
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) drain();
}

void Output::drain() {
  if (error_ == 0) error_ = write_all(fd_, buffer_);
  buffer_.clear();
}

}  // namespace quipu::cli
