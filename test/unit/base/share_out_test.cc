#include "base/share_out.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace quipu {
namespace {

TEST(ShareOut, EveryPieceIsDoneOnce) {
  for (const std::size_t threads : {0u, 1u, 2u, 5u, 64u}) {
    for (const std::size_t count : {0u, 1u, 2u, 1000u}) {
      std::vector<std::atomic<int>> done(count);
      share_out(count, threads, [&](std::size_t i) { ++done[i]; });
      for (const auto& times : done) ASSERT_EQ(1, times) << count << " by " << threads;
    }
  }
}

}  // namespace
}  // namespace quipu
