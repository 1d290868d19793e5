#include "fs/inotify_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <unordered_map>

#include "base/try.h"
#include "fs/fs.h"
#include "fs/posix_file.h"

namespace quipu::fs {
namespace {

constexpr int kDepthMax = 16;
constexpr std::uint32_t kEvents =
    IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW;

class InotifyWatch final : public HostWatch {
 public:
  InotifyWatch(Fd fd, HostFiles& files) : fd_(std::move(fd)), files_(files) {}

  Result<void> add(const std::string& directory) override { return add(directory, 0, nullptr); }

  Result<HostChanges> wait(std::chrono::milliseconds time) override {
    HostChanges changes;
    pollfd waiting{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(time.count()));
    if (ready < 0 && errno != EINTR) return error_from_errno(errno, "wait for changes");
    if (ready <= 0) return changes;
    alignas(inotify_event) std::array<char, 64 << 10> buffer;
    for (;;) {
      const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return changes;
      if (got <= 0) return error_from_errno(got < 0 ? errno : EIO, "read changes");
      const char* at = buffer.data();
      const char* const end = at + got;
      while (at < end) {
        const auto& event = *reinterpret_cast<const inotify_event*>(at);
        take(event, changes);
        at += sizeof(inotify_event) + event.len;
      }
    }
  }

 private:
  // Whatever lies in a directory that is new may have come before we looked: it is
  // named as changed.
  Result<void> add(const std::string& directory, int depth, HostChanges* found) {
    const int watch = ::inotify_add_watch(fd_.get(), directory.c_str(), kEvents);
    if (watch < 0 && errno == ENOSPC) {
      return Error(Code::kBusy, "the system watches as many directories as it may")
          .with_hint("raise fs.inotify.max_user_watches");
    }
    if (watch < 0) return error_from_errno(errno, "watch " + directory);
    directories_[watch] = directory;
    const auto names = files_.list(directory);
    if (!names.ok()) return {};  // gone again
    for (const HostName& name : *names) {
      const std::string path = directory + "/" + name.name;
      if (name.kind == HostKind::kFile && found != nullptr) found->files.push_back(path);
      if (name.kind != HostKind::kDirectory || depth >= kDepthMax) continue;
      auto added = add(path, depth + 1, found);
      if (!added.ok() && added.error().code() == Code::kBusy) return added;
    }
    return {};
  }

  void take(const inotify_event& event, HostChanges& changes) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) changes.missed = true;
    if ((event.mask & IN_IGNORED) != 0) directories_.erase(event.wd);
    const auto directory = directories_.find(event.wd);
    if (directory == directories_.end() || event.len == 0) return;
    const std::string path = directory->second + "/" + event.name;
    if ((event.mask & IN_ISDIR) == 0) {
      changes.files.push_back(path);
    } else if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0 && !add(path, 0, &changes).ok()) {
      changes.missed = true;
    }
  }

  Fd fd_;
  HostFiles& files_;
  std::unordered_map<int, std::string> directories_;  // by inotify's number
};

}  // namespace

Result<std::unique_ptr<HostWatch>> watch_with_inotify(HostFiles& files) {
  Fd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd.valid()) return error_from_errno(errno, "watch files");
  return std::unique_ptr<HostWatch>(std::make_unique<InotifyWatch>(std::move(fd), files));
}

}  // namespace quipu::fs
