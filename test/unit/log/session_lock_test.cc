#include "log/session_lock.h"

#include <gtest/gtest.h>

#include <set>

#include "sim_store.h"

namespace quipu::log {
namespace {

using std::chrono::milliseconds;

class SessionLock : public testing::Test {
 protected:
  std::unique_ptr<LockFile> locks(fs::SimFs& process, milliseconds wait = milliseconds(100)) {
    auto file = process.open("store.lck", fs::OpenMode::kCreate);
    EXPECT_TRUE(file.ok());
    return std::make_unique<LockFile>(std::move(file).value(), clock, wait);
  }

  fs::SimDisk disk;
  std::unique_ptr<fs::SimFs> first = disk.process();
  std::unique_ptr<fs::SimFs> second = disk.process();
  FakeClock clock;
};

TEST_F(SessionLock, BusyAfterTheWaitAndNotBefore) {
  const auto ours = locks(*first);
  const auto theirs = locks(*second);
  const auto held = ours->acquire("s");
  ASSERT_TRUE(held.ok());
  const auto refused = theirs->acquire("s");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kBusy);
  EXPECT_TRUE(refused.error().retryable());
  EXPECT_GE(clock.now, milliseconds(100));
  EXPECT_LE(clock.now, milliseconds(103));
  EXPECT_GT(clock.sleeps, 3);
}

TEST_F(SessionLock, NoWaitMeansOneTry) {
  const auto ours = locks(*first);
  const auto theirs = locks(*second, milliseconds(0));
  const auto held = ours->acquire("s");
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(theirs->acquire("s").ok());
  EXPECT_EQ(clock.sleeps, 0);
}

TEST_F(SessionLock, FreeWhenReleased) {
  const auto ours = locks(*first);
  const auto theirs = locks(*second);
  { ASSERT_TRUE(ours->acquire("s").ok()); }
  EXPECT_TRUE(theirs->acquire("s").ok());
  EXPECT_EQ(clock.sleeps, 0);
}

TEST_F(SessionLock, OtherSessionsDoNotWait) {
  const auto ours = locks(*first);
  const auto theirs = locks(*second);
  const auto held = ours->acquire("s");
  ASSERT_TRUE(held.ok());
  EXPECT_TRUE(theirs->acquire("t").ok());
}

TEST_F(SessionLock, FreedByTheDeathOfItsHolder) {
  const auto ours = locks(*first);
  const auto theirs = locks(*second);
  const auto held = ours->acquire("s");
  ASSERT_TRUE(held.ok());
  first->kill();
  EXPECT_TRUE(theirs->acquire("s").ok());
  EXPECT_EQ(clock.sleeps, 0);
}

// Somebody who dies while we wait.
TEST_F(SessionLock, WaiterGetsItWhenTheHolderDies) {
  class KillingClock : public FakeClock {
   public:
    explicit KillingClock(fs::SimFs& victim) : victim_(victim) {}
    void sleep(std::chrono::nanoseconds duration) override {
      FakeClock::sleep(duration);
      if (sleeps == 4) victim_.kill();
    }

   private:
    fs::SimFs& victim_;
  };
  KillingClock killing(*first);
  const auto ours = locks(*first);
  auto file = second->open("store.lck", fs::OpenMode::kCreate);
  ASSERT_TRUE(file.ok());
  LockFile theirs(std::move(file).value(), killing, milliseconds(100));
  const auto held = ours->acquire("s");
  ASSERT_TRUE(held.ok());
  EXPECT_TRUE(theirs.acquire("s").ok());
  EXPECT_EQ(killing.sleeps, 4);
}

TEST(LockByte, StaysAwayFromTheFilesOwnBytesAndSpreads) {
  std::set<std::uint64_t> bytes;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t byte = lock_byte("session-" + std::to_string(i));
    EXPECT_GE(byte, std::uint64_t{1} << 32);
    EXPECT_LT(byte, std::uint64_t{1} << 62);
    bytes.insert(byte);
  }
  EXPECT_EQ(bytes.size(), 10'000U);
}

TEST(StoreLock, AppendToASessionHeldElsewhereIsBusy) {
  fs::SimDisk disk;
  SimStore store(disk);
  ASSERT_TRUE(store.api().create_session(named("s")).ok());
  ASSERT_TRUE(store.append({entry("a")}).ok());
  auto other = disk.process();
  auto file = other->open("store.lck", fs::OpenMode::kReadWrite);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->try_lock(lock_byte("s")).value());
  const auto appended = store.append({entry("b")});
  ASSERT_FALSE(appended.ok());
  EXPECT_EQ(appended.error().code(), Code::kBusy);
  EXPECT_EQ(store.ids(), (Ids{"a"})) << "readers do not wait";
  other->kill();
  EXPECT_TRUE(store.append({entry("b")}).ok());
}

}  // namespace
}  // namespace quipu::log
