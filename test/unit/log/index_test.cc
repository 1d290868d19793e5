#include "log/index.h"

#include <gtest/gtest.h>

#include <string>

#include "fs/sim_fs.h"

namespace quipu::log {
namespace {

using fs::MapMode;
using fs::OpenMode;

constexpr SipKey kKey{.k0 = 1, .k1 = 2};
constexpr Ordinal kMany = 1700;  // four levels

IndexEntry made(const Index& index, Ordinal own) {
  IndexEntry entry;
  entry.offset = (std::uint64_t{own} << 20) + 7;
  entry.bytes = own + 1;
  entry.adopted = own % 3 == 0;
  entry.renamed = own % 5 == 0;
  entry.id_hash = index.hash("id" + std::to_string(own));
  entry.place.parent = own == 0 ? kNone : own - 1;
  entry.place.depth = own;
  entry.place.type = own % 7 == 0 ? EntryType::kLabel : EntryType::kMessage;
  entry.place.orphan = own % 11 == 0;
  return entry;
}

void expect_same(const IndexEntry& a, const IndexEntry& b, Ordinal own) {
  ASSERT_EQ(a.offset, b.offset) << own;
  ASSERT_EQ(a.bytes, b.bytes) << own;
  ASSERT_EQ(a.adopted, b.adopted) << own;
  ASSERT_EQ(a.renamed, b.renamed) << own;
  ASSERT_EQ(a.id_hash, b.id_hash) << own;
  ASSERT_EQ(a.place.parent, b.place.parent) << own;
  ASSERT_EQ(a.place.depth, b.place.depth) << own;
  ASSERT_EQ(a.place.type, b.place.type) << own;
  ASSERT_EQ(a.place.orphan, b.place.orphan) << own;
}

const auto kYes = [](Ordinal) -> Result<bool> { return true; };

std::optional<Ordinal> find(const Index& index, const std::string& id, Ordinal count) {
  auto found = index.find(index.hash(id), count, kYes);
  EXPECT_TRUE(found.ok());
  return found.ok() ? *found : std::nullopt;
}

void fill(Index& index, Ordinal first, Ordinal end) {
  for (Ordinal own = first; own < end; ++own) index.add(own, made(index, own));
}

void expect_filled(const Index& index, Ordinal count) {
  for (Ordinal own = 0; own < count; ++own) {
    const auto entry = index.entry(own);
    ASSERT_TRUE(entry.ok()) << own;
    expect_same(*entry, made(index, own), own);
    ASSERT_EQ(find(index, "id" + std::to_string(own), count), own);
  }
  ASSERT_EQ(find(index, "no such id", count), std::nullopt);
}

IndexState state_of(Ordinal count) {
  IndexState state;
  state.committed = count * 100;
  state.durable = count * 90;
  state.chain = 0xabcd;
  state.damaged = 3;
  state.tail_crc = 99;
  state.fold.count = count;
  state.fold.head = count - 1;
  state.fold.head_depth = 4;
  state.fold.last_fact[2] = 5;
  return state;
}

class IndexFile : public testing::Test {
 protected:
  IndexOwner owner() const { return {.log = {.device = 1, .inode = 42}, .boot_id = 7}; }
  std::unique_ptr<fs::File> file(OpenMode mode) {
    auto opened = process->open("i.idx", mode);
    EXPECT_TRUE(opened.ok());
    return std::move(opened).value();
  }
  std::shared_ptr<Index> create(Ordinal count) {
    auto made_index = Index::create(file(OpenMode::kCreate), owner(), kKey);
    EXPECT_TRUE(made_index.ok());
    fill(**made_index, 0, count);
    (*made_index)->publish(state_of(count));
    return *made_index;
  }
  Result<std::shared_ptr<Index>> open(MapMode mode, const IndexOwner& who) {
    return Index::open(file(mode == MapMode::kShared ? OpenMode::kReadWrite : OpenMode::kRead), who,
                       mode);
  }
  Result<std::shared_ptr<Index>> open(MapMode mode) { return open(mode, owner()); }

