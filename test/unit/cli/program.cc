#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/json_out.h"

namespace quipu::cli {
namespace {

struct PipeEnds {
  PipeEnds() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    reader = ends[0];
    writer = ends[1];
  }
  int reader = -1;
  int writer = -1;
};

void close_once(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// Between fork and exec: only system calls.
[[noreturn]] void become(std::vector<char*>& argv, std::vector<char*>& envp, int in, int out,
                         int err) {
  if (in >= 0) {
    dup2(in, 0);
  } else {
    close(0);
  }
  if (out >= 0) {
    dup2(out, 1);
  } else {
    close(1);
  }
  dup2(err, 2);
  execve(QUIPU_CLI_PATH, argv.data(), envp.data());
  _exit(127);
}

struct CommandLine {
  explicit CommandLine(const Invocation& invocation) {
    texts.push_back("quipu");
    texts.insert(texts.end(), invocation.args.begin(), invocation.args.end());
    std::map<std::string, std::string> environment{
        {"LC_ALL", "C.UTF-8"}, {"TZ", "UTC"}, {"TERM", "xterm"}, {"HOME", "/nonexistent"}};
    // Sanitizers take their options from there.
    for (const char* name : {"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
      if (const char* value = std::getenv(name)) environment[name] = value;
    }
    for (const auto& [name, value] : invocation.environment) environment[name] = value;
    for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
    for (std::string& text : texts) argv.push_back(text.data());
    for (std::string& variable : variables) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
  }

  std::vector<std::string> texts, variables;
  std::vector<char*> argv, envp;
};

int exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// False at the end. A terminal whose other side is gone answers EIO.
bool read_some(int fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

// Feeds and drains all streams at once, so that none can block the others.
void exchange(std::string_view input, int in, int out, int err, Outcome& outcome) {
  fcntl(in, F_SETFL, O_NONBLOCK);
  while (in >= 0 || out >= 0 || err >= 0) {
    if (in >= 0 && input.empty()) close_once(in);
    std::array<pollfd, 3> streams{pollfd{in, POLLOUT, 0}, {out, POLLIN, 0}, {err, POLLIN, 0}};
    if (poll(streams.data(), streams.size(), -1) < 0) continue;
    if (streams[0].revents != 0) {
      const ssize_t sent = write(in, input.data(), input.size());
      if (sent >= 0) {
        input.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno != EAGAIN && errno != EINTR) {
        close_once(in);
      }
    }
    if (streams[1].revents != 0 && !read_some(out, outcome.out)) close_once(out);
    if (streams[2].revents != 0 && !read_some(err, outcome.err)) close_once(err);
  }
}

}  // namespace

Outcome run_program(const Invocation& invocation) {
  std::signal(SIGPIPE, SIG_IGN);
  CommandLine line(invocation);
  PipeEnds in, err;
  int out_reader = -1;
  int out_writer = -1;
  if (invocation.columns > 0) {
    winsize size{.ws_row = 24, .ws_col = invocation.columns, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(openpty(&out_reader, &out_writer, nullptr, nullptr, &size), 0);
  } else if (!invocation.out_file.empty()) {
    out_writer = open(invocation.out_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_GE(out_writer, 0);
  } else if (!invocation.close_stdout) {
    PipeEnds out;
    out_reader = out.reader;
    out_writer = out.writer;
  }
  const pid_t child = fork();
  if (child == 0) {
    become(line.argv, line.envp, invocation.close_stdin ? -1 : in.reader, out_writer, err.writer);
  }
  close_once(in.reader);
  close_once(out_writer);
  close_once(err.writer);
  Outcome outcome;
  exchange(invocation.input, in.writer, out_reader, err.reader, outcome);
  outcome.code = exit_code_of(child);
  return outcome;
}

Conversation::Conversation(const std::vector<std::string>& args) {
  std::signal(SIGPIPE, SIG_IGN);
  CommandLine line({.args = args});
  PipeEnds in, out;
  child_ = fork();
  if (child_ == 0) become(line.argv, line.envp, in.reader, out.writer, STDERR_FILENO);
  close_once(in.reader);
  close_once(out.writer);
  in_ = in.writer;
  out_ = out.reader;
}

Conversation::~Conversation() {
  close_once(in_);
  close_once(out_);
  if (child_ > 0) {
    kill(child_, SIGKILL);
    exit_code_of(child_);
  }
}

void Conversation::send(std::string_view text) const {
  ASSERT_EQ(write(in_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

std::string Conversation::receive_line() {
  std::size_t feed;
  while ((feed = pending_.find('\n')) == std::string::npos) {
    if (!read_some(out_, pending_)) return "";
  }
  std::string line = pending_.substr(0, feed);
  pending_.erase(0, feed + 1);
  return line;
}

bool Conversation::has_answer(int milliseconds) const {
  if (pending_.find('\n') != std::string::npos) return true;
  pollfd waiting{.fd = out_, .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, milliseconds) > 0;
}

void Conversation::end_input() { close_once(in_); }
void Conversation::stop_listening() { close_once(out_); }

int Conversation::wait() {
  end_input();
  const int code = exit_code_of(child_);
  child_ = -1;
  return code;
}

CliTest::CliTest() {
  std::string pattern = testing::TempDir() + "quipu-cli-" + std::string(6, 'X');
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  root_ = pattern;
}

CliTest::~CliTest() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::vector<std::string> CliTest::with_store(std::vector<std::string> args) const {
  args.insert(args.begin(), {"--store", store()});
  return args;
}

Outcome CliTest::quipu(std::vector<std::string> args, std::string input) const {
  return run_program({.args = with_store(std::move(args)), .input = std::move(input)});
}

Outcome CliTest::quipu_on_terminal(std::vector<std::string> args, unsigned short columns,
                                   std::map<std::string, std::string> environment) const {
  environment.emplace("QUIPU_PAGER", "");
  return run_program({.args = with_store(std::move(args)),
                      .environment = std::move(environment),
                      .columns = columns});
}

void CliTest::make_conversation() const {
  const std::string lines = message("u1", "user", "Where was the quipu used?") +
                            message("a1", "assistant", "In the Andes.") +
                            message("u2", "user", "By whom?") +
                            message("a2", "assistant", "By the Inca.");
  ASSERT_EQ(quipu({"new", "--id", "s", "--title", "Knots", "--cwd", "/tmp/knots"}).code, 0);
  ASSERT_EQ(quipu({"append", "s"}, lines).code, 0);
  const Outcome branch =
      quipu({"append", "s"},
            message("u3", "user", "When?", "a1") + message("a3", "assistant", "Until 1600.", "u3"));
  ASSERT_EQ(branch.code, 0) << branch.err;
}

std::string read_whole(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in.good()) << file;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_whole(const std::string& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << bytes;
  EXPECT_TRUE(out.good()) << file;
}

std::string message(std::string_view id, std::string_view role, std::string_view text,
                    std::string_view parent) {
  JsonWriter json;
  json.begin_object().member("id", id);
  if (!parent.empty()) json.member("parentId", parent);
  json.member("type", "message").key("payload").begin_object();
  json.member("role", role).member("content", text).end_object().end_object();
  return json.text() + "\n";
}

}  // namespace quipu::cli
