#include "recall/vectors.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "recall/vector.h"

namespace quipu::recall {
namespace {

// Tables with vectors that are all the same: of equals the greater key is nearer.
class FakeTables : public VectorSource {
 public:
  Result<std::vector<VectorRow>> vector_rows(sql::Engine&, std::int64_t after,
                                             std::size_t limit) const override {
    std::vector<VectorRow> rows;
    for (auto at = vectors.upper_bound(after); at != vectors.end() && rows.size() < limit; ++at) {
      ++loaded;
      rows.push_back({.key = at->first, .hash = {}, .vector = vector_bytes(at->second)});
    }
    return rows;
  }
  Result<std::vector<TextRow>> text_rows(sql::Engine&, std::int64_t, std::size_t) const override {
    return std::vector<TextRow>();
  }
  Result<std::vector<std::int64_t>> existing(sql::Engine&,
                                             std::span<const std::int64_t> keys) const override {
    ++asked;
    std::vector<std::int64_t> there;
    for (const std::int64_t key : keys) {
      if (vectors.contains(key)) there.push_back(key);
    }
    return there;
  }
  sql::Text read_mark() const override { return ""; }
  sql::Text set_mark() const override { return ""; }
  sql::Text read_cursor() const override { return ""; }
  sql::Text move_cursor() const override { return ""; }

  std::map<std::int64_t, std::vector<float>> vectors;
  mutable std::size_t loaded = 0;  // rows
  mutable std::size_t asked = 0;   // which are there
};

class VectorsTest : public testing::Test {
 protected:
  void put(std::int64_t first, std::int64_t end, const std::vector<float>& vector = {1, 0}) {
    for (std::int64_t key = first; key < end; ++key) tables_.vectors[key] = vector;
    ++cursor_.entries;
  }
  Vectors::Nearest nearest(const std::vector<float>& query, const KeyFilter& filter = {}) {
    return nearest(vectors_, query, 5, filter);
  }
  Vectors::Nearest nearest(Vectors& vectors, const std::vector<float>& query, std::size_t count,
                           const KeyFilter& filter) {
    auto engine = database_.lease();
    EXPECT_TRUE(engine.ok());
    auto found = vectors.nearest(**engine, cursor_, query, count, filter);
    EXPECT_TRUE(found.ok()) << found.error().message();
    return std::move(found).value();
  }

  search::IndexDatabase database_{Clock::system()};
  FakeTables tables_;
  FollowCursor cursor_{.entries = 0, .head_crc = 7, .tail_crc = 0, .emptied = 0};
  Vectors vectors_{database_, tables_, {}, Clock::system()};
};

TEST_F(VectorsTest, ManyThatAreGoneAreTakenOutAtOnce) {
  put(0, 5000);
  EXPECT_EQ(nearest({1, 0}).matches[0].key, 4999);
  tables_.vectors.clear();
  put(0, 10);
  tables_.asked = 0;
  EXPECT_EQ(nearest({1, 0}).matches[0].key, 9);
  EXPECT_LE(tables_.asked, 4U);
}

TEST_F(VectorsTest, WhatIsReplacedDoesNotPileUp) {
  std::size_t looked_at = 0;
  for (std::int64_t round = 0; round < 20; ++round) {
    tables_.vectors.clear();
    put(round * 1000, (round + 1) * 1000);
    looked_at = 0;
    // As a search in one scope has it: nothing that is gone.
    const auto found = nearest({1, 0}, [&](std::int64_t key) {
      ++looked_at;
      return tables_.vectors.contains(key);
    });
    EXPECT_EQ(found.matches[0].key, round * 1000 + 999);
  }
  EXPECT_LE(looked_at, 4000U);
}

TEST_F(VectorsTest, AQueryOfAnotherSizeLeavesThemLoaded) {
  put(0, 100);
  nearest({1, 0});
  tables_.loaded = 0;
  const auto other = nearest({1, 0, 0});
  EXPECT_TRUE(other.matches.empty());
  EXPECT_EQ(other.note, "by words alone: the vectors have another size than the query's");
  EXPECT_EQ(nearest({1, 0}).matches.size(), 5U);
  EXPECT_EQ(tables_.loaded, 0U);
}

TEST_F(VectorsTest, SizesAreKeptApart) {
  put(0, 3);
  put(3, 5, {1, 0, 0});
  const auto found = nearest({1, 0});
  EXPECT_EQ(found.matches.size(), 3U);
  EXPECT_EQ(found.note, "2 vectors have another size than the query's");
  EXPECT_EQ(nearest({1, 0, 0}).matches.size(), 2U);
  // All of one size again.
  tables_.vectors.clear();
  put(5, 6, {1, 0, 0});
  EXPECT_EQ(nearest({1, 0, 0}).note, "");
}

TEST_F(VectorsTest, TablesMadeAnewAreLoadedAnew) {
  put(10, 12);
  EXPECT_EQ(nearest({1, 0}).matches.size(), 2U);
  put(0, 1);  // what was replaced by an entry that is redacted now
  ++cursor_.emptied;
  EXPECT_EQ(nearest({1, 0}).matches.size(), 3U);
}

TEST_F(VectorsTest, MoreThanMayBeKeptAreReadFromTheTablesAndAnswerTheSame) {
  std::mt19937 random(4711);
  std::normal_distribution<float> normal;
  const auto vector = [&](std::size_t size) {
    std::vector<float> made(size);
    for (float& x : made) x = normal(random);
    return made;
  };
  for (std::int64_t key = 0; key < 5000; ++key) tables_.vectors[key * 3] = vector(16);
  for (std::int64_t key = 5000; key < 5010; ++key) tables_.vectors[key * 3] = vector(8);
  RecallOptions options;
  options.vector_bytes_max = 100'000;
  Vectors stored(database_, tables_, options, Clock::system());
  const KeyFilter even = [](std::int64_t key) { return key % 2 == 0; };
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> query = vector(i < 15 ? 16 : 8);
    const KeyFilter filter = i % 2 == 0 ? even : KeyFilter();
    const auto kept = nearest(vectors_, query, 30, filter);
    tables_.loaded = 0;
    const auto read = nearest(stored, query, 30, filter);
    EXPECT_GE(tables_.loaded, 5010U);
    EXPECT_EQ(kept.note, read.note);
    ASSERT_EQ(kept.matches.size(), read.matches.size());
    for (std::size_t k = 0; k < kept.matches.size(); ++k) {
      EXPECT_EQ(kept.matches[k].key, read.matches[k].key) << i << ", " << k;
      EXPECT_DOUBLE_EQ(kept.matches[k].score, read.matches[k].score);
    }
  }
  // As many as fit, when the tables are made anew.
  tables_.vectors.clear();
  put(0, 10);
  ++cursor_.emptied;
  nearest(stored, {1, 0}, 5, {});
  tables_.loaded = 0;
  EXPECT_EQ(nearest(stored, {1, 0}, 5, {}).matches.size(), 5U);
  EXPECT_EQ(tables_.loaded, 0U);
}

}  // namespace
}  // namespace quipu::recall
