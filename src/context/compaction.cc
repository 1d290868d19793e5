#include "context/compaction.h"

#include <algorithm>
#include <map>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "context/request.h"
#include "context/shorten.h"

namespace quipu::context {
namespace {

constexpr Shortening kTranscriptOutput{.head = 1500, .tail = 500};
constexpr Shortening kPrunedOutput{.head = 400, .tail = 200};
constexpr std::size_t kWorthPruning = 1000;  // bytes

const PathEntry& entry_of(const Conversation& conversation, const Piece& piece) {
  return *conversation.notes[piece.note].entry;
}

std::uint64_t counted_tokens(const Block& block) {
  std::uint64_t tokens = 0;
  for (const Piece& piece : block.pieces) tokens += piece.tokens;
  for (const Piece& piece : block.results) tokens += piece.tokens;
  return tokens;
}

// How far down the path the block and the results of its calls reach.
std::uint32_t deepest(const Conversation& conversation, const Block& block) {
  std::uint32_t depth = 0;
  for (const auto* pieces : {&block.pieces, &block.results}) {
    for (const Piece& piece : *pieces) {
      depth = std::max(depth, entry_of(conversation, piece).depth);
    }
  }
  return depth;
}

// Results may come late. A cut before `first` is clean when nothing on its old
// side stands behind it on the path.
std::size_t cleaned(const Conversation& conversation, std::size_t first) {
  for (std::size_t i = first; i-- > 0;) {
    const std::uint32_t start =
        entry_of(conversation, conversation.blocks[first].pieces.front()).depth;
    if (deepest(conversation, conversation.blocks[i]) >= start) first = i;
  }
  return first;
}

void say(std::string& out, std::string_view who, std::string_view what) {
  out += who;
  out += ": ";
  out += what;
  out += "\n\n";
}

void add_once(std::vector<std::string>& list, std::string path) {
  if (std::find(list.begin(), list.end(), path) == list.end()) list.push_back(std::move(path));
}

bool names_any(const std::string& tool, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return tool.find(word) != std::string::npos; });
}

}  // namespace

std::optional<Cut> find_cut(const Conversation& conversation, std::uint64_t keep_tokens) {
  const std::vector<Block>& blocks = conversation.blocks;
  std::size_t first = blocks.size();
  std::uint64_t kept = 0;
  while (first > 0 && kept + counted_tokens(blocks[first - 1]) <= keep_tokens) {
    kept += counted_tokens(blocks[--first]);
  }
  if (first == 0) return std::nullopt;
  if (first == blocks.size()) --first;  // at least the newest words stay
  // Better where a user speaks, when that is not far.
  std::size_t turn = first;
  while (turn < blocks.size() && blocks[turn].is_assistant) ++turn;
  if (turn < blocks.size()) first = turn;
  first = cleaned(conversation, first);
  if (first == 0) return std::nullopt;
  Cut cut;
  cut.first_kept = first;
  cut.first_entry = entry_of(conversation, blocks[first].pieces.front());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    (i < first ? cut.covered_tokens : cut.kept_tokens) += counted_tokens(blocks[i]);
  }
  return cut;
}

std::string transcript(const Conversation& conversation, std::size_t blocks) {
  std::string out;
  for (std::size_t i = 0; i < blocks; ++i) {
    const Block& block = conversation.blocks[i];
    for (const Piece& piece : block.pieces) {
      const WirePart part = piece.part();
      if (part.type == PartType::kText) {
        say(out, block.is_assistant ? "Assistant" : "User", plain(part.text));
      } else if (part.type == PartType::kToolUse) {
        say(out, "Call of " + plain(part.name), input_object(part));
      } else if (part.type == PartType::kAttachment) {
        say(out, block.is_assistant ? "Assistant" : "User", plain(stand_in(part)));
      }
    }
    for (const Piece& piece : block.results) {
      const WirePart result = piece.part();
      const std::string output = shortened(output_text(result), kTranscriptOutput);
      say(out, (result.is_error ? "Error of " : "Result of ") + plain(result.name), plain(output));
    }
  }
  return out;
}

void collect_files(const Conversation& conversation, std::size_t blocks, TouchedFiles& into) {
  for (std::size_t i = 0; i < blocks; ++i) {
    for (const Piece& piece : conversation.blocks[i].pieces) {
      if (piece.type() != PartType::kToolUse) continue;
      const WirePart call = piece.part();
      std::string path;
      for (const std::string_view key : {"path", "file_path", "filePath", "filename"}) {
        const auto member = json::find_member(call.input, key);
        if (member && member->kind == json::Kind::kString && path.empty()) {
          path = json::decode_string(member->value);
        }
      }
      if (path.empty()) continue;
      std::string tool = plain(call.name);
      for (char& c : tool) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      if (names_any(tool, {"write", "edit", "patch", "create", "replace", "insert", "delete"})) {
        add_once(into.changed, std::move(path));
      } else {
        add_once(into.read, std::move(path));
      }
    }
  }
}

std::vector<ShorterOutput> shorter_outputs(const Conversation& conversation, std::size_t blocks) {
  // Several results may share an entry: what replaces it has all of them.
  std::map<Ordinal, std::vector<const Piece*>> by_entry;
  for (std::size_t i = 0; i < blocks; ++i) {
    for (const Piece& result : conversation.blocks[i].results) {
      const Note& note = conversation.notes[result.note];
      // An entry of another agent may hold more than results, which would go with them.
      if (note.entry->is_foreign()) continue;
      if (note.verdict == Verdict::kKept) by_entry[note.entry->ordinal].push_back(&result);
    }
  }
  std::vector<ShorterOutput> shorter;
  for (const auto& [ordinal, results] : by_entry) {
    const bool is_worth_it = std::any_of(results.begin(), results.end(), [](const Piece* result) {
      return result->part().content.size() > kWorthPruning;
    });
    if (!is_worth_it) continue;
    ShorterOutput output;
    output.entry = entry_of(conversation, *results.front());
    json::Writer out(output.replacement);
    out.begin_array();
    for (const Piece* piece : results) {
      const WirePart result = piece->part();
      out.begin_object()
          .member("type", "tool_result")
          .raw_member("toolUseId", result.tool_use_id)
          .raw_member("content", shortened_content(output_text(result), kPrunedOutput));
      if (result.is_error) out.member("isError", true);
      out.end_object();
    }
    out.end_array();
    shorter.push_back(std::move(output));
  }
  return shorter;
}

}  // namespace quipu::context
