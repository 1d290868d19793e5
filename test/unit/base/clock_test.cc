#include "base/clock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace quipu {
namespace {

using Bytes16 = std::array<std::byte, 16>;

Bytes16 draw() {
  Bytes16 bytes{};
  Random::system().fill(bytes);
  return bytes;
}

TEST(ClockTest, WallTimeIsPlausible) {
  const std::int64_t now = Clock::system().unix_ms();
  EXPECT_GT(now, 1'700'000'000'000);  // November 2023
  EXPECT_LT(now, 4'000'000'000'000);  // 2096: seconds or microseconds would be far off
}

TEST(ClockTest, MonotonicNeverGoesBack) {
  auto before = Clock::system().monotonic();
  for (int i = 0; i < 1000; ++i) {
    const auto now = Clock::system().monotonic();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(ClockTest, SleepTakesAtLeastAsLong) {
  const auto before = Clock::system().monotonic();
  Clock::system().sleep(std::chrono::microseconds(200));
  EXPECT_GE(Clock::system().monotonic() - before, std::chrono::microseconds(200));
  Clock::system().sleep(std::chrono::nanoseconds(-5));
}

TEST(RandomTest, DrawsDiffer) {
  std::set<Bytes16> seen;
  for (int i = 0; i < 5000; ++i) EXPECT_TRUE(seen.insert(draw()).second);
}

TEST(RandomTest, EverySizeIsFilledAndNothingPastIt) {
  for (const std::size_t size :
       {0u, 1u, 7u, 255u, 1023u, 1024u, 1025u, 4095u, 4096u, 4097u, 20'000u}) {
    std::vector<std::byte> bytes(size + 1, std::byte{0x5a});
    std::vector<bool> changed(size, false);
    // A random byte is what it was once in 256 times; not sixteen times running.
    for (int round = 0; round < 16; ++round) {
      const std::vector<std::byte> before = bytes;
      Random::system().fill(std::span(bytes).first(size));
      for (std::size_t i = 0; i < size; ++i) {
        if (bytes[i] != before[i]) changed[i] = true;
      }
    }
    EXPECT_EQ(std::count(changed.begin(), changed.end(), false), 0) << size;
    EXPECT_EQ(bytes[size], std::byte{0x5a}) << size;
  }
}

TEST(RandomTest, BitsAreBalanced) {
  std::array<int, 128> ones{};
  constexpr int kDraws = 4000;
  for (int n = 0; n < kDraws; ++n) {
    const Bytes16 bytes = draw();
    for (std::size_t bit = 0; bit < 128; ++bit) {
      ones[bit] += std::to_integer<int>(bytes[bit / 8] >> (bit % 8)) & 1;
    }
  }
  for (const int count : ones) {  // seven standard deviations
    EXPECT_GT(count, kDraws / 2 - 222);
    EXPECT_LT(count, kDraws / 2 + 222);
  }
}

TEST(RandomTest, ThreadsNeverShareBytes) {
  std::mutex mutex;
  std::set<Bytes16> seen;
  std::size_t drawn = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<Bytes16> mine(2000);
      for (Bytes16& bytes : mine) bytes = draw();
      const std::scoped_lock lock(mutex);
      seen.insert(mine.begin(), mine.end());
      drawn += mine.size();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), drawn);
}

TEST(RandomTest, ParentAndChildDifferAfterFork) {
  draw();  // the buffer now holds bytes that a child would inherit
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Bytes16 bytes = draw();
    const bool written = ::write(ends[1], bytes.data(), bytes.size()) == 16;
    ::_exit(written ? 0 : 1);
  }
  const Bytes16 ours = draw();
  Bytes16 theirs{};
  EXPECT_EQ(::read(ends[0], theirs.data(), theirs.size()), 16);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_NE(ours, theirs);
}

}  // namespace
}  // namespace quipu
