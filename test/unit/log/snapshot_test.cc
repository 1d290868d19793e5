// What readers see: no lock, no writes, the same answers with and without index.
#include "log/snapshot.h"

#include <gtest/gtest.h>

#include "log_text.h"
#include "sim_store.h"

namespace quipu::log {
namespace {

using fs::SimCall;

class Snapshot : public testing::Test {
 protected:
  Snapshot() { EXPECT_TRUE(store.api().create_session(named("s")).ok()); }
  void must_append(const std::vector<std::string>& lines) {
    const auto appended = store.append(lines);
    ASSERT_TRUE(appended.ok()) << appended.error().message();
  }
  Result<std::shared_ptr<const LogSnapshot>> open() {
    return LogSnapshot::open(*process, file::paths_of("s"), {.k0 = 5, .k1 = 6}, nullptr);
  }
  static Ids ids_of(const LogSnapshot& snapshot) {
    Ids ids;
    for (Ordinal own = 1; own < snapshot.size(); ++own) {
      const auto id = snapshot.id(own);
      ids.push_back(id.ok() ? *id : "!" + id.error().message());
    }
    return ids;
  }

  fs::SimDisk disk;
  SimStore store{disk};
  std::unique_ptr<fs::SimFs> process = disk.process();
};

// Found by the kill loop: a writer cut a torn tail off after the reader had looked
// at the file's size, and the reader called the log corrupt.
TEST_F(Snapshot, ATornTailMayVanishWhileItIsLookedAt) {
  must_append({entry("a")});
  const std::string whole = *disk.read_file(kLogPath);
  const auto log = process->open(kLogPath, fs::OpenMode::kRead);
  ASSERT_TRUE(log.ok());
  for (const std::size_t torn : {1U, 5'000U, 200'000U}) {
    const auto length = settled_length(**log, 0, whole.size() + torn);
    ASSERT_TRUE(length.ok()) << length.error().message();
    EXPECT_EQ(*length, whole.size());
    const auto nothing_new = settled_length(**log, whole.size(), whole.size() + torn);
    ASSERT_TRUE(nothing_new.ok()) << nothing_new.error().message();
    EXPECT_EQ(*nothing_new, whole.size());
    const auto first = first_line(**log, whole.size() + torn);
    ASSERT_TRUE(first.ok()) << first.error().message();
    EXPECT_EQ(*first, whole.substr(0, whole.find('\n')));
  }
}

TEST_F(Snapshot, ReadersWriteNothingAndTakeNoLock) {
  must_append({entry("a"), entry("b")});
  disk.write_file(kLogPath, *disk.read_file(kLogPath) + "{\"torn");
  disk.record(true);
  const auto snapshot = open();
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(ids_of(**snapshot), (Ids{"a", "b"}));
  for (const auto& record : disk.records()) {
    EXPECT_TRUE(record.call == SimCall::kOpen || record.call == SimCall::kStat ||
                record.call == SimCall::kFileStat || record.call == SimCall::kReadAt ||
                record.call == SimCall::kMap)
        << name(record.call);
  }
}

TEST_F(Snapshot, StaysAsItWas) {
  must_append({entry("a")});
  const auto snapshot = open();
  ASSERT_TRUE(snapshot.ok());
  for (int i = 0; i < 300; ++i) must_append({entry("e" + std::to_string(i))});
  EXPECT_EQ(ids_of(**snapshot), (Ids{"a"}));
  EXPECT_EQ((*snapshot)->find("e1").value(), std::nullopt);
  ASSERT_TRUE((*snapshot)->find("a")->has_value());
}

TEST_F(Snapshot, SeesABatchThatItsWriterCouldNotPublish) {
  must_append({entry("a")});
  const std::string index = *disk.read_file(kIndexPath);
  must_append({entry("b"), entry("c")});
  disk.write_file(kIndexPath, index);
  const auto snapshot = open();
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(ids_of(**snapshot), (Ids{"a", "b", "c"}));
}

TEST_F(Snapshot, SameAnswersWithoutIndex) {
  for (int i = 0; i < 200; ++i)
    must_append({entry("e" + std::to_string(i)), entry("f" + std::to_string(i))});
  const auto with = open();
  ASSERT_TRUE(with.ok());
  const Ids expected = ids_of(**with);
  disk.remove_file(kIndexPath);
  const auto without = open();
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(ids_of(**without), expected);
  EXPECT_EQ((*without)->state().fold.head, (*with)->state().fold.head);
  EXPECT_EQ((*without)->state().chain, (*with)->state().chain);
  EXPECT_EQ((*without)->state().committed, (*with)->state().committed);
  EXPECT_EQ(*(*without)->find("f77").value(), *(*with)->find("f77").value());
}

TEST_F(Snapshot, IndexDamagedAfterOpeningIsComputedAnew) {
  for (int i = 0; i < 30; ++i) must_append({entry("e" + std::to_string(i))});
  for (std::size_t at = 512; at < 4096; at += 13) {
    ASSERT_TRUE(disk.flip(kIndexPath, at, 0x40));
    const auto snapshot = open();
    ASSERT_TRUE(snapshot.ok()) << at;
    ASSERT_EQ((*snapshot)->size(), 31U) << at;
    for (Ordinal own = 1; own < 31; ++own) {
      const std::string id = "e" + std::to_string(own - 1);
      const auto found = (*snapshot)->find(id);
      ASSERT_TRUE(found.ok()) << at;
      ASSERT_TRUE(found->has_value()) << at << " " << id;
      ASSERT_EQ(**found, own) << at;
      ASSERT_EQ((*snapshot)->id(own).value(), id) << at;
    }
    ASSERT_TRUE(disk.flip(kIndexPath, at, 0x40));
  }
}

TEST_F(Snapshot, IndexOfAnEarlierBootIsNotBelieved) {
  must_append({entry("a"), entry("b")});
  disk.set_boot_id(disk.process()->boot_id() + 1);
  process = disk.process();
  // A false state that the old boot never saw written out.
  ASSERT_TRUE(disk.flip(kIndexPath, 3000, 0xff));
  const auto snapshot = open();
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(ids_of(**snapshot), (Ids{"a", "b"}));
}

TEST_F(Snapshot, MissingLogIsNotFound) {
  const auto missing = LogSnapshot::open(*process, file::paths_of("t"), {}, nullptr);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), Code::kNotFound);
}

TEST_F(Snapshot, EmptyLogIsASessionWithoutEntries) {
  disk.write_file("sessions/t.jsonl", "");
  const auto empty = LogSnapshot::open(*process, file::paths_of("t"), {}, nullptr);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ((*empty)->size(), 0U);
}

TEST_F(Snapshot, LineWithoutIdHasOneThatStays) {
  disk.write_file("sessions/t.jsonl",
                  "{\"x\":1}\n{\"id\":\"a\"}\n{\"id\":\"a\"}\n{\"id\":\"a\"}\n");
  const auto opened = LogSnapshot::open(*process, file::paths_of("t"), {}, nullptr);
  ASSERT_TRUE(opened.ok());
  const LogSnapshot& snapshot = **opened;
  ASSERT_EQ(snapshot.size(), 4U);
  EXPECT_EQ(snapshot.id(0).value(), "adopted-00000000");
  EXPECT_EQ(snapshot.id(1).value(), "a");
  EXPECT_EQ(snapshot.id(2).value(), "a~2");
  EXPECT_EQ(snapshot.id(3).value(), "a~3");
  EXPECT_EQ(*snapshot.find("a~3").value(), 3U);
}

}  // namespace
}  // namespace quipu::log
