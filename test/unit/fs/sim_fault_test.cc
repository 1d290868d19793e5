// The simulated disk: calls that fail, are short, or are the last.
#include <gtest/gtest.h>

#include "fs/sim_fs.h"

namespace quipu::fs {
namespace {

constexpr CrashPolicy kLoseAll = {DataLoss::kNothing, NameLoss::kAll};

/// Calls: 1 open, 2 append, 3 sync, 4 sync_dir, 5 append.
Result<void> workload(Fs& fs) {
  auto file = fs.open("log", OpenMode::kCreateNew);
  if (!file.ok()) return std::move(file).error();
  if (auto done = append_all(**file, "0123456789"); !done.ok()) return done;
  if (auto done = (*file)->sync(); !done.ok()) return done;
  if (auto done = fs.sync_dir(""); !done.ok()) return done;
  return append_all(**file, "more");
}

TEST(SimFaults, CallsAreCountedAndNamed) {
  SimDisk disk;
  disk.record(true);
  const auto fs = disk.process();
  ASSERT_TRUE(workload(*fs).ok());
  EXPECT_EQ(disk.calls(), 5u);
  EXPECT_EQ(fs->calls(), 5u);
  const SimCall expected[] = {SimCall::kOpen, SimCall::kAppend, SimCall::kSync, SimCall::kSyncDir,
                              SimCall::kAppend};
  const auto records = disk.records();
  ASSERT_EQ(records.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(records[i].call, expected[i]);
  EXPECT_EQ(records[1].path, "log");
  EXPECT_EQ(records[1].process, 1u);
  EXPECT_EQ(name(records[3].call), "sync_dir");
}

TEST(SimFaults, AfterTheCrashNothingHasAnEffect) {
  const char* const cache[] = {"-", "", "0123456789", "0123456789", "0123456789", "0123456789more"};
  const char* const medium[] = {"-", "-", "-", "-", "0123456789", "0123456789"};
  for (std::uint64_t last = 0; last <= 5; ++last) {
    SimDisk disk;
    const auto fs = disk.process();
    disk.set_faults({.crash_after = last});
    const auto result = workload(*fs);
    EXPECT_EQ(result.ok(), last == 5);
    if (!result.ok()) {
      EXPECT_EQ(result.error().code(), Code::kIoError);
      EXPECT_NE(result.error().message().find("crashed"), std::string::npos);
    }
    EXPECT_TRUE(disk.crashed());
    EXPECT_FALSE(fs->list("").ok());
    EXPECT_EQ(disk.calls(), last);
    EXPECT_EQ(disk.read_file("log").value_or("-"), cache[last]) << last;
    EXPECT_EQ(disk.crash(kLoseAll, 0).read_file("log").value_or("-"), medium[last]) << last;
    SimDisk image = disk.crash(kLoseAll, 0);
    EXPECT_TRUE(image.process()->list("").ok()) << "an image has no plan";
  }
}

TEST(SimFaults, TheCrashMayComeInsideAnAppend) {
  for (std::size_t bytes = 0; bytes <= 10; ++bytes) {
    SimDisk disk;
    disk.set_faults({.crash_after = 2, .crash_bytes = bytes});
    EXPECT_FALSE(workload(*disk.process()).ok());
    EXPECT_EQ(disk.read_file("log")->size(), bytes);
  }
}

TEST(SimFaults, StoresAfterTheCrashAreLostOrNot) {
  for (const bool late : {false, true}) {
    SimDisk disk;
    disk.write_file("idx", "....");
    const auto fs = disk.process();
    const auto file = std::move(fs->open("idx", OpenMode::kReadWrite)).value();
    const Mapping mapping = file->map(0, 4, MapMode::kShared).value();
    disk.set_faults({.crash_after = 1, .late_stores = late});
    mapping.data()[0] = std::byte{'a'};
    ASSERT_TRUE(file->stat().ok());
    mapping.data()[1] = std::byte{'b'};
    ASSERT_FALSE(file->stat().ok());
    mapping.data()[2] = std::byte{'c'};
    EXPECT_EQ(disk.read_file("idx"), late ? "ab.." : "a...");
  }
}

TEST(SimFaults, ACallFailsOnceWithoutEffect) {
  for (std::uint64_t at = 1; at <= 5; ++at) {
    SimDisk disk;
    const auto fs = disk.process();
    disk.set_faults({.fail_at = at, .error = EROFS});
    const auto result = workload(*fs);
    ASSERT_FALSE(result.ok()) << at;
    EXPECT_EQ(result.error().code(), Code::kStorageGone);
    EXPECT_TRUE(disk.fault_fired());
    EXPECT_TRUE(fs->list("").ok());
    EXPECT_EQ(
        disk.read_file("log").value_or("-"),
        (std::vector<std::string>{"-", "", "0123456789", "0123456789", "0123456789"})[at - 1]);
  }
  SimDisk disk;
  disk.set_faults({.fail_at = 6});
  EXPECT_TRUE(workload(*disk.process()).ok());
  EXPECT_FALSE(disk.fault_fired());
}

TEST(SimFaults, LastingTroubleFailsWhatItCan) {
  SimDisk disk;
  disk.write_file("f", "x");
  const auto fs = disk.process();
  const auto file = std::move(fs->open("f", OpenMode::kAppend)).value();
  disk.set_faults({.fail_at = 1, .error = ENOSPC, .persistent = true});
  char into[1];
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(file->append("y").error().code(), Code::kNoSpace);
    EXPECT_TRUE(file->read_at(into, 0).ok());
    EXPECT_TRUE(file->try_lock(0).ok());
    EXPECT_TRUE(fs->stat("f").ok());
  }
  EXPECT_TRUE(fs->remove("f").ok());
  disk.set_faults({.fail_at = 1, .error = EIO, .persistent = true});
  EXPECT_FALSE(file->append("y").ok());
  EXPECT_FALSE(file->read_at(into, 0).ok());
  EXPECT_FALSE(fs->stat("f").ok());
}

TEST(SimFaults, ShortWritesGoOn) {
  const std::pair<ShortWrite, std::size_t> expected[] = {
      {ShortWrite::kAllButOne, 9}, {ShortWrite::kHalf, 5}, {ShortWrite::kOneByte, 1}};
  for (const auto& [how, size] : expected) {
    SimDisk disk;
    const auto fs = disk.process();
    disk.set_faults({.fail_at = 2, .error = 0, .short_write = how});
    const auto file = std::move(fs->open("log", OpenMode::kCreateNew)).value();
    EXPECT_EQ(file->append("0123456789").value(), size);

    SimDisk again;
    again.set_faults({.fail_at = 2, .error = 0, .short_write = how});
    EXPECT_TRUE(workload(*again.process()).ok());
    EXPECT_EQ(again.read_file("log"), "0123456789more");
    EXPECT_EQ(again.calls(), 6u);

    SimDisk full;
    full.set_faults({.fail_at = 2, .error = ENOSPC, .short_write = how});
    const auto result = workload(*full.process());
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), Code::kNoSpace);
    EXPECT_EQ(full.read_file("log")->size(), size);
  }
}

