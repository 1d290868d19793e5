// Runs the built command line and looks at what comes out.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quipu::cli {

struct Outcome {
  int code = -1;  // 128 + the signal's number when one ended it
  std::string out;
  std::string err;
};

struct Invocation {
  std::vector<std::string> args = {};
  std::string input = {};
  std::map<std::string, std::string> environment = {};  // beside a small fixed one
  /// Standard output is a terminal of this many columns; 0: a pipe.
  unsigned short columns = 0;
  /// Standard output goes to this file; empty: it is collected.
  std::string out_file = {};
  bool close_stdin = false;
  bool close_stdout = false;
};

Outcome run_program(const Invocation& invocation);

/// A command that runs while the test talks to it.
class Conversation {
 public:
  explicit Conversation(const std::vector<std::string>& args);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation();

  void send(std::string_view text) const;
  std::string receive_line();
  /// Whether there is something to be received, or it has ended; waits up to so long for it.
  bool has_answer(int milliseconds) const;
  void end_input();
  /// Nobody reads its answers any more.
  void stop_listening();
  /// The exit code; ends the input first.
  int wait();

 private:
  pid_t child_ = -1;
  int in_ = -1;
  int out_ = -1;
  std::string pending_;
};

/// A directory for stores that vanishes with the test.
class CliTest : public testing::Test {
 protected:
  CliTest();
  ~CliTest() override;

  std::string path(std::string_view name) const { return root_ + "/" + std::string(name); }
  std::string store() const { return path("store"); }
  std::string log_of(std::string_view session) const {
    return store() + "/sessions/" + std::string(session) + ".jsonl";
  }

  /// With `--store` of this test.
  Outcome quipu(std::vector<std::string> args, std::string input = {}) const;
  Outcome quipu_on_terminal(std::vector<std::string> args, unsigned short columns,
                            std::map<std::string, std::string> environment = {}) const;
  std::vector<std::string> with_store(std::vector<std::string> args) const;

  /// The session `s` with a branching conversation:
  ///   u1 - a1 - u2 - a2 (head)
  ///           \ u3 - a3
  void make_conversation() const;

 private:
  std::string root_;
};

std::string read_whole(const std::string& file);
void write_whole(const std::string& file, std::string_view bytes);

/// A message as a line for `append`.
std::string message(std::string_view id, std::string_view role, std::string_view text,
                    std::string_view parent = {});

}  // namespace quipu::cli
