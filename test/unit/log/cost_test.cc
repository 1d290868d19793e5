// What an append and a resume cost, in counts that no noise can change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "sim_store.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* counted(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace quipu::log {
namespace {

using fs::SimCall;
using testing::ElementsAre;

class Cost : public testing::Test {
 protected:
  Cost() {
    EXPECT_TRUE(store.api().create_session(named("s")).ok());
    for (int i = 0; i < 100; ++i) append_one();
  }
  void append_one(const AppendOptions& options = {}) {
    ASSERT_TRUE(
        store.append({entry("e" + std::to_string(next++), std::string(500, 'x'))}, options).ok());
  }
  std::vector<SimCall> calls_of_append(const AppendOptions& options) {
    disk.record(true);
    append_one(options);
    std::vector<SimCall> calls;
    for (const auto& record : disk.records()) calls.push_back(record.call);
    disk.record(false);
    return calls;
  }

  fs::SimDisk disk{std::size_t{16} << 20};  // bytes a file
  SimStore store{disk};
  int next = 0;
};

TEST_F(Cost, DurableAppendIsFiveCalls) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(calls_of_append({}),
                ElementsAre(SimCall::kTryLock, SimCall::kStat, SimCall::kAppend, SimCall::kSync,
                            SimCall::kUnlock));
  }
}

TEST_F(Cost, RelaxedAppendIsFourCalls) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(calls_of_append(relaxed()),
                ElementsAre(SimCall::kTryLock, SimCall::kStat, SimCall::kAppend, SimCall::kUnlock));
  }
}

TEST_F(Cost, BatchOfAHundredIsFiveCalls) {
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) lines.push_back(entry("b" + std::to_string(i)));
  disk.record(true);
  ASSERT_TRUE(store.append(lines).ok());
  EXPECT_LE(disk.records().size(), 7U);  // two more when the index grows a level
}

TEST_F(Cost, BytesWrittenAreTheLineItsSealAndItsParent) {
  const std::size_t before = disk.read_file(kLogPath)->size();
  const std::string line = entry("bytes", std::string(1000, 'y'));
  ASSERT_TRUE(store.append({line}).ok());
  const std::size_t grown = disk.read_file(kLogPath)->size() - before;
  const std::string parent = R"("parentId":"e)" + std::to_string(next - 1) + R"(",)";
  EXPECT_EQ(grown, line.size() + parent.size() + kSealBytes);  // the brace became the line feed
}

TEST_F(Cost, AllocationsOfAnAppendAreBoundedAndDoNotGrow) {
  const std::vector<std::string> lines{entry("alloc-1", std::string(5000, 'z'))};
  const std::vector<std::string> later{entry("alloc-2", std::string(5000, 'z'))};
  ASSERT_TRUE(store.append({entry("warm", std::string(6000, 'z'))}).ok());
  std::uint64_t before = allocations.load();
  ASSERT_TRUE(store.append(lines).ok());
  const std::uint64_t early = allocations.load() - before;
  for (int i = 0; i < 2000; ++i) append_one(relaxed());
  before = allocations.load();
  ASSERT_TRUE(store.append(later).ok());
  const std::uint64_t late = allocations.load() - before;
  // Those of the simulated disk are in here too.
  EXPECT_LE(early, 15U);
  EXPECT_LE(late, early + 5);
}

TEST_F(Cost, AllocationsPerEntryOfABatchAreBounded) {
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i) lines.push_back(entry("batch" + std::to_string(i)));
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  const std::uint64_t before = allocations.load();
  ASSERT_TRUE(store.api().append_session_lines("s", views).ok());
  EXPECT_LE((allocations.load() - before) / lines.size(), 2U);
}

// With an index, opening a session reads its first line and its last bytes.
TEST_F(Cost, ResumeReadsAFewBytesHoweverLongTheLog) {
  for (int i = 0; i < 3000; ++i) append_one(relaxed());
  SimStore fresh(disk, 2);
  disk.record(true);
  ASSERT_TRUE(fresh.append({entry("resumed")}).ok());
  std::size_t reads = 0;
  std::size_t all = 0;
  for (const auto& record : disk.records()) {
    reads += record.call == SimCall::kReadAt ? 1 : 0;
    ++all;
  }
  disk.record(false);
  EXPECT_LE(reads, 6U);
  EXPECT_LE(all, 30U);
}

TEST_F(Cost, ResumeAllocatesNothingPerEntry) {
  const auto resume = [&] {
    SimStore fresh(disk, 2);
    const std::uint64_t before = allocations.load();
    EXPECT_TRUE(fresh.api().session_ends("s").ok());
    EXPECT_TRUE(fresh.append({entry("r" + std::to_string(next++))}).ok());
    return allocations.load() - before;
  };
  const std::uint64_t early = resume();
  for (int i = 0; i < 3000; ++i) append_one(relaxed());
  const std::uint64_t late = resume();
  EXPECT_LE(late, early + 60) << early;
}

}  // namespace
}  // namespace quipu::log
