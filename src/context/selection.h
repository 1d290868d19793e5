// Selection: which entries of a path a context is made from.
//
// Walks from the head towards the root and stops where the conversation was
// compacted or reset; what lies before is found by id, from what the compaction
// wrote down (`checkpoint`), so that the cost is that of what is kept. Without such
// a note the rest of the path is walked too, on the index alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/lineage.h"
#include "dialect/lifted.h"
#include "quipu/result.h"

namespace quipu::context {

/// A node of the path; of another agent's, one message. Views into the lineage, or into
/// `Selection::owned`.
struct PathEntry {
  Ordinal ordinal = kNone;  // in the lineage; another agent's: in `Foreign::log`
  std::uint32_t depth = 0;
  EntryType code = EntryType::kOther;
  bool redacted = false;
  /// Another agent's: its message among those of `Foreign::lifted`.
  std::uint32_t lifted = kNotLifted;
  static constexpr std::uint32_t kNotLifted = UINT32_MAX;
  bool is_foreign() const { return lifted != kNotLifted; }
  std::string_view type;
  /// The payload, and whatever stands behind it in its line: whoever walks over it
  /// stops with its brace.
  std::string_view payload;
};

/// The part of a path that another agent wrote, by that agent's own rules.
struct Foreign {
  /// The session as whoever holds these entries sees it.
  std::shared_ptr<const Lineage> log;
  dialect::Lifted lifted;
};

struct Selection {
  /// The conversation, oldest first; without what a compaction covers.
  std::vector<PathEntry> entries;
  /// In force: its summary speaks for what came before `entries`.
  std::optional<PathEntry> compaction;
  /// Nodes of the path that are not among `entries`.
  std::uint64_t covered = 0;
  /// Before `entries`, oldest first: what makes the system prompt, and the last
  /// model and thinking level chosen.
  std::vector<PathEntry> before;
  /// The last edit of each entry, by its id; nothing when there are none.
  std::unordered_map<std::string, PathEntry> edits;

  Foreign foreign;

  /// Envelopes whose strings had to be copied or mended; stable addresses.
  std::vector<std::unique_ptr<std::string>> owned;

  /// `lineage`: what the selection was made from.
  Result<std::string> id_of(const Lineage& lineage, const PathEntry& entry) const {
    return (entry.is_foreign() ? *foreign.log : lineage).id(entry.ordinal);
  }
};

/// `head`: a node. `full`: compactions are passed over.
Result<Selection> select(const std::shared_ptr<const Lineage>& lineage, Ordinal head, bool full);

}  // namespace quipu::context
