// Sweep: some work, cut off after every call to the file system in turn, or with each
// call in turn failing; then the disk is looked at under every crash policy.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

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
      for (const fs::CrashPolicy& policy : fs::all_crash_policies()) {
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed, ++looked) {
          SCOPED_TRACE("after call " + std::to_string(call) + ", " + fs::name(policy) + ", seed " +
                       std::to_string(seed));
          look(disk.crash(policy, seed), acknowledged);
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
