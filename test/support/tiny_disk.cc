#include "support/tiny_disk.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "support/child_process.h"

namespace quipu::test {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(),
                          what +
                              " (a test of a full disk mounts one: run it as root, or allow user "
                              "namespaces)");
}

void mount_at(const std::string& path, std::uint64_t bytes, unsigned long flags) {
  const std::string size = "size=" + std::to_string(bytes);
  if (::mount("tmpfs", path.c_str(), "tmpfs", flags, size.c_str()) != 0) fail("mount " + path);
}

// What is mounted from now on is nobody else's, and goes with us. Who is not root may mount in
// a user namespace, where everybody stays who they are.
bool leave_common_mounts() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) fail("unshare");
  if (user != 0) {
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/gid_map") << group << ' ' << group << " 1";
    std::ofstream("/proc/self/uid_map") << user << ' ' << user << " 1";
  }
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
