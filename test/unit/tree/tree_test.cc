#include "tree/tree.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <random>

namespace quipu::tree {
namespace {

struct Made {
  std::vector<Ordinal> parents;
  std::vector<std::uint8_t> nodes;
  Shape shape() const { return {.parents = parents, .is_node = nodes}; }
  Ordinal size() const { return static_cast<Ordinal>(parents.size()); }
};

Made random_tree(std::mt19937& random, Ordinal size) {
  Made made;
  std::vector<Ordinal> nodes;
  for (Ordinal i = 0; i < size; ++i) {
    const unsigned dice = random() % 10;
    made.nodes.push_back(dice == 0 ? 0 : 1);
    Ordinal parent = kNoParent;
    if (dice > 1 && !nodes.empty()) {
      parent = dice > 4 ? nodes.back() : nodes[random() % nodes.size()];
    }
    made.parents.push_back(parent);
    if (dice != 0) nodes.push_back(i);
  }
  return made;
}

// The slow way, straight from the words.
std::vector<Ordinal> naive_path(const Made& made, Ordinal entry) {
  if (made.nodes[entry] == 0) return {};
  if (made.parents[entry] == kNoParent) return {entry};
  std::vector<Ordinal> path = naive_path(made, made.parents[entry]);
  path.push_back(entry);
  return path;
}

std::vector<Ordinal> naive_children(const Made& made, Ordinal entry) {
  std::vector<Ordinal> children;
  for (Ordinal i = 0; i < made.size(); ++i) {
    if (made.nodes[i] != 0 && made.parents[i] == entry) children.push_back(i);
  }
  return children;
}

TEST(Tree, AgreesWithTheSlowWay) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const Made made = random_tree(random, 1 + random() % 60);
    const Shape shape = made.shape();
    ASSERT_TRUE(is_ordered(shape));
    std::vector<Ordinal> leaves_expected;
    std::vector<Ordinal> points_expected;
    std::vector<Ordinal> roots_expected;
    for (Ordinal i = 0; i < made.size(); ++i) {
      const auto expected = naive_path(made, i);
      ASSERT_EQ(path(shape, i), expected);
      const auto kids = naive_children(made, i);
      ASSERT_EQ(children(shape, i), kids);
      if (made.nodes[i] == 0) continue;
      ASSERT_EQ(depth(shape, i), expected.size() - 1);
      if (kids.empty()) leaves_expected.push_back(i);
      if (kids.size() > 1) points_expected.push_back(i);
      if (made.parents[i] == kNoParent) roots_expected.push_back(i);
    }
    EXPECT_EQ(leaves(shape), leaves_expected);
    EXPECT_EQ(branch_points(shape), points_expected);
    EXPECT_EQ(roots(shape), roots_expected);
    for (Ordinal a = 0; a < made.size(); ++a) {
      for (Ordinal b = 0; b < made.size(); ++b) {
        const auto pa = naive_path(made, a);
        const auto pb = naive_path(made, b);
        std::optional<Ordinal> expected;
        for (std::size_t i = 0; i < std::min(pa.size(), pb.size()) && pa[i] == pb[i]; ++i) {
          expected = pa[i];
        }
        ASSERT_EQ(common_ancestor(shape, a, b), expected) << a << " " << b;
      }
    }
  }
}

TEST(Tree, EmptyAndFactsOnly) {
  const Made empty;
  EXPECT_TRUE(is_ordered(empty.shape()));
  EXPECT_TRUE(leaves(empty.shape()).empty());
  const Made facts{.parents = {kNoParent, kNoParent}, .nodes = {0, 0}};
  EXPECT_TRUE(leaves(facts.shape()).empty());
  EXPECT_TRUE(roots(facts.shape()).empty());
  EXPECT_TRUE(path(facts.shape(), 1).empty());
  EXPECT_EQ(common_ancestor(facts.shape(), 0, 0), std::nullopt);
}

TEST(Tree, ManyChildrenAreCounted) {
  for (Ordinal count : {2U, 3U, 4U, 255U, 256U, 257U, 1000U}) {
    Made star{.parents = {kNoParent}, .nodes = {1}};
    for (Ordinal i = 0; i < count; ++i) {
      star.parents.push_back(0);
      star.nodes.push_back(1);
    }
    EXPECT_EQ(branch_points(star.shape()), std::vector<Ordinal>{0}) << count;
    EXPECT_EQ(leaves(star.shape()).size(), count);
  }
}

TEST(Tree, DisorderIsNoticed) {
  EXPECT_FALSE(is_ordered(Made{.parents = {0}, .nodes = {1}}.shape()));
  EXPECT_FALSE(is_ordered(Made{.parents = {kNoParent, 2, 1}, .nodes = {1, 1, 1}}.shape()));
  EXPECT_FALSE(is_ordered(Made{.parents = {kNoParent, 0}, .nodes = {0, 1}}.shape()));
  EXPECT_FALSE(is_ordered(Made{.parents = {kNoParent, 7}, .nodes = {1, 1}}.shape()));
}

// On a thread with a small stack: recursion would not survive.
TEST(Tree, ChainOfAMillionInABoundedStack) {
  static constexpr Ordinal kDeep = 1'000'000;
  Made chain;
  for (Ordinal i = 0; i < kDeep; ++i) {
    chain.parents.push_back(i == 0 ? kNoParent : i - 1);
    chain.nodes.push_back(1);
  }
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  const auto work = [](void* data) -> void* {
    const Shape shape = static_cast<const Made*>(data)->shape();
    EXPECT_TRUE(is_ordered(shape));
    EXPECT_EQ(path(shape, kDeep - 1).size(), kDeep);
    EXPECT_EQ(depth(shape, kDeep - 1), kDeep - 1);
    EXPECT_EQ(leaves(shape), std::vector<Ordinal>{kDeep - 1});
    EXPECT_TRUE(branch_points(shape).empty());
    EXPECT_EQ(common_ancestor(shape, kDeep - 1, 0), 0U);
    EXPECT_EQ(children(shape, 5), std::vector<Ordinal>{6});
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, work, &chain), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

}  // namespace
}  // namespace quipu::tree
