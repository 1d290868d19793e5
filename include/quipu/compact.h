// Compaction: a summary takes the place of the older part of a conversation, in
// requests. Nothing is removed: the covered entries stay readable and searchable,
// and `lift_compaction` brings them back.
//
// The boundary never separates a tool call from its result. Without a summarizer
// nobody can say what the old part meant; then only old tool outputs are shortened,
// and the result says so.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu {

class Store;

/// What a summarizer gets.
struct CompactionInput {
  std::string session_id;
  /// The part to be summarized as plain text, speakers named, long outputs cut.
  std::string transcript;
  /// What stands for the part before it already; to be taken up in the new summary.
  std::string previous_summary;
  std::uint64_t tokens = 0;
};
using Summarizer = std::function<Result<std::string>(const CompactionInput&)>;

struct CompactOptions {
  /// What stays as it was said, newest first, in tokens.
  std::uint64_t keep_tokens = 20'000;
  /// None: tool outputs are shortened, nothing else.
  Summarizer summarizer{};
  /// Why now: "manual", "auto", or a word of the caller's.
  std::string trigger = "manual";
};

struct CompactResult {
  /// The new `compaction_summary`; empty when none was made.
  std::string entry_id;
  std::string first_kept_entry_id;
  std::uint64_t tokens_before = 0;
  std::uint64_t tokens_after = 0;
  std::uint64_t covered_entries = 0;
  /// Tool results whose output was shortened instead (no summarizer).
  std::uint64_t pruned_outputs = 0;
  std::vector<std::string> files_read;
  std::vector<std::string> files_changed;
  std::string summary;
};

/// Compacts the conversation at the session's head. Both ids empty and nothing
/// pruned: there was nothing to gain. `head_moved` when the session went on while
/// the summary was made: look again. What the summarizer answers with an error, this
/// answers too.
Result<CompactResult> compact(Store& store, std::string_view session_id,
                              const CompactOptions& options = {});

/// Takes a compaction or an edit back, from the head on: what it covered counts
/// again. Empty: the compaction in force (`not_found` when there is none). Gives
/// the id of the entry that says so.
Result<std::string> lift_compaction(Store& store, std::string_view session_id,
                                    std::string_view entry_id = {});

/// What the model sees of an entry from now on: `replacement` is a JSON string or an
/// array of parts, or `null` to leave the entry out. Gives the new entry's id.
Result<std::string> edit_context(Store& store, std::string_view session_id,
                                 std::string_view entry_id, std::string_view replacement);

}  // namespace quipu