TEST(SimFaults, ShortWritesInTheMiddleGoOnWhereTheyStopped) {
  SimDisk disk;
  const auto fs = disk.process();
  const auto file = std::move(fs->open("idx", OpenMode::kCreate)).value();
  disk.set_faults({.fail_at = 1, .error = 0, .short_write = ShortWrite::kHalf});
  ASSERT_TRUE(write_all_at(*file, "0123456789", 2).ok());
  EXPECT_EQ(disk.calls(), 2u);
  EXPECT_EQ(disk.read_file("idx"), std::string("\0\0", 2) + "0123456789");
}

TEST(SimFaults, InterruptionsBetweenProgressAreForgotten) {
  // Takes a byte every 1000th call: never a thousand fruitless ones in a row.
  class Slow : public File {
   public:
    Result<std::size_t> append(std::string_view) override { return ++calls % 1000 == 0 ? 1u : 0u; }
    Result<std::uint64_t> append_end() override { return 0u; }
    Result<std::size_t> read_at(std::span<char>, std::uint64_t) override { return 0u; }
    Result<std::size_t> write_at(std::string_view, std::uint64_t) override { return 0u; }
    Result<void> truncate(std::uint64_t) override { return {}; }
    Result<void> allocate(std::uint64_t, std::uint64_t) override { return {}; }
    Result<void> sync() override { return {}; }
    Result<Stat> stat() override { return Stat{}; }
    Result<Mapping> map(std::uint64_t, std::size_t, MapMode) override { return Mapping(); }
    Result<bool> try_lock(std::uint64_t) override { return true; }
    Result<void> unlock(std::uint64_t) override { return {}; }
    std::size_t calls = 0;
  };
  Slow file;
  EXPECT_TRUE(append_all(file, "abc").ok());
  EXPECT_EQ(file.calls, 3000u);
}

