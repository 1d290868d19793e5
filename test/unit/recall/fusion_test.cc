#include "recall/fusion.h"

#include <gtest/gtest.h>

namespace quipu::recall {
namespace {

using List = std::vector<search::Match>;
using Keys = std::vector<std::int64_t>;

Keys keys_of(const std::vector<Fused>& fused) {
  Keys keys;
  for (const Fused& one : fused) keys.push_back(one.key);
  return keys;
}

TEST(Fusion, AddsStretchedScoresByWeight) {
  const List lexical{{1, 12}, {2, 7}, {3, 2}};
  const List vector{{3, 0.9}, {4, 0.8}, {2, 0.5}};
  const auto fused = fuse(Fusion::kScores, lexical, vector);
  ASSERT_EQ(keys_of(fused), (Keys{1, 3, 2, 4}));
  EXPECT_DOUBLE_EQ(fused[0].score, 2);
  EXPECT_DOUBLE_EQ(fused[1].score, 1);  // worst of the words', best of the vectors'
  EXPECT_DOUBLE_EQ(fused[2].score, 1);  // in the middle, and worst: equal to key 3
  EXPECT_NEAR(fused[3].score, 0.75, 1e-12);
}

TEST(Fusion, ExplainsWhereAScoreComesFrom) {
  const auto fused = fuse(Fusion::kScores, List{{1, 12}, {2, 7}, {3, 2}}, List{{2, 0.9}, {9, 0.1}});
  ASSERT_EQ(fused[0].key, 2);
  EXPECT_DOUBLE_EQ(fused[0].score, 2 * 0.5 + 1);
  EXPECT_EQ(fused[0].lexical.rank, 2U);
  EXPECT_EQ(fused[0].lexical.score, 7);
  EXPECT_DOUBLE_EQ(fused[0].lexical.share, 0.5);
  EXPECT_EQ(fused[0].vector.rank, 1U);
  EXPECT_EQ(fused[0].vector.score, 0.9);
  EXPECT_DOUBLE_EQ(fused[0].vector.share, 1);
  const Fused& only_lexical = fused[1];
  EXPECT_EQ(only_lexical.key, 1);
  EXPECT_EQ(only_lexical.vector.rank, 0U);
  EXPECT_EQ(only_lexical.vector.share, 0);
}

TEST(Fusion, ReciprocalRanks) {
  const List lexical{{1, 12}, {2, 7}};
  const List vector{{2, 0.9}, {3, 0.8}};
  const auto fused = fuse(Fusion::kRanks, lexical, vector, {.lexical = 1, .vector = 1});
  EXPECT_EQ(keys_of(fused), (Keys{2, 1, 3}));
  EXPECT_DOUBLE_EQ(fused[0].score, 1.0 / 62 + 1.0 / 61);
  EXPECT_DOUBLE_EQ(fused[1].score, 1.0 / 61);
  EXPECT_DOUBLE_EQ(fused[2].score, 1.0 / 62);
  const auto weighed = fuse(Fusion::kRanks, lexical, vector, {.lexical = 1, .vector = 3});
  EXPECT_EQ(keys_of(weighed), (Keys{2, 3, 1}));
}

TEST(Fusion, OfEqualsTheGreaterKeyIsFirst) {
  const List same{{8, 3}, {5, 3}, {4, 3}};
  EXPECT_EQ(keys_of(fuse(Fusion::kScores, same, {})), (Keys{8, 5, 4}));
  EXPECT_EQ(keys_of(fuse(Fusion::kRanks, List{{1, 2}}, List{{7, 1}}, {1, 1})), (Keys{7, 1}));
}

TEST(Fusion, WhereAllAreEqualEachIsTheBest) {
  const auto fused = fuse(Fusion::kScores, List{{1, 3}}, List{{2, -0.5}, {1, -0.5}});
  EXPECT_EQ(keys_of(fused), (Keys{1, 2}));
  EXPECT_DOUBLE_EQ(fused[0].score, 3);
  EXPECT_DOUBLE_EQ(fused[1].score, 1);
}

TEST(Fusion, OneListAloneKeepsItsOrder) {
  const List lexical{{3, 9}, {1, 8}, {2, 1}};
  EXPECT_EQ(keys_of(fuse(Fusion::kScores, lexical, {})), (Keys{3, 1, 2}));
  EXPECT_EQ(keys_of(fuse(Fusion::kRanks, {}, lexical)), (Keys{3, 1, 2}));
  EXPECT_TRUE(fuse(Fusion::kScores, {}, {}).empty());
}

}  // namespace
}  // namespace quipu::recall