  fs::SimDisk disk{std::size_t{300} << 10};  // bytes a file
  std::unique_ptr<fs::SimFs> process = disk.process();
};

TEST(IndexInMemory, ManyLevels) {
  const auto index = Index::in_memory(kKey);
  fill(*index, 0, kMany);
  expect_filled(*index, kMany);
  EXPECT_TRUE(index->is_private());
}

TEST(IndexInMemory, CountLimitsWhatIsFound) {
  const auto index = Index::in_memory(kKey);
  fill(*index, 0, 100);
  EXPECT_EQ(find(*index, "id50", 50), std::nullopt);
  EXPECT_EQ(find(*index, "id50", 51), 50U);
}

TEST(IndexInMemory, OldestOfEqualIdsIsFoundFirst) {
  const auto index = Index::in_memory(kKey);
  fill(*index, 0, 1000);
  for (const Ordinal own : {1000U, 1001U, 1002U}) {
    IndexEntry twin = made(*index, own);
    twin.id_hash = index->hash("id3");
    index->add(own, twin);
  }
  EXPECT_EQ(find(*index, "id3", 1003), 3U);
}

// The whole hash is equal; only the caller can tell, by the ids themselves.
TEST(IndexInMemory, CollidingHashesAreToldApartByTheCaller) {
  const auto index = Index::in_memory(kKey);
  for (Ordinal own = 0; own < 60; ++own) {
    IndexEntry entry = made(*index, own);
    entry.id_hash = 0xffff'ffff'0000'1234;
    index->add(own, entry);
  }
  for (Ordinal wanted = 0; wanted < 60; ++wanted) {
    const auto found = index->find(0xffff'ffff'0000'1234, 60,
                                   [&](Ordinal own) -> Result<bool> { return own == wanted; });
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, wanted);
  }
  const auto none =
      index->find(0xffff'ffff'0000'1234, 60, [](Ordinal) -> Result<bool> { return false; });
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, std::nullopt);
}

TEST(IndexInMemory, ErrorOfTheCallerIsPassedOn) {
  const auto index = Index::in_memory(kKey);
  fill(*index, 0, 1);
  const auto found = index->find(
      index->hash("id0"), 1, [](Ordinal) -> Result<bool> { return Error(Code::kIoError, "no"); });
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code(), Code::kIoError);
}

TEST(IndexInMemory, TakeBackForgetsAndMakesRoom) {
  const auto index = Index::in_memory(kKey);
  fill(*index, 0, 70);
  for (int round = 0; round < 500; ++round) {  // across the edge of two levels
    for (Ordinal own = 70; own < 90; ++own) {
      IndexEntry entry = made(*index, own);
      entry.id_hash = index->hash("r" + std::to_string(round) + "-" + std::to_string(own));
      index->add(own, entry);
    }
    index->take_back(70, 90);
    ASSERT_EQ(find(*index, "r" + std::to_string(round) + "-75", 90), std::nullopt);
  }
  fill(*index, 70, 400);
  expect_filled(*index, 400);
}

TEST(IndexInMemory, OrdinalOutOfRangeIsAnError) {
  const auto index = Index::in_memory(kKey);
  EXPECT_FALSE(index->entry(0).ok());
  EXPECT_FALSE(index->entry(kNone).ok());
  EXPECT_FALSE(index->entry(kNone - 1).ok());
}

// Counts, not times: a lookup looks at few candidates however many there are.
TEST(IndexInMemory, LookupsStayCheapWithManyIds) {
  const auto index = Index::in_memory(kKey);
  constexpr Ordinal kIds = 100'000;
  fill(*index, 0, kIds);
  std::size_t asked = 0;
  for (Ordinal own = 0; own < kIds; ++own) {
    const auto found =
        index->find(index->hash("id" + std::to_string(own)), kIds, [&](Ordinal) -> Result<bool> {
          ++asked;
          return true;
        });
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(*found, own);
  }
  EXPECT_LT(asked, kIds + kIds / 100);
}

