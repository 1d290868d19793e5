#include "cli/hand_over.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/sanitize.h"
#include "cli/stop_signal.h"

namespace quipu::cli {
namespace {

constexpr int kLookMs = 20;

Error failed(const std::string& what, int number) {
  return {Code::kIoError, fmt::format("{}: {}", what, std::strerror(number))};
}

std::string by_hand(const ExportReport& report) {
  return fmt::format("write the file with --out, and take it in with `{} FILE`",
                     fmt::join(report.taken_in_by, " "));
}

// The last line that says something: there programs say why they end.
std::string last_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return safe_line(last);
}

bool says(const std::string& path, const std::string& word) {
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (line.find(word) != std::string::npos) return true;
  }
  return false;
}

// What a program is started with: nothing to read, and a file for all that it says.
class Streams {
 public:
  Streams(const std::string& answer, const std::string& cwd) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, answer.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    if (!cwd.empty()) posix_spawn_file_actions_addchdir_np(&actions_, cwd.c_str());
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() { posix_spawn_file_actions_destroy(&actions_); }

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// As the shell finds it from here: where it will run, other programs may be called the same.
// Empty: there is none.
std::string found_on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::error_code none;
    const auto file = std::filesystem::absolute(std::filesystem::path(directory) / program, none);
    const bool is_file = !none && std::filesystem::is_regular_file(file, none);
    if (is_file && ::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

// The same for a program that believes what this says of the directory it runs in.
std::vector<std::string> environment_in(const std::string& cwd) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (cwd.empty() || std::strncmp(*variable, "PWD=", 4) != 0) all.emplace_back(*variable);
  }
  if (!cwd.empty()) all.push_back("PWD=" + cwd);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Its status. Whoever wants us to stop wants that of it.
Result<int> wait_for(pid_t child) {
  for (bool is_told = false;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return failed("cannot wait for a program", errno);
    if (stop_wanted() && !std::exchange(is_told, true)) ::kill(child, SIGTERM);
    ::poll(nullptr, 0, kLookMs);
  }
}

}  // namespace

HandOver::~HandOver() {
  std::error_code ignored;  // nothing is lost with what stays
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Result<std::string> HandOver::next_path() {
  if (directory_.empty()) {
    // From now on Ctrl-C ends the agent's program, and what was written is removed.
    note_stop_signals();
    std::error_code none;
    std::filesystem::path below = std::filesystem::temp_directory_path(none);
    if (!none) below = std::filesystem::absolute(below, none);
    std::string made = ((none ? "/tmp" : below) / "quipu-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) return failed("cannot make " + made, errno);
    directory_ = made;
  }
  paths_.push_back(fmt::format("{}/{}.json", directory_, paths_.size() + 1));
  return paths_.back();
}

Result<void> HandOver::run(const ExportReport& report) const {
  const std::string& name = report.taken_in_by.front();
  const std::string program = found_on_path(name);
  if (program.empty()) {
    return Error(Code::kNotFound, fmt::format("{} is not on the PATH", name))
        .with_hint(by_hand(report));
  }
  for (const std::string& path : paths_) {
    std::vector<std::string> words = report.taken_in_by;
    words.push_back(path);
    if (auto taken = run(program, words, report); !taken) return taken;
  }
  return {};
}

Result<void> HandOver::run(const std::string& program, const std::vector<std::string>& words,
                           const ExportReport& report) const {
  if (stop_wanted()) return Error(Code::kIoError, fmt::format("{} was not started", program));
  const std::string answer = directory_ + "/answer";
  std::error_code none;
  const bool is_there = std::filesystem::is_directory(report.cwd, none);
  const std::string cwd = is_there ? report.cwd : std::string();
  const Streams streams(answer, cwd);
  std::vector<std::string> copies = words;
  std::vector<std::string> environment = environment_in(cwd);
  // Where this is ignored, as it may be from whoever started us, nobody can be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  pid_t child = 0;
  const int number = ::posix_spawn(&child, program.c_str(), streams.get(), nullptr,
                                   pointers_to(copies).data(), pointers_to(environment).data());
  if (number != 0) return failed(program, number).with_hint(by_hand(report));
  auto status = wait_for(child);
  if (!status) return std::move(status).error();
  // Some versions end well though they have read nothing.
  if (*status == 0 && says(answer, report.agent_session)) return {};
  if (stop_wanted()) {
    return Error(Code::kIoError, fmt::format("{} was interrupted", fmt::join(words, " ")))
        .with_hint("it may have taken in a part");
  }
  const std::string said = last_line(answer);
  return Error(Code::kIoError, fmt::format("{} did not take it in: {}", fmt::join(words, " "),
                                           said.empty() ? "it did not say why" : said))
      .with_hint("the session is where it was: try again, or write the file with --out");
}

}  // namespace quipu::cli
