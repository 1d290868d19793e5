// How much MemoryStore and KnowledgeIndex take at once.
#pragma once

#include <cstddef>
#include <span>

namespace quipu {

/// Entries of one append: what is compared with the tables before it is stored.
inline constexpr std::size_t kRecallBatchEntries = 2000;
inline constexpr std::size_t kRecallBatchBytes = std::size_t{8} << 20;
/// Of a page of a list.
inline constexpr std::size_t kRecallPageMax = 1'000'000;
/// Of each list of hits, before they are fused and cut to what was asked for.
inline constexpr std::size_t kRecallMatches = 100;

/// How many of what comes in from `at` on make a batch.
template <class Incoming>
std::size_t batch_length(std::span<const Incoming> incoming, std::size_t at) {
  std::size_t length = 0;
  for (std::size_t bytes = 0; at + length < incoming.size() && length < kRecallBatchEntries;
       ++length) {
    bytes += incoming[at + length].payload.size();
    if (length > 0 && bytes > kRecallBatchBytes) break;
  }
  return length;
}

}  // namespace quipu