TEST_F(IndexFile, PublishedStateAndEntriesComeBack) {
  create(kMany);
  const auto again = open(MapMode::kPrivate);
  ASSERT_TRUE(again.ok()) << again.error().message();
  expect_filled(**again, kMany);
  const auto state = (*again)->published();
  ASSERT_TRUE(state.ok());
  const IndexState expected = state_of(kMany);
  EXPECT_EQ(state->committed, expected.committed);
  EXPECT_EQ(state->durable, expected.durable);
  EXPECT_EQ(state->chain, expected.chain);
  EXPECT_EQ(state->damaged, expected.damaged);
  EXPECT_EQ(state->tail_crc, expected.tail_crc);
  EXPECT_EQ(state->fold.count, expected.fold.count);
  EXPECT_EQ(state->fold.head, expected.fold.head);
  EXPECT_EQ(state->fold.head_depth, expected.fold.head_depth);
  EXPECT_EQ(state->fold.last_fact, expected.fold.last_fact);
}

TEST_F(IndexFile, EveryCountOpens) {
  const auto writer = create(1);
  for (Ordinal count = 2; count < 400; ++count) {
    fill(*writer, count - 1, count);
    writer->publish(state_of(count));
    const auto reader = open(MapMode::kPrivate);
    ASSERT_TRUE(reader.ok()) << count;
    ASSERT_EQ((*reader)->published()->fold.count, count);
    ASSERT_EQ(find(**reader, "id" + std::to_string(count - 1), count), count - 1);
  }
}

TEST_F(IndexFile, TwoWritersTakeTurns) {
  const auto first = create(10);
  auto second = open(MapMode::kShared);
  ASSERT_TRUE(second.ok());
  for (Ordinal count = 10; count < 2000; count += 7) {
    Index& writer = count % 2 == 0 ? *first : **second;
    ASSERT_EQ(writer.published()->fold.count, count);
    fill(writer, count, count + 7);
    writer.publish(state_of(count + 7));
  }
  const Ordinal count = first->published()->fold.count;
  expect_filled(*first, count);
  expect_filled(**second, count);
}

TEST_F(IndexFile, ReaderAddsToItsOwnCopyOnly) {
  const auto writer = create(60);
  auto reader = open(MapMode::kPrivate);
  ASSERT_TRUE(reader.ok());
  fill(**reader, 60, 500);
  expect_filled(**reader, 500);
  EXPECT_FALSE((*reader)->published()->fold.count != 60);
  EXPECT_EQ(find(*writer, "id60", 500), std::nullopt);
  auto other = open(MapMode::kPrivate);
  ASSERT_TRUE(other.ok());
  expect_filled(**other, 60);
}

TEST_F(IndexFile, WhatAKilledWriterLeftIsOverwritten) {
  const auto killed = create(20);
  for (int times = 0; times < 50; ++times) {  // each leaves slots behind
    for (Ordinal own = 20; own < 24; ++own) {
      IndexEntry entry = made(*killed, own);
      entry.id_hash = killed->hash("k" + std::to_string(times) + std::to_string(own));
      killed->add(own, entry);
    }
  }
  auto next = open(MapMode::kShared);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(find(**next, "k020", 20), std::nullopt);
  fill(**next, 20, 74);
  bool sound = true;
  for (Ordinal own = 0; own < 74 && sound; ++own) {
    const auto found = (*next)->find((*next)->hash("id" + std::to_string(own)), 74, kYes);
    // A table that is full says so; it never says "not there" of what is.
    sound = found.ok();
    if (found.ok()) {
      ASSERT_EQ(*found, own);
    } else {
      ASSERT_EQ(found.error().code(), Code::kCorrupt);
    }
  }
}

