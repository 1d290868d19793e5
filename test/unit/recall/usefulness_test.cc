#include "recall/usefulness.h"

#include <gtest/gtest.h>

namespace quipu::recall {
namespace {

constexpr std::int64_t kDay = 24LL * 3600 * 1000;
constexpr std::int64_t kNow = 1000 * kDay;

Kept node(std::int64_t ordinal, MemoryKind kind = MemoryKind::kLong) {
  Kept kept;
  kept.ordinal = ordinal;
  kept.kind = kind;
  kept.touched_ms = kNow;
  return kept;
}

std::vector<std::int64_t> going(std::vector<Kept> nodes, const EvictOptions& options) {
  std::vector<std::int64_t> ordinals;
  for (const Kept& kept : to_evict(std::move(nodes), options, kNow)) {
    ordinals.push_back(kept.ordinal);
  }
  return ordinals;
}

using Ordinals = std::vector<std::int64_t>;

TEST(Usefulness, GrowsWithImportanceRecencyAndUse) {
  Kept plain = node(1);
  EXPECT_DOUBLE_EQ(1, usefulness(plain, kNow));
  EXPECT_DOUBLE_EQ(0.5, usefulness(plain, kNow + 30 * kDay));
  EXPECT_DOUBLE_EQ(1, usefulness(plain, kNow - kDay)) << "clocks differ";
  plain.importance = 0.25;
  EXPECT_DOUBLE_EQ(1.25, usefulness(plain, kNow));
  plain.hits = 1;
  EXPECT_NEAR(1.25 + 0.6931, usefulness(plain, kNow), 1e-4);
}

TEST(Usefulness, WithoutLimitsOnlyWhatHasExpiredGoes) {
  std::vector<Kept> nodes{node(1), node(2), node(3)};
  EXPECT_EQ(Ordinals{}, going(nodes, {}));
  nodes[1].expires_ms = kNow;
  nodes[2].expires_ms = kNow + 1;
  EXPECT_EQ(Ordinals{2}, going(nodes, {}));
}

TEST(Usefulness, TheLeastUsefulGoFirst) {
  std::vector<Kept> nodes{node(1), node(2), node(3), node(4)};
  nodes[0].hits = 3;
  nodes[1].importance = 0.9;
  nodes[3].touched_ms = kNow - 90 * kDay;
  EvictOptions options;
  options.max_nodes = 1;
  EXPECT_EQ((Ordinals{4, 3, 2}), going(nodes, options));
  options.max_nodes = 3;
  EXPECT_EQ(Ordinals{4}, going(nodes, options));
  options.max_nodes = 4;
  EXPECT_EQ(Ordinals{}, going(nodes, options));
}

TEST(Usefulness, ShortBeforeAgentBeforeLong) {
  std::vector<Kept> nodes{node(1, MemoryKind::kLong), node(2, MemoryKind::kAgent),
                          node(3, MemoryKind::kShort)};
  nodes[2].hits = 100;
  EvictOptions options;
  options.max_nodes = 0;
  EXPECT_EQ((Ordinals{3, 2, 1}), going(nodes, options));
}

TEST(Usefulness, PinnedStayAndCount) {
  std::vector<Kept> nodes{node(1), node(2), node(3)};
  nodes[0].pinned = nodes[1].pinned = true;
  nodes[0].expires_ms = kNow - 1;
  EvictOptions options;
  options.max_nodes = 2;
  options.max_age = std::chrono::milliseconds(0);
  nodes[1].touched_ms = 0;
  EXPECT_EQ(Ordinals{3}, going(nodes, options));
}

TEST(Usefulness, WhatIsTooOldGoesWhateverTheNumber) {
  std::vector<Kept> nodes{node(1), node(2)};
  nodes[0].touched_ms = kNow - 8 * kDay;
  EvictOptions options;
  options.max_age = std::chrono::milliseconds(7 * kDay);
  EXPECT_EQ(Ordinals{1}, going(nodes, options));
}

TEST(Usefulness, OfEqualsTheOlderEntryGoesFirst) {
  EvictOptions options;
  options.max_nodes = 1;
  EXPECT_EQ((Ordinals{3, 5}), going({node(7), node(3), node(5)}, options));
}

}  // namespace
}  // namespace quipu::recall