TEST(SimFaults, InterruptionsAreRepeatedButNotForEver) {
  for (std::uint64_t at = 1; at <= 5; ++at) {
    SimDisk disk;
    disk.set_faults({.fail_at = at, .error = EINTR});
    EXPECT_TRUE(workload(*disk.process()).ok()) << at;
    EXPECT_EQ(disk.read_file("log"), "0123456789more");
  }
  SimDisk disk;
  disk.set_faults({.fail_at = 2, .error = EINTR, .persistent = true});
  const auto result = workload(*disk.process());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::kIoError);
  EXPECT_EQ(disk.calls(), 1001u);
}

TEST(SimFaults, InterruptedReadsAreShortAndGoOn) {
  SimDisk disk;
  disk.write_file("f", "0123456789");
  const auto fs = disk.process();
  const auto file = std::move(fs->open("f", OpenMode::kRead)).value();
  disk.set_faults({.fail_at = 1, .error = EINTR, .persistent = true});
  EXPECT_EQ(read_exactly(*file, 0, 10).value(), "0123456789");
  EXPECT_GT(disk.calls(), 1u);
}

/// A log with "old," durable and "lost," in a sync that failed.
class FailedSync : public testing::Test {
 protected:
  void fail(SyncFailure how) {
    disk_.write_file("log", "old,");
    fs_ = disk_.process();
    log_ = std::move(fs_->open("log", OpenMode::kAppend)).value();
    ASSERT_TRUE(append_all(*log_, "lost,").ok());
    disk_.set_faults({.fail_at = 1, .error = EIO, .sync_failure = how});
    const auto result = log_->sync();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), Code::kIoError);
  }
  std::string durable() { return disk_.crash(kLoseAll, 0).read_file("log").value(); }

  SimDisk disk_;
  std::unique_ptr<SimFs> fs_;
  std::unique_ptr<File> log_;
};

TEST_F(FailedSync, KeptPagesAreReadableButNotDurableAndSyncingAgainProvesNothing) {
  fail(SyncFailure::kKept);
  EXPECT_EQ(disk_.read_file("log"), "old,lost,");
  EXPECT_TRUE(log_->sync().ok());
  EXPECT_EQ(durable(), "old,");
  for (const CrashPolicy policy : all_crash_policies()) {
    if (policy.data == DataLoss::kKilled) continue;
    EXPECT_EQ(disk_.crash(policy, 3).read_file("log"), "old,") << name(policy);
  }
}

TEST_F(FailedSync, LaterPagesReachTheMediumAndLeaveAHole) {
  fail(SyncFailure::kKept);
  ASSERT_TRUE(append_all(*log_, std::string(4096, 'n')).ok());
  ASSERT_TRUE(append_all(*log_, "end").ok());
  EXPECT_TRUE(log_->sync().ok());
  // The page that held the lost bytes is written again, as it is in the cache.
  EXPECT_EQ(durable(), "old,lost," + std::string(4096, 'n') + "end");
}

TEST(FailedSyncPages, LostPagesThatNobodyTouchesAgainStayLost) {
  SimDisk disk;
  disk.write_file("log", std::string(4096, 'o'));
  const auto fs = disk.process();
  const auto log = std::move(fs->open("log", OpenMode::kAppend)).value();
  ASSERT_TRUE(append_all(*log, std::string(4096, 'l')).ok());
  disk.set_faults({.fail_at = 1});
  ASSERT_FALSE(log->sync().ok());
  ASSERT_TRUE(append_all(*log, "new").ok());
  ASSERT_TRUE(log->sync().ok());
  const std::string expected = std::string(4096, 'o') + std::string(4096, '\0') + "new";
  EXPECT_EQ(disk.crash(kLoseAll, 0).read_file("log"), expected);
  EXPECT_EQ(disk.crash({DataLoss::kEverything, NameLoss::kAll}, 0).read_file("log"), expected);
}

