#include "events/positions.h"

#include <gtest/gtest.h>

namespace quipu::events {
namespace {

Growth growth(const std::string& session, Ordinal first, Ordinal entries) {
  Growth growth;
  growth.session = session;
  growth.first = first;
  growth.base = 3;
  growth.then.entries = entries;
  growth.then.tail = "tail \"" + std::to_string(entries);
  growth.then.inode = ~std::uint64_t{0};
  growth.then.bytes = 1234;
  growth.then.modified_ms = -5;
  return growth;
}

void take(Positions& positions, const NewEntry& entry) {
  positions.take(entry.type, entry.payload);
}

void expect_same(const Position& one, const Position& other) {
  EXPECT_EQ(one.generation, other.generation);
  EXPECT_EQ(one.entries, other.entries);
  EXPECT_EQ(one.tail, other.tail);
  EXPECT_EQ(one.inode, other.inode);
  EXPECT_EQ(one.bytes, other.bytes);
  EXPECT_EQ(one.modified_ms, other.modified_ms);
}

TEST(Positions, FollowWhatIsTold) {
  Positions positions;
  EXPECT_EQ(nullptr, positions.find("s"));
  take(positions, growth_entry(growth("s", 0, 4)));
  take(positions, growth_entry(growth("s", 4, 9)));
  ASSERT_NE(nullptr, positions.find("s"));
  expect_same(growth("s", 4, 9).then, *positions.find("s"));
  take(positions, removed_entry("s", 1));
  EXPECT_EQ(0u, positions.find("s")->entries);
  EXPECT_EQ(1u, positions.find("s")->generation);
}

TEST(Positions, TheSameIsToldUnderTheSameId) {
  EXPECT_EQ(growth_entry(growth("s", 4, 9)).id, growth_entry(growth("s", 4, 7)).id);
  EXPECT_NE(growth_entry(growth("s", 4, 9)).id, growth_entry(growth("s", 5, 9)).id);
  EXPECT_NE(growth_entry(growth("s", 4, 9)).id, growth_entry(growth("t", 4, 9)).id);
  Growth later = growth("s", 4, 9);
  later.then.generation = 1;
  EXPECT_NE(growth_entry(growth("s", 4, 9)).id, growth_entry(later).id);
  EXPECT_EQ(replaced_entry("s", 1).id, removed_entry("s", 1).id);
  EXPECT_NE(replaced_entry("s", 1).id, removed_entry("s", 2).id);
}

TEST(Positions, ACheckpointHoldsThemAll) {
  Positions positions;
  for (Ordinal i = 0; i < 1234; ++i) {
    take(positions, growth_entry(growth("s" + std::to_string(i), 0, i + 1)));
  }
  Positions again;
  const auto entries = positions.checkpoint();
  EXPECT_EQ(3u, entries.size());
  for (const NewEntry& entry : entries) take(again, entry);
  ASSERT_EQ(positions.all().size(), again.all().size());
  for (const auto& [session, position] : positions.all()) {
    expect_same(position, *again.find(session));
  }
}

// Somebody looked, somebody else told more, then the first wrote what it saw.
TEST(Positions, WhatWasSeenBeforeMoreWasToldIsPassedOver) {
  Positions positions;
  take(positions, growth_entry(growth("s", 0, 4)));
  Position seen = *positions.find("s");
  take(positions, growth_entry(growth("s", 4, 9)));
  seen.inode = 7;
  take(positions, Positions::entry_of({{"s", seen}}));
  EXPECT_EQ(9u, positions.find("s")->entries);
  seen = *positions.find("s");
  seen.inode = 7;
  take(positions, Positions::entry_of({{"s", seen}}));
  EXPECT_EQ(7u, positions.find("s")->inode);
}

TEST(Positions, OddPayloadsChangeNothing) {
  Positions positions;
  for (const char* payload : {"{}", R"({"session":1})", R"({"session":"s","entries":0})",
                              R"({"session":"s","first":5,"entries":5})",
                              R"({"sessions":[1,[],["s"],["s",0,1,"t",1,2]]})",
                              R"({"sessions":{}})", R"({"session":"s","entries":99999999999})"}) {
    for (const std::string_view type : {kGrowth, kPositions}) positions.take(type, payload);
  }
  positions.take(kRemoved, R"({"session":"s"})");
  EXPECT_TRUE(positions.all().empty());
}

}  // namespace
}  // namespace quipu::events
