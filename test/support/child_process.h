// Programs of the system that tests run: as an unprivileged user, also when the test is root
// (database servers refuse root), with a small fixed environment, and never for longer than the
// test process.
//
// What goes wrong is thrown as std::runtime_error: GoogleTest makes a failure of it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace quipu::test {

class ChildProcess {
 public:
  /// Starts `command`, a program's path and its arguments. What it prints is added to the file
  /// `log`. It gets SIGQUIT when the thread that started it ends in whatever way, so that thread
  /// should be one that lives as long as the test.
  ChildProcess(const std::vector<std::string>& command, const std::string& log);
  /// Ends it with SIGQUIT and waits. A forked copy of the test process leaves it alone.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return id_; }
  /// Waits so long at most; true as soon as it has ended.
  bool ends_within(std::chrono::milliseconds time) const;
  /// Waits for its end. Its exit code, or 128 and the signal's number.
  int wait();

  /// Runs `command` to its end; throws what it printed when it fails.
  static void run(const std::vector<std::string>& command, const std::string& log);

 private:
  pid_t id_ = -1;
  pid_t owner_ = -1;
  int handle_ = -1;  // a pidfd: readable when the process has ended
  int code_ = -1;    // when it is known
};

/// Makes `path` the property of the user that child processes run as.
void give_to_children(const std::string& path);

/// SIGKILL for `parent` and the processes that it started, as by a crash of the machine: none of
/// them can react to the end of another. Returns when all are gone. `parent` is still to be waited
/// for.
void kill_family(pid_t parent);

/// The last lines of a log, for messages.
std::string end_of(const std::string& log);

}  // namespace quipu::test
