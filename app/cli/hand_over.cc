#include "cli/hand_over.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/sanitize.h"
#include "cli/stop_signal.h"

namespace quipu::cli {
namespace {

Error failed(const std::string& what, int number) {
  return {Code::kIoError, fmt::format("{}: {}", what, std::strerror(number))};
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

}  // namespace

HandOver::~HandOver() {
  std::error_code ignored;  // nothing is lost with what stays
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Result<std::string> HandOver::path_of(const std::string& name) {
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
  return directory_ + "/" + name;
}

Result<void> HandOver::run(const ExportReport& report) const {
  for (const std::string& file : report.files) {
    std::vector<std::string> words = report.taken_in_by;
    words.push_back(directory_ + "/" + file);
    if (auto taken = run(words, report); !taken) return taken;
  }
  return {};
}

Result<void> HandOver::run(const std::vector<std::string>& words,
                           const ExportReport& report) const {
  const std::string& program = words.front();
  if (stop_wanted()) return Error(Code::kIoError, fmt::format("{} was not started", program));
  const std::string answer = directory_ + "/answer";
  std::error_code none;
  const bool is_there = std::filesystem::is_directory(report.cwd, none);
  const Streams streams(answer, is_there ? report.cwd : std::string());
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int number =
      ::posix_spawnp(&child, program.c_str(), streams.get(), nullptr, arguments.data(), environ);
  if (number == ENOENT) {
    return Error(Code::kNotFound, fmt::format("{} is not on the PATH", program))
        .with_hint(fmt::format("write the file with --out, and take it in with `{} FILE`",
                               fmt::join(words.begin(), words.end() - 1, " ")));
  }
  if (number != 0) return failed(program, number);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return failed(program, errno);
  }
  // Some versions end well though they have read nothing.
  if (status == 0 && says(answer, report.agent_session)) return {};
  const std::string said = last_line(answer);
  return Error(Code::kIoError, fmt::format("{} took nothing in: {}", fmt::join(words, " "),
                                           said.empty() ? "it did not say why" : said))
      .with_hint("nothing is lost: try again, or write the file with --out");
}

}  // namespace quipu::cli
