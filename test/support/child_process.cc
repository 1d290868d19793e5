#include "support/child_process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace quipu::test {
namespace {

struct User {
  bool is_other = false;  // than who runs the test
  uid_t user = 0;
  gid_t group = 0;
};

User child_user() {
  if (::geteuid() != 0) return {};
  for (const char* name : {"postgres", "nobody"}) {
    if (const passwd* entry = ::getpwnam(name)) return {true, entry->pw_uid, entry->pw_gid};
  }
  throw std::runtime_error("neither user `postgres` nor `nobody`: no one to run a server as");
}

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int open_pidfd(pid_t id) { return static_cast<int>(::syscall(SYS_pidfd_open, id, 0)); }

bool wait_for_end(int pidfd, int milliseconds) {
  pollfd end{pidfd, POLLIN, 0};
  return ::poll(&end, 1, milliseconds) == 1;
}

// Between fork and exec: only system calls.
[[noreturn]] void become(char* const* argv, const User& user, pid_t parent, int log) {
  static char* const environment[] = {const_cast<char*>("PATH=/usr/bin:/bin"),
                                      const_cast<char*>("LC_ALL=C"), const_cast<char*>("TZ=UTC"),
                                      nullptr};
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(log, 1);
  ::dup2(log, 2);
  if (user.is_other &&
      (::setgroups(0, nullptr) != 0 || ::setgid(user.group) != 0 || ::setuid(user.user) != 0)) {
    ::_exit(126);
  }
  // After setuid, which would undo it. The parent may have ended before.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent) ::_exit(125);
  ::execve(argv[0], argv, environment);
  ::_exit(127);
}

// The parent of process `id`, and 0 when that cannot be said.
pid_t parent_of(const std::string& id) {
  std::ifstream file("/proc/" + id + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // "id (name) state parent …", where the name may hold anything.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > text.size()) return 0;
  pid_t parent = 0;
  std::from_chars(text.data() + name_end + 4, text.data() + text.size(), parent);
  return parent;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name[0] < '0' || name[0] > '9') continue;
    if (parent_of(name) == parent) children.push_back(std::stoi(name));
  }
  return children;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::string& log)
    : owner_(::getpid()) {
  const User user = child_user();
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (out < 0) fail(log);
  id_ = ::fork();
  if (id_ == 0) become(argv.data(), user, owner_, out);
  ::close(out);
  if (id_ < 0) fail("fork");
  handle_ = open_pidfd(id_);
  if (handle_ < 0) fail("pidfd_open");
}

ChildProcess::~ChildProcess() {
  if (::getpid() == owner_ && code_ < 0) {
    ::kill(id_, SIGQUIT);
    wait();
  }
  ::close(handle_);
}

bool ChildProcess::ends_within(std::chrono::milliseconds time) const {
  return wait_for_end(handle_, static_cast<int>(time.count()));
}

int ChildProcess::wait() {
  int status = 0;
  while (code_ < 0) {
    if (::waitpid(id_, &status, 0) == id_) {
      code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    } else if (errno != EINTR) {
      fail("waitpid");
    }
  }
  return code_;
}

void ChildProcess::run(const std::vector<std::string>& command, const std::string& log) {
  const int code = ChildProcess(command, log).wait();
  if (code != 0) {
    throw std::runtime_error(command[0] + " ended with " + std::to_string(code) + ":\n" +
                             end_of(log));
  }
}

void give_to_children(const std::string& path) {
  const User user = child_user();
  if (user.is_other && ::chown(path.c_str(), user.user, user.group) != 0) fail("chown " + path);
}

void kill_family(pid_t parent) {
  // Stopped, it starts nobody new and reaps nobody, so the ids stay those of its children.
  ::kill(parent, SIGSTOP);
  std::vector<int> ends;
  for (const pid_t child : children_of(parent)) {
    ends.push_back(open_pidfd(child));
    ::kill(child, SIGKILL);
  }
  ::kill(parent, SIGKILL);
  for (const int end : ends) {
    if (end < 0) continue;
    wait_for_end(end, -1);
    ::close(end);
  }
}

std::string end_of(const std::string& log) {
  std::ifstream file(log);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  constexpr std::size_t kEnough = 4000;
  return text.size() <= kEnough ? text : text.substr(text.size() - kEnough);
}

}  // namespace quipu::test
