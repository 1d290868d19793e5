#include "fs/sim_file.h"

#include <algorithm>
#include <cstring>

#include "base/try.h"

namespace quipu::fs::sim {
namespace {

constexpr std::uint64_t kMapAlignment = 4096;
constexpr std::uint64_t kDevice = 1;
constexpr std::string_view kWrongMode = "not opened for this";

}  // namespace

Stat to_stat(const Inode& inode) {
  return {{kDevice, inode.number()}, inode.size(), inode.modified_ms};
}

SimFile::SimFile(std::shared_ptr<Core> core, std::shared_ptr<Process> process, std::uint32_t slot,
                 std::string path, Access access)
    : core_(std::move(core)),
      process_(std::move(process)),
      slot_(slot),
      path_(std::move(path)),
      access_(access) {
  ++inode().opens;
}

SimFile::~SimFile() {
  const std::lock_guard lock(core_->mutex);
  std::erase_if(core_->locks, [&](const Lock& held) { return held.holder == this; });
  core_->close(slot_);
}

Result<std::size_t> SimFile::read_at(std::span<char> into, std::uint64_t offset) {
  const Call call(*core_, *process_, SimCall::kReadAt, path_);
  if (call.refused()) return call.error();
  const std::string_view bytes = inode().bytes();
  if (offset >= bytes.size()) return std::size_t{0};
  std::size_t length = std::min<std::size_t>(into.size(), bytes.size() - offset);
  if (call.verdict().interrupted) length = (length + 1) / 2;
  std::memcpy(into.data(), bytes.data() + offset, length);
  return length;
}

Result<std::size_t> SimFile::write(const Call& call, std::string_view bytes, std::uint64_t offset) {
  if (call.verdict().interrupted || bytes.empty()) return std::size_t{0};
  const std::size_t room = core_->room(inode(), offset, bytes.size());
  if (room == 0) return call.error(ENOSPC);
  const std::size_t length = std::min(room, call.verdict().limit(bytes.size()));
  if (length > 0) {
    inode().write(offset, bytes.substr(0, length));
    core_->touch(inode());
  }
  return length;
}

Result<std::size_t> SimFile::append(std::string_view bytes) {
  const Call call(*core_, *process_, SimCall::kAppend, path_);
  if (call.refused()) return call.error();
  if (access_ != Access::kAppend) return call.wrong(kWrongMode);
  const std::uint64_t start = inode().size();
  auto written = write(call, bytes, start);
  if (written.ok()) append_end_ = start + *written;
  return written;
}

// No call of its own: the system knows it without a look at the disk.
Result<std::uint64_t> SimFile::append_end() { return append_end_; }

Result<std::size_t> SimFile::write_at(std::string_view bytes, std::uint64_t offset) {
  const Call call(*core_, *process_, SimCall::kWriteAt, path_);
  if (call.refused()) return call.error();
  if (access_ != Access::kWrite) return call.wrong(kWrongMode);
  return write(call, bytes, offset);
}

Result<void> SimFile::truncate(std::uint64_t size) {
  const Call call(*core_, *process_, SimCall::kTruncate, path_);
  if (call.refused()) return call.error();
  if (access_ == Access::kRead) return call.wrong(kWrongMode);
  if (size > inode().capacity()) return call.error(EFBIG);
  if (size == inode().size()) return {};
  inode().truncate(size);
  core_->touch(inode());
  return {};
}

Result<void> SimFile::allocate(std::uint64_t offset, std::uint64_t size) {
  const Call call(*core_, *process_, SimCall::kAllocate, path_);
  if (call.refused()) return call.error();
  if (access_ == Access::kRead) return call.wrong(kWrongMode);
  const std::uint64_t end = offset + size;
  if (size == 0 || (end > offset && end <= inode().size())) return {};
  if (end < offset || end > inode().capacity()) return call.error(ENOSPC);
  const auto growth = static_cast<std::size_t>(end - inode().size());
  if (core_->room(inode(), inode().size(), growth) < growth) return call.error(ENOSPC);
  inode().truncate(end);
  core_->touch(inode());
  return {};
}

Result<void> SimFile::sync() {
  const Call call(*core_, *process_, SimCall::kSync, path_);
  if (call.verdict().error != 0) inode().fail_sync(call.verdict().sync_failure);
  if (call.refused()) return call.error();
  inode().sync();
  return {};
}

Result<Stat> SimFile::stat() {
  const Call call(*core_, *process_, SimCall::kFileStat, path_);
  if (call.refused()) return call.error();
  return to_stat(inode());
}

Result<Mapping> SimFile::map(std::uint64_t offset, std::size_t size, MapMode mode) {
  const Call call(*core_, *process_, SimCall::kMap, path_);
  if (call.refused()) return call.error();
  if (mode == MapMode::kShared && access_ == Access::kRead) return call.wrong(kWrongMode);
  if (offset % kMapAlignment != 0) return call.wrong("offset not a multiple of 4096");
  if (size == 0) return Mapping();
  // Beyond the capacity there is no memory, but there will never be a file either.
  if (offset > inode().capacity()) return call.error(ENOMEM);
  return inode().map(offset, size, mode);
}

Result<bool> SimFile::try_lock(std::uint64_t byte) {
  const Call call(*core_, *process_, SimCall::kTryLock, path_);
  if (call.refused()) return call.error();
  if (access_ == Access::kRead) return call.wrong(kWrongMode);
  for (const Lock& held : core_->locks) {
    if (held.slot == slot_ && held.byte == byte) return held.holder == this;
  }
  core_->locks.push_back({slot_, byte, this, process_.get()});
  return true;
}

Result<void> SimFile::unlock(std::uint64_t byte) {
  const Call call(*core_, *process_, SimCall::kUnlock, path_);
  if (call.refused()) return call.error();
  std::erase_if(core_->locks, [&](const Lock& held) {
    return held.slot == slot_ && held.byte == byte && held.holder == this;
  });
  return {};
}

}  // namespace quipu::fs::sim
