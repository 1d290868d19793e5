// One Fs used by several threads, and one SimDisk crashed while it is used.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fs/posix_fs.h"
#include "fs/sim_fs.h"
#include "unit/fs/temporary_directory.h"

namespace quipu::fs {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 200;

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

// Threads append to one log under the lock of one byte; nothing may be lost.
void hammer(Fs& fs) {
  ASSERT_TRUE(fs.make_dir("sessions").ok());
  { ASSERT_TRUE(fs.open("sessions/log", OpenMode::kCreateNew).ok()); }
  { ASSERT_TRUE(fs.open("lock", OpenMode::kCreate).ok()); }
  std::atomic<int> failures = 0;
  in_threads([&](int) {
    const auto log = std::move(fs.open("sessions/log", OpenMode::kAppend)).value();
    const auto lock = std::move(fs.open("lock", OpenMode::kReadWrite)).value();
    for (int i = 0; i < kRounds; ++i) {
      while (!lock->try_lock(5).value()) std::this_thread::yield();
      const std::uint64_t before = fs.stat("sessions/log")->size;
      if (!append_all(*log, "0123456789").ok()) ++failures;
      if (log->stat()->size != before + 10) ++failures;
      if (!lock->unlock(5).ok()) ++failures;
    }
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(fs.stat("sessions/log")->size, 10u * kThreads * kRounds);
}

TEST(FsThreads, PosixLocksAndAppends) {
  const TemporaryDirectory directory;
  hammer(*PosixFs::open(directory.path()).value());
}

TEST(FsThreads, SimLocksAndAppends) {
  SimDisk disk;
  hammer(*disk.process());
}

TEST(FsThreads, ImagesAreMadeAndUsedWhileTheDiskIsWritten) {
  SimDisk disk;
  disk.write_file("log", "start");
  const auto fs = disk.process();
  std::atomic<int> failures = 0;
  in_threads([&](int thread) {
    const auto log = std::move(fs->open("log", OpenMode::kAppend)).value();
    for (int i = 0; i < kRounds; ++i) {
      if (thread == 0) {
        if (!append_all(*log, "more").ok() || (i % 8 == 0 && !log->sync().ok())) ++failures;
        continue;
      }
      const auto& policies = all_crash_policies();
      SimDisk image = disk.crash(policies[static_cast<std::size_t>(i) % policies.size()],
                                 static_cast<std::uint64_t>(i));
      const auto after = image.process();
      const auto file = std::move(after->open("log", OpenMode::kAppend)).value();
      const Mapping mapping = file->map(0, 4096, MapMode::kRead).value();
      if (!append_all(*file, "recovered").ok()) ++failures;
      if (mapping.data()[0] != std::byte{'s'}) ++failures;
    }
  });
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace quipu::fs
