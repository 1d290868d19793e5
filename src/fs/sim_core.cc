#include "fs/sim_core.h"

#include <algorithm>

#include "base/try.h"
#include "fs/path.h"

namespace quipu::fs::sim {

Verdict Core::enter(Process& process, SimCall call, std::string_view path) {
  Verdict own = process.faults.next(call);
  if (own.dead) return own;
  const bool was_dead = faults.dead();
  Verdict verdict = faults.next(call);
  if (verdict.dead) {
    if (!was_dead) {
      for (Inode& inode : inodes) inode.detach_mappings();
    }
    return verdict;
  }
  if (recording) records.push_back({call, std::string(path), process.number});
  verdict.last_of_process = own.last;
  verdict.bytes = std::min(verdict.bytes, own.bytes);
  verdict.interrupted |= own.interrupted;
  if (own.error != 0) {
    verdict.error = own.error;
    verdict.sync_failure = own.sync_failure;
  }
  if (own.short_write != ShortWrite::kNone) verdict.short_write = own.short_write;
  return verdict;
}

void Core::leave(Process& process, const Verdict& verdict) {
  if (verdict.last_of_process) {
    process.faults.die();
    drop_locks(process);
  }
  if (verdict.last && !faults.plan().late_stores) {
    faults.die();
    for (Inode& inode : inodes) inode.detach_mappings();
  }
}

void Core::drop_locks(const Process& process) {
  std::erase_if(locks, [&](const Lock& lock) { return lock.process == &process; });
}

Result<std::uint32_t> Core::directory(std::string_view path) const {
  std::uint32_t at = Tree::kRoot;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const Target* const target = tree.find(at, path.substr(0, slash));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (target == nullptr) return error_from_errno(ENOENT, "directory");
    if (!target->directory) return Error(Code::kInvalidArgument, "not a directory");
    at = target->slot;
  }
  return at;
}

Result<Core::Place> Core::place(std::string_view path) const {
  const SplitPath split = split_path(path);
  TRY_ASSIGN(const std::uint32_t parent, directory(split.directory));
  return Place{parent, split.name};
}

Result<std::uint32_t> Core::file(std::string_view path) const {
  TRY_ASSIGN(const Place at, place(path));
  const Target* const target = tree.find(at.directory, at.name);
  if (target == nullptr) return error_from_errno(ENOENT, path);
  if (target->directory) return Error(Code::kInvalidArgument, "not a regular file");
  return target->slot;
}

std::uint32_t Core::make_inode() {
  auto free =
      std::find_if(inodes.begin(), inodes.end(), [](const Inode& inode) { return !inode.live(); });
  if (free == inodes.end()) free = inodes.insert(free, Inode());
  *free = Inode(next_number++, file_capacity);
  touch(*free);
  return static_cast<std::uint32_t>(free - inodes.begin());
}

void Core::close(std::uint32_t slot) {
  if (--inodes[slot].opens == 0 && orphans) collect();
}

void Core::collect() {
  std::vector<bool> reachable(inodes.size());
  tree.mark(reachable);
  orphans = false;
  for (std::size_t slot = 0; slot < inodes.size(); ++slot) {
    if (reachable[slot] || !inodes[slot].live()) continue;
    if (inodes[slot].opens == 0) {
      inodes[slot] = Inode();
    } else {
      orphans = true;
    }
  }
}

std::size_t Core::room(const Inode& inode, std::uint64_t offset, std::size_t size) {
  std::uint64_t end = std::min<std::uint64_t>(inode.capacity(), offset + size);
  if (capacity != kUnlimited && end > inode.size()) {
    collect();
    std::uint64_t used = 0;
    for (const Inode& other : inodes) used += other.size();
    const std::uint64_t left = capacity > used ? capacity - used : 0;
    end = std::min(end, inode.size() + left);
  }
  return end > offset ? static_cast<std::size_t>(end - offset) : 0;
}

std::string Call::what() const {
  return std::string(name(call_)) + ' ' + (path_.empty() ? "." : std::string(path_));
}

Error Call::error() const {
  if (verdict_.dead) return Error(Code::kIoError, what() + ": crashed");
  return error(verdict_.error);
}

Error Call::error(int number) const { return error_from_errno(number, what()); }

Error Call::wrong(std::string_view why) const {
  return Error(Code::kInvalidArgument, what() + ": " + std::string(why));
}

}  // namespace quipu::fs::sim