TEST_F(IndexFile, AnotherBootNeedsACleanClose) {
  const auto writer = create(10);
  IndexOwner later = owner();
  later.boot_id = 8;
  auto dirty = open(MapMode::kPrivate, later);
  ASSERT_FALSE(dirty.ok());
  EXPECT_EQ(dirty.error().code(), Code::kNotFound);

  ASSERT_TRUE(writer->close_clean(state_of(10)).ok());
  auto clean = open(MapMode::kShared, later);
  ASSERT_TRUE(clean.ok()) << clean.error().message();
  const auto state = (*clean)->published();
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->durable, state->committed) << "what survived the power cut is durable";
  EXPECT_EQ(disk.read_durable("i.idx"), disk.read_file("i.idx"));

  fill(**clean, 10, 11);  // and dirty again, in the new boot
  (*clean)->publish(state_of(11));
  IndexOwner third = owner();
  third.boot_id = 9;
  EXPECT_FALSE(open(MapMode::kPrivate, third).ok());
}

TEST_F(IndexFile, AnotherLogsIndexIsNotBelieved) {
  create(10);
  IndexOwner other = owner();
  other.log.inode = 43;
  auto opened = open(MapMode::kPrivate, other);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), Code::kNotFound);
  other = owner();
  other.log.device = 2;
  EXPECT_FALSE(open(MapMode::kPrivate, other).ok());
}

TEST_F(IndexFile, FullDiskMakesItPrivateAndItGoesOn) {
  const auto index = create(74);
  disk.set_capacity_bytes(4096);
  fill(*index, 74, 1000);
  EXPECT_TRUE(index->is_private());
  expect_filled(*index, 1000);
  index->publish(state_of(1000));
  auto reader = open(MapMode::kPrivate);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->published()->fold.count, 74U);
  expect_filled(**reader, 74);
}

TEST_F(IndexFile, EveryByteFlippedIsNoticedOrHarmless) {
  create(100);
  const std::string bytes = disk.read_file("i.idx").value();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    ASSERT_TRUE(disk.flip("i.idx", at, static_cast<unsigned char>(1U << at % 8)));
    auto index = open(MapMode::kPrivate);
    if (index.ok()) {
      const auto state = (*index)->published();
      ASSERT_TRUE(state.ok()) << at;
      const Ordinal count = state->fold.count;
      ASSERT_TRUE(count == 100) << at << ": " << count;
      for (Ordinal own = 0; own < count; own += 9) {
        const auto entry = (*index)->entry(own);
        if (entry.ok()) {
          expect_same(*entry, made(**index, own), own);
        } else {
          ASSERT_EQ(entry.error().code(), Code::kCorrupt);
        }
        const auto found = (*index)->find((*index)->hash("id" + std::to_string(own)), count, kYes);
        if (found.ok()) {
          ASSERT_EQ(*found, own) << "byte " << at << " makes an id vanish";
        } else {
          ASSERT_EQ(found.error().code(), Code::kCorrupt);
        }
      }
    }
    ASSERT_TRUE(disk.flip("i.idx", at, static_cast<unsigned char>(1U << at % 8)));
  }
}

TEST_F(IndexFile, CutAtAnyPageIsNoticed) {
  create(1000);
  const std::string bytes = disk.read_file("i.idx").value();
  for (std::size_t size = 0; size < bytes.size(); size += 512) {
    disk.write_file("i.idx", bytes.substr(0, size));
    auto index = open(MapMode::kPrivate);
    ASSERT_FALSE(index.ok()) << size;
    ASSERT_EQ(index.error().code(), Code::kCorrupt) << size;
  }
}

TEST_F(IndexFile, TornPublicationLeavesTheOldState) {
  const auto index = create(10);
  const std::string before = disk.read_file("i.idx").value();
  fill(*index, 10, 20);
  index->publish(state_of(20));
  const std::string after = disk.read_file("i.idx").value();
  for (std::size_t cut = 0; cut <= 512; cut += 8) {
    disk.write_file("i.idx", after.substr(0, cut) +
                                 before.substr(cut, 512 - std::min<std::size_t>(cut, 512)) +
                                 after.substr(512));
    auto torn = open(MapMode::kPrivate);
    ASSERT_TRUE(torn.ok()) << cut;
    const Ordinal count = (*torn)->published()->fold.count;
    ASSERT_TRUE(count == 10 || count == 20) << cut;
    expect_filled(**torn, count);
  }
}

}  // namespace
}  // namespace quipu::log
