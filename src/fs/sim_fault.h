// Faults of the simulated disk: which call goes wrong, and how.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "fs/sim_inode.h"

namespace quipu::fs {

using sim::SyncFailure;

/// The calls of Fs and File. `boot_id` is none: it cannot fail.
enum class SimCall : std::uint8_t {
  kOpen,
  kCreateUnnamed,
  kLink,
  kLinkPath,
  kRename,
  kRemove,
  kMakeDir,
  kSyncDir,
  kList,
  kStat,
  kReadAt,
  kAppend,
  kWriteAt,
  kTruncate,
  kAllocate,
  kSync,
  kFileStat,
  kMap,
  kTryLock,
  kUnlock,
};

std::string_view name(SimCall call);

/// One call, as the recording mode remembers it.
struct CallRecord {
  SimCall call;
  std::string path;
  std::uint64_t process;  // 1 for the first process of the disk
};

/// How much of an append or write_at arrives.
enum class ShortWrite : std::uint8_t {
  kNone,
  kAllButOne,  // one byte too few
  kHalf,
  kOneByte,
};

/// Calls are numbered from 1, from when the plan is set, by disk or by process,
/// depending on where. The plan of a disk crashes the machine; that of a process kills the
/// process.
struct FaultPlan {
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

  /// Call `crash_after` is the last to have an effect; 0: none has.
  std::uint64_t crash_after = kNever;
  /// When that call is an append or write_at: how many of its bytes arrive.
  std::size_t crash_bytes = kWhole;
  /// Whether stores through shared mappings between the last call and the one
  /// that finds the machine dead still happen (disk plans only).
  bool late_stores = false;

  /// The call that fails, and with what. EINTR makes an append or write_at
  /// answer 0 and a read short; other calls repeat themselves below the seam.
  std::uint64_t fail_at = kNever;
  int error = EIO;
  /// Whether later calls fail as well: those that can fail with this errno.
  bool persistent = false;
  /// When call `fail_at` is an append or write_at: it succeeds, but is short,
  /// and the next append or write_at fails with `error` (0: it does not).
  ShortWrite short_write = ShortWrite::kNone;
  /// When the call that fails is a sync.
  SyncFailure sync_failure = SyncFailure::kKept;
};

namespace sim {

/// What a plan says about one call.
struct Verdict {
  bool dead = false;                      // no effect: crashed or killed
  bool last = false;                      // the machine crashes right after this call
  bool last_of_process = false;           // the process dies right after this call
  int error = 0;                          // fails with this errno
  bool interrupted = false;               // EINTR, for calls that show it
  std::size_t bytes = FaultPlan::kWhole;  // at most so many bytes are written
  ShortWrite short_write = ShortWrite::kNone;
  SyncFailure sync_failure = SyncFailure::kKept;

  bool refused() const { return dead || error != 0; }
  /// How many of `size` bytes this write may take.
  std::size_t limit(std::size_t size) const;
};

/// Counts calls and compares them with a plan.
class FaultState {
 public:
  void set(const FaultPlan& plan);
  Verdict next(SimCall call);
  /// After the last call before a crash.
  void die() { dead_ = true; }

  std::uint64_t calls() const { return calls_; }
  bool dead() const { return dead_; }
  /// Whether the fault (not the crash) was reached.
  bool fired() const { return fired_; }
  const FaultPlan& plan() const { return plan_; }

 private:
  FaultPlan plan_;
  std::uint64_t calls_ = 0;
  bool dead_ = false;
  bool fired_ = false;
  bool error_waits_ = false;  // for the write after a short one
};

}  // namespace sim
}  // namespace quipu::fs
