// Sweep: some work, cut off after every call to the file system in turn, or with each
// call in turn failing; then the disk is looked at under every crash policy.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <unordered_set>
#include <utility>

#include "fault/fixed_world.h"
#include "quipu/quipu.hpp"
#include "support/scale.h"

namespace quipu::fault {

using fs::SimDisk;

inline constexpr const char* kSession = "s";
inline constexpr std::uint64_t kSeeds = 2;

inline SimDisk disk_with_session() {
  SimDisk disk;
  Handle handle(1);
  EXPECT_TRUE(handle.open(disk.process(), true).ok());
  EXPECT_TRUE(handle.sessions().create_session({.id = kSession}).ok());
  EXPECT_TRUE(handle.store().close().ok());
  return disk.crash({.data = fs::DataLoss::kNothing, .names = fs::NameLoss::kAll}, 1);
}

/// Tells images of one crash apart. Policies often leave the same bytes under the same names, of
/// which one is looked at.
class SeenImages {
 public:
  bool insert(const fs::CrashPolicy& policy, const SimDisk& image) {
    // What is only killed has another boot id, and a state beside the durable one.
    if (policy.data == fs::DataLoss::kKilled) return !std::exchange(killed_, true);
    return seen_.insert(image.fingerprint()).second;
  }

 private:
  std::unordered_set<std::uint64_t> seen_;
  bool killed_ = false;
};

/// From one call that is crashed after to the next: small sizes take one in seven.
inline std::uint64_t calls_apart() { return test_scale() >= 1 ? 1 : 7; }

/// What was acknowledged is noted in `Acknowledged`; the judge gets it.
template <class Acknowledged>
struct Sweep {
  std::function<void(Store&, Acknowledged&)> work;
  std::function<void(Store&, const Acknowledged&)> judge;

  void crash_everywhere() const {
    const SimDisk prepared = disk_with_session();
    std::uint64_t looked = 0;
    for (std::uint64_t call = 0;; call += calls_apart()) {
      SimDisk disk = prepared;
      Acknowledged acknowledged;
      disk.set_faults({.crash_after = call});
      perform(disk, acknowledged);
      SeenImages seen;
      for (const fs::CrashPolicy& policy : fs::all_crash_policies()) {
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed, ++looked) {
          SimDisk after = disk.crash(policy, seed);
          if (!seen.insert(policy, after)) continue;
          SCOPED_TRACE("after call " + std::to_string(call) + ", " + fs::name(policy) + ", seed " +
                       std::to_string(seed));
          look(std::move(after), acknowledged);
          if (::testing::Test::HasFailure()) return;
        }
      }
      if (!disk.crashed()) {
        EXPECT_GT(call, 10u) << "the work asks more of the disk than that";
        EXPECT_GT(looked, 100u);
        return;
      }
    }
  }

  void fail_everywhere(int error) const {
    const SimDisk prepared = disk_with_session();
    for (std::uint64_t call = 1;; ++call) {
      SimDisk disk = prepared;
      Acknowledged acknowledged;
      disk.set_faults({.fail_at = call, .error = error});
      perform(disk, acknowledged);
      const bool fired = disk.fault_fired();
      SCOPED_TRACE("call " + std::to_string(call) + " fails with " + std::to_string(error));
      disk.set_faults({});
      look(disk.crash({.data = fs::DataLoss::kNothing, .names = fs::NameLoss::kAll}, 1),
           acknowledged);
      if (!fired || ::testing::Test::HasFailure()) return;
    }
  }

 private:
  void perform(SimDisk& disk, Acknowledged& acknowledged) const {
    Handle handle(2);
    if (handle.open(disk.process()).ok()) work(handle.store(), acknowledged);
  }
  void look(SimDisk after, const Acknowledged& acknowledged) const {
    Handle handle(3);
    ASSERT_TRUE(handle.open(after.process()).ok());
    judge(handle.store(), acknowledged);
  }
};

}  // namespace quipu::fault
