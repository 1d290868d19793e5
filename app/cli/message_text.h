// What an entry says, for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quipu/entry.h"
#include "quipu/message.h"

namespace quipu::cli {

/// A piece of an entry. All texts are content as it came: make them safe
/// before showing them.
struct Block {
  enum class Kind : unsigned char { kText, kThinking, kToolUse, kToolResult, kOther };

  Kind kind = Kind::kText;
  std::string label;  // a tool's name and the like
  std::string text;
};

/// Who speaks: the message's role, else the entry's type.
std::string speaker_of(const EntryView& entry);

/// The pieces in order. What is not understood is shown as its JSON.
std::vector<Block> blocks_of(const EntryView& entry);
std::vector<Block> blocks_of(const Message& message);

/// Who speaks and the first words, for one line of a tree.
struct Gist {
  std::string speaker;
  std::string preview;
  /// False: the record of an agent that may keep what is said beside it; the conversation has
  /// that (`read_conversation`).
  bool is_said = true;
};
Gist gist_of(const EntryView& entry);

/// The first words.
std::string preview_of(const EntryView& entry);
std::string preview_of(const Message& message);

}  // namespace quipu::cli
