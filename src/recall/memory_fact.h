// Entries of the log `system/memory`.
//
//   fact.quipu.memory   a node, in the form of memory_node_json
//   fact.quipu.forget   {ids: [id…], reason: forgotten | evicted}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/memory.h"
#include "quipu/result.h"

namespace quipu::recall {

inline constexpr std::string_view kMemoryType = "fact.quipu.memory";
inline constexpr std::string_view kForgetType = "fact.quipu.forget";

/// `invalid_argument` unless the node can be stored, once it has an id.
Result<void> check(const MemoryNode& node);

std::string forget_payload(std::span<const std::string> ids, std::string_view reason);
/// Also of what removes documents.
std::vector<std::string> read_ids(std::string_view payload);

std::string sources_json(std::span<const MemorySource> sources);
std::vector<MemorySource> read_sources(std::string_view array);

}  // namespace quipu::recall
