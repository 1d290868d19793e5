#include "fs/sim_fs.h"

#include "base/try.h"
#include "fs/path.h"
#include "fs/sim_core.h"
#include "fs/sim_file.h"

namespace quipu::fs {

using sim::Call;
using sim::SimFile;
using sim::Target;

SimFs::SimFs(std::shared_ptr<sim::Core> core, std::shared_ptr<sim::Process> process)
    : core_(std::move(core)), process_(std::move(process)) {}

Result<std::unique_ptr<File>> SimFs::open(const std::string& path, OpenMode mode) {
  TRY(check_path(path));
  const Call call(*core_, *process_, SimCall::kOpen, path);
  if (call.refused()) return call.error();
  const auto at = core_->place(path);
  if (!at.ok()) return at.error().code() == Code::kNotFound ? call.error(ENOENT) : at.error();
  const Target* const found = core_->tree.find(at->directory, at->name);
  std::uint32_t slot = 0;
  if (found != nullptr) {
    if (mode == OpenMode::kCreateNew) return call.error(EEXIST);
    if (found->directory) return call.wrong("not a regular file");
    slot = found->slot;
  } else {
    if (mode != OpenMode::kCreate && mode != OpenMode::kCreateNew) return call.error(ENOENT);
    slot = core_->make_inode();
    core_->tree.add(at->directory, at->name, {slot, false});
  }
  const bool appends = mode == OpenMode::kAppend || mode == OpenMode::kCreateNew;
  const auto access = mode == OpenMode::kRead ? SimFile::Access::kRead
                      : appends               ? SimFile::Access::kAppend
                                              : SimFile::Access::kWrite;
  return std::unique_ptr<File>(std::make_unique<SimFile>(core_, process_, slot, path, access));
}

Result<std::unique_ptr<File>> SimFs::create_unnamed(const std::string& directory) {
  TRY(check_directory(directory));
  const Call call(*core_, *process_, SimCall::kCreateUnnamed, directory);
  if (call.refused()) return call.error();
  TRY(core_->directory(directory));
  const std::uint32_t slot = core_->make_inode();
  core_->orphans = true;
  return std::unique_ptr<File>(std::make_unique<SimFile>(
      core_, process_, slot, directory + "/(unnamed)", SimFile::Access::kAppend));
}

Result<void> SimFs::link(File& file, const std::string& path) {
  TRY(check_path(path));
  const Call call(*core_, *process_, SimCall::kLink, path);
  if (call.refused()) return call.error();
  auto* const own = dynamic_cast<SimFile*>(&file);
  if (own == nullptr || own->core() != core_.get()) {
    return call.wrong("a file of another file system");
  }
  TRY_ASSIGN(const auto to, core_->place(path));
  if (core_->tree.find(to.directory, to.name) != nullptr) return call.error(EEXIST);
  core_->tree.add(to.directory, to.name, {own->slot(), false});
  own->set_path(path);
  return {};
}

Result<void> SimFs::link(const std::string& existing, const std::string& path) {
  TRY(check_path(existing));
  TRY(check_path(path));
  const Call call(*core_, *process_, SimCall::kLinkPath, path);
  if (call.refused()) return call.error();
  TRY_ASSIGN(const std::uint32_t slot, core_->file(existing));
  TRY_ASSIGN(const auto to, core_->place(path));
  if (core_->tree.find(to.directory, to.name) != nullptr) return call.error(EEXIST);
  core_->tree.add(to.directory, to.name, {slot, false});
  return {};
}

Result<void> SimFs::rename(const std::string& from, const std::string& to) {
  TRY(check_path(from));
  TRY(check_path(to));
  const Call call(*core_, *process_, SimCall::kRename, from);
  if (call.refused()) return call.error();
  TRY_ASSIGN(const auto source, core_->place(from));
  TRY_ASSIGN(const auto target, core_->place(to));
  const Target* const moved = core_->tree.find(source.directory, source.name);
  if (moved == nullptr) return call.error(ENOENT);
  const Target* const replaced = core_->tree.find(target.directory, target.name);
  if (replaced != nullptr && (replaced->directory || moved->directory)) {
    return call.wrong("a directory is in the way");
  }
  core_->orphans = true;
  core_->tree.rename(source.directory, source.name, target.directory, target.name);
  return {};
}

Result<void> SimFs::remove(const std::string& path) {
  TRY(check_path(path));
  const Call call(*core_, *process_, SimCall::kRemove, path);
  if (call.refused()) return call.error();
  TRY(core_->file(path));
  TRY_ASSIGN(const auto at, core_->place(path));
  core_->orphans = true;
  core_->tree.remove(at.directory, at.name);
  return {};
}

Result<void> SimFs::make_dir(const std::string& path) {
  TRY(check_path(path));
  const Call call(*core_, *process_, SimCall::kMakeDir, path);
  if (call.refused()) return call.error();
  TRY_ASSIGN(const auto at, core_->place(path));
  if (const Target* const found = core_->tree.find(at.directory, at.name)) {
    if (!found->directory) return call.wrong("not a directory");
    return {};
  }
  const std::uint32_t made = core_->tree.make_directory();
  core_->tree.add(at.directory, at.name, {made, true});
  return {};
}

Result<void> SimFs::sync_dir(const std::string& path) {
  TRY(check_directory(path));
  const Call call(*core_, *process_, SimCall::kSyncDir, path);
  if (call.refused()) return call.error();
  TRY_ASSIGN(const std::uint32_t directory, core_->directory(path));
  core_->tree.sync(directory);
  if (core_->orphans) core_->collect();
  return {};
}

Result<std::vector<std::string>> SimFs::list(const std::string& path) {
  TRY(check_directory(path));
  const Call call(*core_, *process_, SimCall::kList, path);
  if (call.refused()) return call.error();
  TRY_ASSIGN(const std::uint32_t directory, core_->directory(path));
  std::vector<std::string> names;
  for (const sim::Entry& entry : core_->tree.entries(directory)) names.push_back(entry.name);
  return names;
}

Result<Stat> SimFs::stat(const std::string& path) {
  TRY(check_directory(path));
  const Call call(*core_, *process_, SimCall::kStat, path);
  if (call.refused()) return call.error();
  Target found = {sim::Tree::kRoot, true};
  if (!path.empty()) {
    TRY_ASSIGN(const auto at, core_->place(path));
    const Target* const target = core_->tree.find(at.directory, at.name);
    if (target == nullptr) return call.error(ENOENT);
    found = *target;
  }
  if (!found.directory) return sim::to_stat(core_->inodes[found.slot]);
  // Numbers that no file has.
  return Stat{{1, (std::uint64_t{1} << 63) + found.slot}, 0, 0};
}

std::uint64_t SimFs::boot_id() const {
  const std::lock_guard lock(core_->mutex);
  return core_->boot_id;
}

void SimFs::set_faults(const FaultPlan& plan) {
  const std::lock_guard lock(core_->mutex);
  process_->faults.set(plan);
}

std::uint64_t SimFs::calls() const {
  const std::lock_guard lock(core_->mutex);
  return process_->faults.calls();
}

bool SimFs::dead() const {
  const std::lock_guard lock(core_->mutex);
  return process_->faults.dead();
}

void SimFs::kill() {
  const std::lock_guard lock(core_->mutex);
  process_->faults.die();
  core_->drop_locks(*process_);
}

}  // namespace quipu::fs
