#include "scratch.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "measure.h"

namespace quipu::bench {

Scratch::Scratch() {
  std::string name = (std::filesystem::current_path() / "quipu-bench-XXXXXX").string();
  check(::mkdtemp(name.data()) != nullptr, "cannot make a directory for the data");
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool Scratch::in_memory() const {
  struct statfs facts = {};
  check(::statfs(path_.c_str(), &facts) == 0, "cannot look at the file system");
  return facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC;
}

void Scratch::settle() const {
  const int directory = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(directory >= 0, "cannot open the directory of the data");
  const int synced = ::syncfs(directory);
  ::close(directory);
  check(synced == 0, "cannot sync the data");
}

}  // namespace quipu::bench
