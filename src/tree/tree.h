// The tree of a session, on plain arrays: one parent per entry, in log order.
//
// Invariant: a parent's ordinal is smaller than its children's; so every walk
// towards the root ends, and one pass forward sees parents before children.
// Arrays come from the offset index, whose records are checked; the invariant
// is still not taken on trust: `is_ordered` says whether it holds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace quipu::tree {

using Ordinal = std::uint32_t;
inline constexpr Ordinal kNoParent = 0xffff'ffff;

/// What of an entry the tree needs.
struct Shape {
  std::span<const Ordinal> parents;       // kNoParent for roots and facts
  std::span<const std::uint8_t> is_node;  // 0 for facts
};

/// Every parent stands before its child and is a node.
bool is_ordered(const Shape& shape);

/// Root first, `entry` last.
std::vector<Ordinal> path(const Shape& shape, Ordinal entry);
std::uint32_t depth(const Shape& shape, Ordinal entry);
std::vector<Ordinal> children(const Shape& shape, Ordinal entry);
std::vector<Ordinal> roots(const Shape& shape);
std::vector<Ordinal> leaves(const Shape& shape);
std::vector<Ordinal> branch_points(const Shape& shape);
std::optional<Ordinal> common_ancestor(const Shape& shape, Ordinal a, Ordinal b);

}  // namespace quipu::tree
