// Duplicates: memory nodes that say what others say.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recall/memory_tables.h"

namespace quipu::recall {

struct Twin {
  std::string id{};
  double likeness = 0;  // 1: the same words
};

/// For each node the one that is most like it, if one is at least kAlike: among those that are
/// stored, and those before it. Never one with its own id, one that has expired, or one that says
/// something else once all nodes are stored.
Result<std::vector<std::optional<Twin>>> find_twins(sql::Engine& engine, const MemoryTables& tables,
                                                    std::span<const MemoryNode> nodes,
                                                    std::int64_t now_ms);

}  // namespace quipu::recall
