#include "base/share_out.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
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

TEST(ShareOut, WhatIsThrownComesBackToTheCaller) {
  for (const std::size_t threads : {1u, 4u}) {
    std::atomic<int> done = 0;
    const auto work = [&](std::size_t i) {
      if (i == 3) throw std::bad_alloc();
      ++done;
    };
    EXPECT_THROW(share_out(1000, threads, work), std::bad_alloc);
    EXPECT_LT(done, 1000);
  }
}

}  // namespace
}  // namespace quipu
