#include "view/neighbours.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace quipu::view {
namespace {

Found at(std::string session, Ordinal own, double score) {
  return {.session_id = std::move(session), .own = own, .key = own, .score = score};
}

bool all_may(const std::string&, Ordinal) { return true; }

TEST(Neighbours, EachGetsAPartOfTheOthersScore) {
  std::vector<Found> found{at("s", 11, 4), at("s", 10, 1), at("s", 12, 2)};
  lift_by_neighbours(found, 0.5);
  ASSERT_EQ(3u, found.size());
  EXPECT_EQ(11u, found[0].own);
  EXPECT_DOUBLE_EQ(4 + 0.5 * (1 + 2), found[0].score);
  EXPECT_EQ(12u, found[1].own);
  EXPECT_DOUBLE_EQ(2 + 0.5 * 4, found[1].score);
  EXPECT_DOUBLE_EQ(1 + 0.5 * 4, found[2].score);
}

TEST(Neighbours, NotFromAfarAndNotFromOtherSessions) {
  std::vector<Found> found{at("s", 10, 3), at("s", 14, 2), at("t", 11, 1)};
  lift_by_neighbours(found, 0.5);
  EXPECT_DOUBLE_EQ(3, found[0].score);
  EXPECT_DOUBLE_EQ(2, found[1].score);
  EXPECT_DOUBLE_EQ(1, found[2].score);
}

TEST(Neighbours, OfEqualsTheGreaterKeyIsFirst) {
  std::vector<Found> found{at("s", 100, 1), at("s", 300, 1), at("s", 200, 1)};
  lift_by_neighbours(found, 0);
  EXPECT_EQ(300u, found[0].own);
  EXPECT_EQ(200u, found[1].own);
  EXPECT_EQ(100u, found[2].own);
}

TEST(Neighbours, NothingFoundIsNothing) {
  std::vector<Found> found;
  lift_by_neighbours(found, 1);
  EXPECT_TRUE(found.empty());
  EXPECT_TRUE(neighbours_of_best(found, 1, all_may).empty());
}

TEST(Neighbours, WhatStandsBetweenTwoHitsGetsOfBoth) {
  const std::vector<Found> found{at("s", 12, 4), at("s", 10, 2)};
  std::map<Ordinal, double> scores;
  for (const Found& one : neighbours_of_best(found, 0.5, all_may)) {
    EXPECT_TRUE(one.is_neighbour);
    scores[one.own] = one.score;
  }
  EXPECT_EQ((std::map<Ordinal, double>{{9, 1}, {11, 3}, {13, 2}}), scores);
}

TEST(Neighbours, TheNearestThatMayJoinsUpToTheReach) {
  const std::vector<Found> found{at("s", 1, 4), at("s", 20, 2)};
  std::set<Ordinal> asked;
  const auto none = neighbours_of_best(found, 1, [&](const std::string&, Ordinal own) {
    asked.insert(own);
    return false;
  });
  EXPECT_TRUE(none.empty());
  EXPECT_EQ((std::set<Ordinal>{0, 2, 3, 4, 17, 18, 19, 21, 22, 23}), asked);
  const auto far = neighbours_of_best(
      found, 1, [](const std::string&, Ordinal own) { return own == 17 || own == 18; });
  ASSERT_EQ(1u, far.size());
  EXPECT_EQ(18u, far[0].own);
}

TEST(Neighbours, WhatWasFoundItselfDoesNotJoinAndNothingBehindIt) {
  const std::vector<Found> found{at("s", 10, 4), at("s", 11, 2)};
  std::set<Ordinal> joined;
  for (const Found& one : neighbours_of_best(found, 1, all_may)) joined.insert(one.own);
  EXPECT_EQ((std::set<Ordinal>{9, 12}), joined);
}

TEST(Neighbours, HoweverMuchIsFoundFewAreAskedFor) {
  std::vector<Found> found;
  for (Ordinal i = 0; i < 1000; ++i) found.push_back(at("s", 100 * i, 1000 - i));
  std::size_t asked = 0;
  const auto joining = neighbours_of_best(found, 1, [&](const std::string&, Ordinal) {
    ++asked;
    return true;
  });
  EXPECT_LT(asked, 100u);
  EXPECT_GE(joining.size(), 30u);
  std::set<std::int64_t> keys;
  for (const Found& one : joining) {
    EXPECT_LT(one.key, 0);
    keys.insert(one.key);
  }
  EXPECT_EQ(joining.size(), keys.size());
}

TEST(Neighbours, JoinedTheyAreInOneOrder) {
  std::vector<Found> found{at("s", 10, 4), at("s", 30, 1)};
  join(found, {at("s", 11, 2)});
  ASSERT_EQ(3u, found.size());
  EXPECT_EQ(11u, found[1].own);
}

}  // namespace
}  // namespace quipu::view
