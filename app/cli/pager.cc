#include "cli/pager.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace quipu::cli {
namespace {

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? std::string_view("/usr/bin:/bin") : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string file = std::string(rest.substr(0, colon)) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return true;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return false;
}

// Whether the shell will find what a command begins with; yes for what only the shell can tell.
bool can_start(const std::string& command) {
  const std::string program = command.substr(0, command.find(' '));
  if (program.find_first_of("$`\"'\\;|&<>()=~*?[{") != std::string::npos) return true;
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  return on_path(program);
}

}  // namespace

std::string Pager::command() {
  for (const char* name : {"QUIPU_PAGER", "PAGER"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string command(value);
    return command == "cat" || !can_start(command) ? std::string() : command;
  }
  return on_path("less") ? "less -FRX" : std::string();
}

void Pager::start(Output& out) {
  const std::string command = Pager::command();
  if (command.empty() || !out.terminal().is_terminal) return;

  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  child_ = fork();
  if (child_ < 0) {
    close(ends[0]);
    close(ends[1]);
    return;
  }
  if (child_ == 0) {
    dup2(ends[0], STDIN_FILENO);
    // Colours as colours, and no screen of its own for what fits on one.
    setenv("LESS", "FRX", /*overwrite=*/0);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  // Keys belong to the pager now: Ctrl-C must not end us under it, and leaving
  // it early closes the pipe, which is no accident.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[0]);
  close(ends[1]);
  out.set_reader_may_leave();
  out_ = &out;
}

void Pager::finish() {
  if (out_ == nullptr) return;
  ignore(out_->flush(), "the caller flushes again and reports");
  // The pager sees the end of its input only when the last writer is gone. The
  // descriptor stays taken, so that no file of the store can become number 1.
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null >= 0) {
    dup2(null, STDOUT_FILENO);
    close(null);
  }
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  out_ = nullptr;
}

}  // namespace quipu::cli
