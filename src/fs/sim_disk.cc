#include <algorithm>
#include <array>
#include <cstring>

#include "fs/path.h"
#include "fs/sim_core.h"
#include "fs/sim_fs.h"

namespace quipu::fs {
namespace {

using sim::Core;
using sim::Entry;
using sim::Inode;
using sim::Target;
using sim::Tree;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = (a ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu + b;
  z = (z ^ (z >> 32)) * 0xc4ceb9fe1a85ec53u;
  return z ^ (z >> 29);
}

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

std::uint64_t hash(std::string_view bytes) {
  // Four lanes, for a processor multiplies faster than it waits for the product.
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, bytes.size()};
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    for (std::size_t i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], word_at(bytes, at + 8 * i));
  }
  std::uint64_t value = mix(mix(lanes[0], lanes[1]), mix(lanes[2], lanes[3]));
  for (; at + 8 <= bytes.size(); at += 8) value = mix(value, word_at(bytes, at));
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  return mix(value, rest);
}

// Sums over the entries, so that their order does not matter.
std::uint64_t hash_tree(const Core& core, std::uint32_t directory, std::uint64_t above,
                        bool (*ignore)(std::string_view)) {
  std::uint64_t sum = above;
  for (const Entry& entry : core.tree.durable(directory)) {
    const std::uint64_t path = mix(above, hash(entry.name));
    if (entry.target.directory) {
      sum += hash_tree(core, entry.target.slot, path, ignore);
    } else if (ignore == nullptr || !ignore(entry.name)) {
      sum += mix(path, hash(core.inodes[entry.target.slot].durable_bytes()));
    }
  }
  return sum;
}

void list_files(const Core& core, std::uint32_t directory, const std::string& prefix,
                std::vector<std::string>& paths) {
  for (const Entry& entry : core.tree.entries(directory)) {
    if (entry.target.directory) {
      list_files(core, entry.target.slot, prefix + entry.name + '/', paths);
    } else {
      paths.push_back(prefix + entry.name);
    }
  }
}

Inode* find_file(Core& core, std::string_view path) {
  const auto slot = core.file(path);
  return slot.ok() ? &core.inodes[slot.value()] : nullptr;
}

// Makes the directories of `path` that are missing.
std::uint32_t make_directories(Core& core, std::string_view path) {
  std::uint32_t at = Tree::kRoot;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (core.tree.find(at, name) == nullptr) {
      const std::uint32_t made = core.tree.make_directory();
      core.tree.add(at, name, {made, true});
    }
    core.tree.sync(at);
    at = core.tree.find(at, name)->slot;
  }
  return at;
}

}  // namespace

SimDisk::SimDisk() : core_(std::make_shared<Core>()) {}

SimDisk::SimDisk(std::size_t file_capacity) : SimDisk() { core_->file_capacity = file_capacity; }

SimDisk::SimDisk(std::shared_ptr<sim::Core> core) : core_(std::move(core)) {}

SimDisk::SimDisk(const SimDisk& other)
    : SimDisk(other.crash({DataLoss::kKilled, NameLoss::kNone}, 0)) {}

SimDisk& SimDisk::operator=(SimDisk other) noexcept {
  core_.swap(other.core_);
  return *this;
}

std::unique_ptr<SimFs> SimDisk::process() {
  auto process = std::make_shared<sim::Process>();
  const std::lock_guard lock(core_->mutex);
  process->number = core_->next_process++;
  return std::make_unique<SimFs>(core_, std::move(process));
}

SimDisk SimDisk::image(CrashPolicy policy, sim::Chooser& chooser) const {
  auto after = std::make_shared<Core>();
  const std::lock_guard lock(core_->mutex);
  const bool killed = policy.data == DataLoss::kKilled;
  after->next_number = core_->next_number;
  after->boot_id = killed ? core_->boot_id : core_->boot_id + 1;
  after->clock_ms = core_->clock_ms;
  after->file_capacity = core_->file_capacity;
  after->capacity = core_->capacity;
  after->tree = killed ? core_->tree : core_->tree.crash(policy.names, chooser);
  // Files that never had a name end with the processes. For the others the
  // chooser is asked whatever became of their names, so that the number of
  // choices is the same for all variants.
  std::vector<bool> named(core_->inodes.size());
  core_->tree.mark(named);
  after->inodes.reserve(core_->inodes.size() + 4);
  for (std::size_t slot = 0; slot < core_->inodes.size(); ++slot) {
    after->inodes.push_back(named[slot] ? core_->inodes[slot].crash(policy.data, chooser)
                                        : Inode());
  }
  if (!killed && core_->tree.dirty()) after->collect();
  return SimDisk(std::move(after));
}