TEST_F(FailedSync, RevertedPagesShowTheMedium) {
  fail(SyncFailure::kReverted);
  EXPECT_EQ(disk_.read_file("log"), "old,");
  EXPECT_TRUE(log_->sync().ok());
  EXPECT_EQ(durable(), "old,");
  ASSERT_TRUE(append_all(*log_, "next").ok());
  ASSERT_TRUE(log_->sync().ok());
  EXPECT_EQ(durable(), "old,next");
}

TEST_F(FailedSync, TheErrorMayBeTheOnlyThingThatFailed) {
  fail(SyncFailure::kDone);
  EXPECT_EQ(durable(), "old,lost,");
}

TEST(FailedSyncNames, AFailedDirectorySyncLeavesNamesUnsynced) {
  SimDisk disk;
  const auto fs = disk.process();
  disk.set_faults({.fail_at = 4});
  EXPECT_FALSE(workload(*fs).ok());
  EXPECT_TRUE(disk.crash(kLoseAll, 0).files().empty());
}

TEST(SimProcesses, AKilledProcessLosesItsLocksAndNothingElse) {
  SimDisk disk;
  disk.write_file("store.lck", "");
  const auto first = disk.process();
  const auto second = disk.process();
  const auto mine = std::move(first->open("store.lck", OpenMode::kReadWrite)).value();
  const auto theirs = std::move(second->open("store.lck", OpenMode::kReadWrite)).value();
  ASSERT_TRUE(mine->try_lock(1).value());
  ASSERT_FALSE(theirs->try_lock(1).value());
  ASSERT_TRUE(write_all_at(*mine, "x", 0).ok());
  first->kill();
  EXPECT_TRUE(first->dead());
  EXPECT_TRUE(theirs->try_lock(1).value());
  EXPECT_FALSE(write_all_at(*mine, "y", 0).ok());
  EXPECT_FALSE(first->list("").ok());
  EXPECT_EQ(disk.read_file("store.lck"), "x");
  EXPECT_TRUE(second->list("").ok());
}

TEST(SimProcesses, AProcessThatCrashesLosesItsLocks) {
  SimDisk disk;
  disk.write_file("store.lck", "");
  const auto first = disk.process();
  const auto second = disk.process();
  const auto mine = std::move(first->open("store.lck", OpenMode::kReadWrite)).value();
  const auto theirs = std::move(second->open("store.lck", OpenMode::kReadWrite)).value();
  first->set_faults({.crash_after = 1});
  ASSERT_TRUE(mine->try_lock(1).value());
  EXPECT_TRUE(theirs->try_lock(1).value());
}

TEST(SimProcesses, APlanOfAProcessLeavesOthersAlone) {
  SimDisk disk;
  const auto first = disk.process();
  const auto second = disk.process();
  first->set_faults({.crash_after = 2, .crash_bytes = 4});
  EXPECT_FALSE(workload(*first).ok());
  EXPECT_FALSE(disk.crashed());
  const auto file = std::move(second->open("log", OpenMode::kAppend)).value();
  EXPECT_TRUE(append_all(*file, "!").ok());
  EXPECT_EQ(disk.read_file("log"), "0123!");
  second->set_faults({.fail_at = 1, .error = ENOSPC});
  EXPECT_EQ(file->append("?").error().code(), Code::kNoSpace);
  EXPECT_TRUE(file->append("?").ok());
}

TEST(SimProcesses, LocksDoNotSurviveInImages) {
  SimDisk disk;
  disk.write_file("store.lck", "");
  const auto fs = disk.process();
  const auto file = std::move(fs->open("store.lck", OpenMode::kReadWrite)).value();
  ASSERT_TRUE(file->try_lock(1).value());
  SimDisk copy = disk;
  const auto other = std::move(copy.process()->open("store.lck", OpenMode::kReadWrite)).value();
  EXPECT_TRUE(other->try_lock(1).value());
}

}  // namespace
}  // namespace quipu::fs
