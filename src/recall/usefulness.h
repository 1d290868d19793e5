// Usefulness: what is to be forgotten when there is too much.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "quipu/memory.h"

namespace quipu::recall {

/// What eviction knows of a node.
struct Kept {
  std::int64_t ordinal = 0;  // of its entry
  MemoryKind kind = MemoryKind::kLong;
  double importance = 0;
  bool pinned = false;
  std::optional<std::int64_t> expires_ms{};
  /// When it was written or found last.
  std::int64_t touched_ms = 0;
  std::uint64_t hits = 0;
};

/// Importance, recency (1 now, halved every 30 days) and the logarithm of its use, added.
double usefulness(const Kept& node, std::int64_t now_ms);

/// Which ones go, in order; see MemoryStore::evict. Of equals the older entry goes first.
std::vector<Kept> to_evict(std::vector<Kept> nodes, const EvictOptions& options,
                           std::int64_t now_ms);

}  // namespace quipu::recall
