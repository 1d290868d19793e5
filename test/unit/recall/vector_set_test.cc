#include "recall/vector_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "support/scale.h"

namespace quipu::recall {
namespace {

using Floats = std::vector<float>;
using Keys = std::vector<std::int64_t>;

Keys keys_of(const std::vector<search::Match>& matches) {
  Keys keys;
  for (const auto& match : matches) keys.push_back(match.key);
  return keys;
}

double cosine(const Floats& a, const Floats& b) {
  double product = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return product / std::sqrt(aa * bb);
}

// What the set should say, from the floats themselves.
std::vector<search::Match> reference(const std::map<std::int64_t, Floats>& vectors,
                                     const Floats& query, std::size_t count,
                                     const KeyFilter& filter = {}) {
  std::vector<search::Match> all;
  for (const auto& [key, vector] : vectors) {
    if (!filter || filter(key)) all.push_back({key, cosine(vector, query)});
  }
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return a.score != b.score ? a.score > b.score : a.key > b.key;
  });
  all.resize(std::min(all.size(), count));
  return all;
}

class Source {
 public:
  explicit Source(unsigned seed) : random_(seed) {}
  Floats around(const Floats& centre, float spread) {
    Floats vector(centre);
    for (float& x : vector) x += spread * normal_(random_);
    return vector;
  }
  Floats any(std::size_t dimensions) { return around(Floats(dimensions), 1); }
  std::size_t below(std::size_t end) { return random_() % end; }

 private:
  std::mt19937 random_;
  std::normal_distribution<float> normal_;
};

TEST(VectorSet, FindsTheNearestByCosine) {
  VectorSet set(2);
  ASSERT_TRUE(set.put(1, Floats{1, 0}).ok());
  ASSERT_TRUE(set.put(2, Floats{0, 50}).ok());
  ASSERT_TRUE(set.put(3, Floats{-0.001F, 0}).ok());
  const auto found = set.nearest(Floats{10, 1}, 3);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(keys_of(*found), (Keys{1, 2, 3}));
  EXPECT_NEAR((*found)[0].score, 10 / std::sqrt(101.0), 1e-7);
  EXPECT_NEAR((*found)[2].score, -10 / std::sqrt(101.0), 1e-7);
  EXPECT_EQ(keys_of(set.nearest(Floats{10, 1}, 1).value()), Keys{1});
  EXPECT_TRUE(set.nearest(Floats{10, 1}, 0)->empty());
  EXPECT_TRUE(VectorSet(2).nearest(Floats{10, 1}, 5)->empty());
}

TEST(VectorSet, AnswersLikeTheFloatsInEveryDimension) {
  Source source(1);
  for (const std::size_t dimensions : {1U, 2U, 31U, 32U, 33U, 100U, 384U, 1024U}) {
    VectorSet set(dimensions);
    std::map<std::int64_t, Floats> vectors;
    for (std::int64_t key = 0; key < 700; ++key) {
      vectors[key] = source.any(dimensions);
      ASSERT_TRUE(set.put(key, vectors[key]).ok());
    }
    for (int i = 0; i < 10; ++i) {
      const Floats query = source.any(dimensions);
      const auto found = set.nearest(query, 10);
      const auto expected = reference(vectors, query, 10);
      ASSERT_TRUE(found.ok());
      ASSERT_EQ(found->size(), 10U);
      for (std::size_t rank = 0; rank < 10; ++rank) {
        EXPECT_NEAR((*found)[rank].score, expected[rank].score, 2e-7) << dimensions;
      }
      // In one dimension all are +1 or -1.
      if (dimensions > 2) {
        EXPECT_EQ(keys_of(*found), keys_of(expected)) << dimensions;
      }
    }
  }
}

TEST(VectorSet, MissesNothingAmongClusters) {
  Source source(2);
  constexpr std::size_t kDimensions = 384;
  const auto count = static_cast<std::int64_t>(4000 * std::max(0.1, std::min(1.0, test_scale())));
  std::vector<Floats> centres;
  for (int i = 0; i < 20; ++i) centres.push_back(source.any(kDimensions));
  VectorSet set(kDimensions);
  std::map<std::int64_t, Floats> vectors;
  for (std::int64_t key = 0; key < count; ++key) {
    vectors[key] = source.around(centres[source.below(20)], 0.4F);
    ASSERT_TRUE(set.put(key, vectors[key]).ok());
  }
  for (int i = 0; i < 20; ++i) {
    const Floats query = source.around(centres[source.below(20)], 0.4F);
    EXPECT_EQ(keys_of(set.nearest(query, 10).value()), keys_of(reference(vectors, query, 10)));
  }
}

