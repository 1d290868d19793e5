#include "tree/tree.h"

#include <algorithm>

namespace quipu::tree {
namespace {

// 0, 1 or 2 (meaning more) children of every entry.
std::vector<std::uint8_t> count_children(const Shape& shape) {
  std::vector<std::uint8_t> counts(shape.parents.size(), 0);
  for (const Ordinal parent : shape.parents) {
    if (parent == kNoParent) continue;
    counts[parent] = static_cast<std::uint8_t>(counts[parent] | (counts[parent] + 1));
  }
  return counts;
}

template <class Keep>
std::vector<Ordinal> select(const Shape& shape, Keep&& keep) {
  std::vector<Ordinal> selected;
  for (Ordinal entry = 0; entry < shape.parents.size(); ++entry) {
    if (shape.is_node[entry] != 0 && keep(entry)) selected.push_back(entry);
  }
  return selected;
}

}  // namespace

bool is_ordered(const Shape& shape) {
  for (Ordinal entry = 0; entry < shape.parents.size(); ++entry) {
    const Ordinal parent = shape.parents[entry];
    if (parent == kNoParent) continue;
    if (parent >= entry || shape.is_node[parent] == 0) return false;
  }
  return true;
}

std::vector<Ordinal> path(const Shape& shape, Ordinal entry) {
  std::vector<Ordinal> nodes;
  if (shape.is_node[entry] == 0) return nodes;
  for (Ordinal at = entry; at != kNoParent; at = shape.parents[at]) nodes.push_back(at);
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

std::uint32_t depth(const Shape& shape, Ordinal entry) {
  std::uint32_t steps = 0;
  for (Ordinal at = shape.parents[entry]; at != kNoParent; at = shape.parents[at]) ++steps;
  return steps;
}

std::vector<Ordinal> children(const Shape& shape, Ordinal entry) {
  return select(shape, [&](Ordinal other) { return shape.parents[other] == entry; });
}

std::vector<Ordinal> roots(const Shape& shape) {
  return select(shape, [&](Ordinal entry) { return shape.parents[entry] == kNoParent; });
}

std::vector<Ordinal> leaves(const Shape& shape) {
  const auto counts = count_children(shape);
  return select(shape, [&](Ordinal entry) { return counts[entry] == 0; });
}

std::vector<Ordinal> branch_points(const Shape& shape) {
  const auto counts = count_children(shape);
  return select(shape, [&](Ordinal entry) { return counts[entry] > 1; });
}

std::optional<Ordinal> common_ancestor(const Shape& shape, Ordinal a, Ordinal b) {
  // The later of two different nodes cannot be an ancestor of the earlier.
  while (a != b) {
    Ordinal& later = a > b ? a : b;
    later = shape.parents[later];
    if (later == kNoParent) return std::nullopt;
  }
  return shape.is_node[a] != 0 ? std::optional(a) : std::nullopt;
}

}  // namespace quipu::tree
