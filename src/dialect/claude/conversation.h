// What Claude sends to its model of the conversation that ends with a line.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dialect/dialect.h"

namespace quipu::dialect::claude {

/// The chain (chain.h) from its last compaction on, without what is not for the
/// model: failed requests, other agents' lines, status, and lines that a later one took
/// out (`snipMetadata`). A result of a tool that the
/// program shortened later (`content-replacement`) is picked with the shorter text.
std::vector<Pick> picks_of(std::span<const StoredRecord> records, std::uint32_t at);

}  // namespace quipu::dialect::claude
