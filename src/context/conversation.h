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
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "context/piece.h"
#include "context/rules.h"
#include "context/selection.h"

namespace quipu::context {

using Pieces = std::pmr::vector<Piece>;

struct Block {
  Block(bool assistant, std::pmr::memory_resource& memory)
      : is_assistant(assistant), pieces(&memory), results(&memory) {}

  bool is_assistant = false;
  Pieces pieces;
  Pieces results;

  bool has_calls() const { return !results.empty(); }
};

/// What became of an entry; `Conversation::notes` has one for each that was looked at.
struct Note {
  const PathEntry* entry = nullptr;  // of the selection
  std::string_view reason;
  std::uint32_t tokens = 0;
  Verdict verdict = Verdict::kKept;
};

struct Conversation {
  Conversation() = default;
  Conversation(Conversation&&) = default;
  // Would free the memory of blocks before the blocks.
  Conversation& operator=(Conversation&&) = delete;

  /// Of all blocks, so that it goes back to the system as a whole: in pieces it would
  /// stay with the process, beside a request of hundreds of megabytes.
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory =
      std::make_unique<std::pmr::monotonic_buffer_resource>();

  Pieces system;  // texts
  /// Said before everything else, as the user, and never dropped: summaries, and
  /// that something is missing.
  Pieces preamble;
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

  Block new_block(bool is_assistant) const { return {is_assistant, *memory}; }
  /// When only the notes are needed any more.
  void free_blocks() {
    std::vector<Block>().swap(blocks);
    memory->release();
  }
  /// Keeps `json` alive as long as the conversation.
  std::string_view keep(std::string json);
};

/// Makes the conversation that `rules` ask for. It refers to `selection`, and both
/// to the lineage.
Conversation converse(const Selection& selection, const Lineage& lineage, const Rules& rules,
                      const ContextOptions& options);

/// A text part of our own words, followed by the text of `token` if given.
PartView text_of(Conversation& conversation, std::string_view words, std::string_view token = {},
                 std::string_view after = {});

}  // namespace quipu::context