SimDisk SimDisk::crash(CrashPolicy policy, std::uint64_t seed) const {
  auto chooser = sim::Chooser::random(seed);
  return image(policy, chooser);
}

SimDisk SimDisk::crash_variant(CrashPolicy policy, std::uint64_t number) const {
  auto chooser = sim::Chooser::numbered(number);
  return image(policy, chooser);
}

bool SimDisk::unsynced_data() const {
  const std::lock_guard lock(core_->mutex);
  return std::any_of(core_->inodes.begin(), core_->inodes.end(),
                     [](const Inode& inode) { return inode.live() && inode.dirty(); });
}

bool SimDisk::unsynced_names() const {
  const std::lock_guard lock(core_->mutex);
  return core_->tree.dirty();
}

std::uint64_t SimDisk::fingerprint(bool (*ignore)(std::string_view name)) const {
  const std::lock_guard lock(core_->mutex);
  return hash_tree(*core_, Tree::kRoot, 1, ignore);
}

void SimDisk::set_faults(const FaultPlan& plan) {
  const std::lock_guard lock(core_->mutex);
  core_->faults.set(plan);
}

std::uint64_t SimDisk::calls() const {
  const std::lock_guard lock(core_->mutex);
  return core_->faults.calls();
}

bool SimDisk::crashed() const {
  const std::lock_guard lock(core_->mutex);
  return core_->faults.dead();
}

bool SimDisk::fault_fired() const {
  const std::lock_guard lock(core_->mutex);
  return core_->faults.fired();
}

void SimDisk::record(bool on) {
  const std::lock_guard lock(core_->mutex);
  core_->recording = on;
  if (on) core_->records.clear();
}

std::vector<CallRecord> SimDisk::records() const {
  const std::lock_guard lock(core_->mutex);
  return core_->records;
}

void SimDisk::set_boot_id(std::uint64_t boot_id) {
  const std::lock_guard lock(core_->mutex);
  core_->boot_id = boot_id;
}

void SimDisk::set_capacity_bytes(std::uint64_t total) {
  const std::lock_guard lock(core_->mutex);
  core_->capacity = total;
}

std::optional<std::string> SimDisk::read_file(std::string_view path) const {
  const std::lock_guard lock(core_->mutex);
  const Inode* const inode = find_file(*core_, path);
  if (inode == nullptr) return std::nullopt;
  return std::string(inode->bytes());
}

std::optional<std::string> SimDisk::read_durable(std::string_view path) const {
  const std::lock_guard lock(core_->mutex);
  const Inode* const inode = find_file(*core_, path);
  if (inode == nullptr) return std::nullopt;
  return std::string(inode->durable_bytes());
}

void SimDisk::write_file(std::string_view path, std::string_view bytes) {
  const std::lock_guard lock(core_->mutex);
  const SplitPath split = split_path(path);
  const std::uint32_t directory = make_directories(*core_, split.directory);
  if (core_->tree.find(directory, split.name) == nullptr) {
    const std::uint32_t slot = core_->make_inode();
    core_->tree.add(directory, split.name, {slot, false});
  }
  core_->tree.sync(directory);
  Inode& inode = core_->inodes[core_->tree.find(directory, split.name)->slot];
  inode.truncate(0);
  inode.write(0, bytes.substr(0, inode.capacity()));
  inode.sync();
  core_->touch(inode);
}

void SimDisk::remove_file(std::string_view path) {
  const std::lock_guard lock(core_->mutex);
  const SplitPath split = split_path(path);
  const auto directory = core_->directory(split.directory);
  if (!directory.ok() || core_->tree.find(*directory, split.name) == nullptr) return;
  core_->tree.remove(*directory, split.name);
  core_->tree.sync(*directory);
  core_->collect();
}

bool SimDisk::flip(std::string_view path, std::uint64_t offset, unsigned char mask) {
  const std::lock_guard lock(core_->mutex);
  Inode* const inode = find_file(*core_, path);
  if (inode == nullptr || offset >= inode->size()) return false;
  const char flipped = static_cast<char>(static_cast<unsigned char>(inode->bytes()[offset]) ^ mask);
  inode->write(offset, {&flipped, 1});
  inode->sync();
  return true;
}

std::vector<std::string> SimDisk::files() const {
  const std::lock_guard lock(core_->mutex);
  std::vector<std::string> paths;
  list_files(*core_, Tree::kRoot, "", paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::uint64_t SimDisk::crash_variants(CrashPolicy policy) const {
  auto chooser = sim::Chooser::numbered(0);
  image(policy, chooser);
  return chooser.variants();
}

}  // namespace quipu::fs
