#include "fs/sim_fault.h"

#include <algorithm>

namespace quipu::fs {

std::string_view name(SimCall call) {
  switch (call) {
    case SimCall::kOpen:
      return "open";
    case SimCall::kCreateUnnamed:
      return "create_unnamed";
    case SimCall::kLink:
      return "link";
    case SimCall::kLinkPath:
      return "link_path";
    case SimCall::kRename:
      return "rename";
    case SimCall::kRemove:
      return "remove";
    case SimCall::kMakeDir:
      return "make_dir";
    case SimCall::kSyncDir:
      return "sync_dir";
    case SimCall::kList:
      return "list";
    case SimCall::kStat:
      return "stat";
    case SimCall::kReadAt:
      return "read_at";
    case SimCall::kAppend:
      return "append";
    case SimCall::kWriteAt:
      return "write_at";
    case SimCall::kTruncate:
      return "truncate";
    case SimCall::kAllocate:
      return "allocate";
    case SimCall::kSync:
      return "sync";
    case SimCall::kFileStat:
      return "file_stat";
    case SimCall::kMap:
      return "map";
    case SimCall::kTryLock:
      return "try_lock";
    case SimCall::kUnlock:
      return "unlock";
  }
  return "?";
}

namespace sim {
namespace {

bool writes_bytes(SimCall call) { return call == SimCall::kAppend || call == SimCall::kWriteAt; }

// Whether a disk with this lasting trouble would fail the call. A full disk can
// be read, a read-only one as well; a lock is kept in memory.
bool can_fail(SimCall call, int error) {
  switch (call) {
    case SimCall::kTryLock:
    case SimCall::kUnlock:
      return false;
    case SimCall::kAppend:
    case SimCall::kWriteAt:
    case SimCall::kAllocate:
    case SimCall::kCreateUnnamed:
    case SimCall::kLink:
    case SimCall::kLinkPath:
    case SimCall::kMakeDir:
    case SimCall::kSync:
    case SimCall::kSyncDir:
      return true;
    case SimCall::kRename:
    case SimCall::kRemove:
    case SimCall::kTruncate:
      return error != ENOSPC && error != EDQUOT && error != EFBIG;
    default:
      return error == EIO || error == ESTALE || error == ENODEV || error == ENXIO;
  }
}

}  // namespace

std::size_t Verdict::limit(std::size_t size) const {
  std::size_t most = std::min(size, bytes);
  switch (short_write) {
    case ShortWrite::kNone:
      break;
    case ShortWrite::kAllButOne:
      most = std::min(most, size - std::min<std::size_t>(size, 1));
      break;
    case ShortWrite::kHalf:
      most = std::min(most, size / 2);
      break;
    case ShortWrite::kOneByte:
      most = std::min<std::size_t>(most, 1);
      break;
  }
  return most;
}

void FaultState::set(const FaultPlan& plan) {
  *this = FaultState();
  plan_ = plan;
}

Verdict FaultState::next(SimCall call) {
  Verdict verdict;
  if (dead_ || calls_ >= plan_.crash_after) {
    dead_ = true;
    verdict.dead = true;
    return verdict;
  }
  const std::uint64_t number = ++calls_;
  if (number == plan_.crash_after) {
    verdict.last = true;
    if (writes_bytes(call)) verdict.bytes = plan_.crash_bytes;
  }
  if (number < plan_.fail_at) return verdict;

  bool fails = false;
  if (number == plan_.fail_at) {
    fired_ = true;
    if (writes_bytes(call) && plan_.short_write != ShortWrite::kNone) {
      verdict.short_write = plan_.short_write;
      error_waits_ = plan_.error != 0;
    } else {
      fails = true;
    }
  } else if (error_waits_ && writes_bytes(call)) {
    fails = true;
    error_waits_ = false;
  } else {
    fails = plan_.persistent && (plan_.error == EINTR || can_fail(call, plan_.error));
  }
  if (fails && plan_.error == EINTR) {
    verdict.interrupted = true;
  } else if (fails) {
    verdict.error = plan_.error;
    verdict.sync_failure = plan_.sync_failure;
  }
  return verdict;
}

}  // namespace sim
}  // namespace quipu::fs
