// Where a conversation can be cut for a compaction, and what is on the old side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "context/conversation.h"

namespace quipu::context {

/// Blocks `[0, first_kept)` are covered. `first_kept` begins with an entry of the
/// path that no call before it reaches beyond.
struct Cut {
  std::size_t first_kept = 0;
  PathEntry first_entry;
  std::uint64_t covered_tokens = 0;
  std::uint64_t kept_tokens = 0;
};

/// Nothing when everything fits into `keep_tokens`, or nothing can be cut off.
std::optional<Cut> find_cut(const Conversation& conversation, std::uint64_t keep_tokens);

/// The covered part for whoever summarizes it.
std::string transcript(const Conversation& conversation, std::size_t blocks);

/// Paths named in calls, each once, in order.
struct TouchedFiles {
  std::vector<std::string> read;
  std::vector<std::string> changed;
};
void collect_files(const Conversation& conversation, std::size_t blocks, TouchedFiles& into);

/// Tool outputs of the first `blocks` that are worth shortening: entry by entry,
/// what is to stand in its place.
struct ShorterOutput {
  PathEntry entry;
  std::string replacement;  // an array of parts
};
std::vector<ShorterOutput> shorter_outputs(const Conversation& conversation, std::size_t blocks);

}  // namespace quipu::context