TEST(VectorSet, RandomChangesLeaveWhatTheyShould) {
  Source source(3);
  VectorSet set(40);
  std::map<std::int64_t, Floats> vectors;
  for (int step = 0; step < 3000; ++step) {
    const auto key = static_cast<std::int64_t>(source.below(600)) - 300;
    if (source.below(3) == 0) {
      EXPECT_EQ(set.remove(key), vectors.erase(key) == 1);
    } else {
      vectors[key] = source.any(40);
      ASSERT_TRUE(set.put(key, vectors[key]).ok());
    }
    ASSERT_EQ(set.size(), vectors.size());
    if (step % 50 != 0) continue;
    const Floats query = source.any(40);
    ASSERT_EQ(keys_of(set.nearest(query, 5).value()), keys_of(reference(vectors, query, 5)));
  }
  for (std::int64_t key = -300; key < 300; ++key) {
    EXPECT_EQ(set.contains(key), vectors.contains(key));
    set.remove(key);
  }
  EXPECT_EQ(set.size(), 0U);
  EXPECT_TRUE(set.nearest(source.any(40), 5)->empty());
}

TEST(VectorSet, AnswersDoNotDependOnTheOrderOfChanges) {
  Source source(4);
  std::vector<Floats> vectors;
  for (int i = 0; i < 1000; ++i) vectors.push_back(source.any(33));
  VectorSet one(33);
  VectorSet other(33);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    ASSERT_TRUE(one.put(static_cast<std::int64_t>(i), vectors[i]).ok());
  }
  ASSERT_TRUE(other.put(5000, vectors[0]).ok());
  for (std::size_t i = vectors.size(); i-- > 0;) {
    ASSERT_TRUE(other.put(static_cast<std::int64_t>(i), vectors[i]).ok());
  }
  EXPECT_TRUE(other.remove(5000));
  const Floats query = source.any(33);
  const auto a = one.nearest(query, 50);
  const auto b = other.nearest(query, 50);
  ASSERT_EQ(keys_of(*a), keys_of(*b));
  for (std::size_t i = 0; i < a->size(); ++i) EXPECT_EQ((*a)[i].score, (*b)[i].score);
}

TEST(VectorSet, OfEqualsTheGreaterKeyIsFirst) {
  VectorSet set(8);
  // More equals than candidates, in an order that would give others the places.
  for (std::int64_t i = 0; i < 500; ++i) {
    ASSERT_TRUE(set.put(i * 7919 % 500, Floats{1, 2, 3, 4, 5, 6, 7, 8}).ok());
  }
  const auto found = set.nearest(Floats{1, 2, 3, 4, 5, 6, 7, 8}, 3);
  EXPECT_EQ(keys_of(*found), (Keys{499, 498, 497}));
  EXPECT_NEAR((*found)[0].score, 1, 1e-7);
  EXPECT_LE((*found)[0].score, 1);
}

TEST(VectorSet, AFilterNarrowsTheSearchNotTheAnswer) {
  Source source(5);
  VectorSet set(64);
  std::map<std::int64_t, Floats> vectors;
  for (std::int64_t key = 0; key < 3000; ++key) {
    vectors[key] = source.any(64);
    ASSERT_TRUE(set.put(key, vectors[key]).ok());
  }
  const KeyFilter rare = [](std::int64_t key) { return key % 100 == 7; };
  const Floats query = source.any(64);
  const auto found = set.nearest(query, 20, rare);
  ASSERT_EQ(found->size(), 20U);
  EXPECT_EQ(keys_of(*found), keys_of(reference(vectors, query, 20, rare)));
  EXPECT_TRUE(set.nearest(query, 20, [](std::int64_t) { return false; })->empty());
}

TEST(VectorSet, RefusesWhatHasNoDirection) {
  VectorSet set(3);
  ASSERT_TRUE(set.put(1, Floats{1, 2, 3}).ok());
  EXPECT_EQ(set.put(2, Floats{1, 2}).error().message(), "the vector has 2 dimensions, not 3");
  EXPECT_EQ(set.put(2, Floats{1, NAN, 3}).error().message(), "the vector is NaN at component 1");
  EXPECT_EQ(set.put(1, Floats{0, 0, 0}).error().message(), "the vector is zero in all components");
  EXPECT_EQ(set.nearest(Floats{1, 2}, 1).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(set.nearest(Floats{1, 2, INFINITY}, 1).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(set.size(), 1U);
  EXPECT_NEAR(set.nearest(Floats{1, 2, 3}, 1).value()[0].score, 1, 1e-7);
}

TEST(VectorSet, TakesTheSmallestAndTheLargestFloats) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  VectorSet set(2);
  ASSERT_TRUE(set.put(1, Floats{kMost, kMost}).ok());
  ASSERT_TRUE(set.put(2, Floats{kLeast, -kLeast}).ok());
  const auto found = set.nearest(Floats{kMost, -kMost}, 2);
  EXPECT_EQ(keys_of(*found), (Keys{2, 1}));
  EXPECT_NEAR((*found)[0].score, 1, 1e-7);
  EXPECT_NEAR((*found)[1].score, 0, 1e-7);
}

TEST(VectorSet, TakesThreeBytesAComponent) {
  Source source(6);
  VectorSet set(384);
  for (std::int64_t key = 0; key < 2560; ++key) ASSERT_TRUE(set.put(key, source.any(384)).ok());
  const std::size_t full = set.bytes();
  EXPECT_GE(full, 2560U * 384 * 3);
  EXPECT_LE(full, 2560U * (384 * 3 + 100));
  for (std::int64_t key = 0; key < 2000; ++key) set.remove(key);
  EXPECT_LT(set.bytes(), full / 3);
}

}  // namespace
}  // namespace quipu::recall
