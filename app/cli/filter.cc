#include "cli/filter.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "quipu/limits.h"

namespace quipu::cli {
namespace {

class Pipe {
 public:
  Pipe() { ok_ = ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  bool ok() const { return ok_; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_read() { close(ends_[0]); }
  void close_write() { close(ends_[1]); }

 private:
  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  std::array<int, 2> ends_{-1, -1};
  bool ok_ = false;
};

Error broken(std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("the command {}", what)};
}

// Feeds and drains at once: neither side may wait for the other for ever.
Result<std::string> exchange(Pipe& in, Pipe& out, std::string_view input) {
  std::string answer;
  ::fcntl(in.write_end(), F_SETFL, O_NONBLOCK);
  if (input.empty()) in.close_write();
  for (;;) {
    std::array<pollfd, 2> ends{{{out.read_end(), POLLIN, 0}, {in.write_end(), POLLOUT, 0}}};
    if (::poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) return broken("was lost");
    if (ends[1].revents != 0) {
      const ssize_t wrote = ::write(in.write_end(), input.data(), input.size());
      if (wrote > 0) input.remove_prefix(static_cast<std::size_t>(wrote));
      // It may stop reading whenever it has heard enough.
      const bool is_deaf = wrote < 0 && errno != EAGAIN && errno != EINTR;
      if (input.empty() || is_deaf) in.close_write();
    }
    if (ends[0].revents == 0) continue;
    std::array<char, 16384> buffer{};
    const ssize_t got = ::read(out.read_end(), buffer.data(), buffer.size());
    if (got == 0) return answer;
    if (got < 0 && errno != EINTR) return broken("was lost");
    if (got > 0) answer.append(buffer.data(), static_cast<std::size_t>(got));
    if (answer.size() > kLineBytesMax / 4) return broken("prints without end");
  }
}

}  // namespace

Result<std::string> run_filter(const std::string& command, std::string_view input) {
  Pipe in;
  Pipe out;
  if (!in.ok() || !out.ok()) return broken("cannot be given pipes");
  const pid_t child = ::fork();
  if (child < 0) return broken("cannot be started");
  if (child == 0) {
    ::dup2(in.read_end(), STDIN_FILENO);
    ::dup2(out.write_end(), STDOUT_FILENO);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  in.close_read();
  out.close_write();
  // A command that does not read to the end must not end us.
  struct sigaction ignore_it {};
  struct sigaction before {};
  ignore_it.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore_it, &before);
  auto answer = exchange(in, out, input);
  ::sigaction(SIGPIPE, &before, nullptr);
  if (!answer.ok()) ::kill(child, SIGTERM);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!answer.ok()) return answer;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return broken(WIFEXITED(status) ? fmt::format("failed with exit code {}", WEXITSTATUS(status))
                                    : "was killed");
  }
  return answer;
}

}  // namespace quipu::cli
