#include "support/tiny_disk.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "support/child_process.h"

namespace quipu::test {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(),
                          what + " (a test of a full disk mounts one; it must be run as root)");
}

void mount_at(const std::string& path, std::uint64_t bytes, unsigned long flags) {
  const std::string size = "size=" + std::to_string(bytes);
  if (::mount("tmpfs", path.c_str(), "tmpfs", flags, size.c_str()) != 0) fail("mount " + path);
}

// What is mounted from now on is nobody else's, and goes with us.
bool leave_common_mounts() {
  if (::unshare(CLONE_NEWNS) != 0) fail("unshare");
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) fail("mount /");
  return true;
}

}  // namespace

TinyDisk::TinyDisk(std::string path, std::uint64_t bytes)
    : path_(std::move(path)), owner_(::getpid()) {
  [[maybe_unused]] static const bool left = leave_common_mounts();
  mount_at(path_, bytes, 0);
  give_to_children(path_);
}

TinyDisk::~TinyDisk() {
  if (::getpid() == owner_) ::umount2(path_.c_str(), MNT_DETACH);
}

void TinyDisk::resize(std::uint64_t bytes) { mount_at(path_, bytes, MS_REMOUNT); }

}  // namespace quipu::test
