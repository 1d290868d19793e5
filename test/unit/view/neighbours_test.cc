#include "view/neighbours.h"

#include <gtest/gtest.h>

namespace quipu::view {
namespace {

Found at(std::string session, Ordinal own, double score) {
  return {.session_id = std::move(session), .own = own, .key = own, .score = score};
}

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
}

}  // namespace
}  // namespace quipu::view
