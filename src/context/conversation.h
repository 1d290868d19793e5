// Conversation: the canonical form between a path and a request.
//
// Whatever was stored, the grammar here is strict, and every writer relies on it:
//
//   conversation = (user | assistant)*
//   user         = text or attachment, at least one
//   assistant    = thinking, text or call, at least one; never ends with thinking;
//                  results: exactly one for each call, in the order of the calls
//
// Two users never stand side by side, nor do two assistants unless the first made
// calls. Ids of calls are unique. No text is empty or blank.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "context/rules.h"
#include "context/selection.h"
#include "model/message_view.h"

namespace quipu::context {

/// One part, and where it came from. Strings are tokens: see message_view.h.
struct Piece {
  PartView part;
  std::string_view id;  // token: calls and results, as the provider will see it
  std::uint32_t note = 0;
  std::uint64_t tokens = 0;
};

struct Block {
  bool is_assistant = false;
  std::vector<Piece> pieces;
  std::vector<Piece> results;

  bool has_calls() const { return !results.empty(); }
};

/// What became of an entry; `Conversation::notes` has one for each that was looked at.
struct Note {
  PathEntry entry;
  Verdict verdict = Verdict::kKept;
  std::string_view reason;
  std::uint64_t tokens = 0;
};

struct Conversation {
  std::vector<Piece> system;  // texts
  /// Said before everything else, as the user, and never dropped: summaries, and
  /// that something is missing.
  std::vector<Piece> preamble;
  std::vector<Block> blocks;
  std::vector<Note> notes;
  std::string model;
  std::string thinking_level;
  /// Nobody but us spoke last.
  bool assistant_last = false;
  /// The newest usage that a provider reported for this very conversation:
  /// tokens up to and including block `anchor_block`.
  std::uint64_t anchor_tokens = 0;
  std::size_t anchor_block = 0;
  /// By how many quarters estimates are taken, after that report.
  std::uint64_t token_quarters = 4;

  std::deque<std::string> owned;

  /// Keeps `json` alive as long as the conversation.
  std::string_view keep(std::string json);
};

/// Makes the conversation that `rules` ask for. `model`: what will answer; empty:
/// what answered last.
Conversation converse(const Selection& selection, const Lineage& lineage, const Rules& rules,
                      const ContextOptions& options);

/// A text part of our own words, followed by the text of `token` if given.
PartView text_of(Conversation& conversation, std::string_view words, std::string_view token = {},
                 std::string_view after = {});

}  // namespace quipu::context
