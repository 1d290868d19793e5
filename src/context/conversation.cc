#include "context/conversation.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "base/json_scan.h"
#include "context/wire_names.h"
#include "dialect/lift.h"

namespace quipu::context {
namespace {

std::string plain(std::string_view token) {
  return token.empty() ? std::string() : json::decode_string(token);
}

std::string_view token_member(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->kind == json::Kind::kString ? member->value : std::string_view();
}

// `runtime_init` and `system_prompt_override` come from many hands.
std::optional<std::string_view> prompt_in(std::string_view payload) {
  for (const std::string_view key : {"systemPrompt", "prompt", "text", "content"}) {
    const auto member = json::find_member(payload, key);
    if (!member) continue;
    if (member->kind == json::Kind::kString) return member->value;
    if (member->kind == json::Kind::kNull) return std::string_view();
  }
  return std::nullopt;
}

class Composer {
 public:
  Composer(const Selection& selection, const Lineage& lineage, const Rules& rules,
           const ContextOptions& options)
      : selection_(selection),
        lineage_(lineage),
        rules_(rules),
        options_(options),
        names_(rules, result_) {
    lift_all();
    result_.model = options.model.empty() ? last_model() : options.model;
  }

  Conversation run() {
    for (const PathEntry& entry : selection_.before) {
      if (!take_setting(entry) && !entry.redacted) take_message_before(entry);
    }
    if (selection_.compaction) take_compaction(*selection_.compaction);
    for (at_ = 0; at_ < selection_.entries.size(); ++at_) take(selection_.entries[at_]);
    end_stream();
    close_calls();
    if (base_prompt_) result_.system.insert(result_.system.begin(), *base_prompt_);
    tidy();
    return std::move(result_);
  }

 private:
  // Everything is read once, before anything is decided: which reasoning may stay
  // depends on who spoke last.
  void lift_all() {
    lifted_.reserve(selection_.entries.size());
    for (const PathEntry& entry : selection_.entries) {
      Lifted lifted;
      lifted.first = parts_.size();
      if (dialect::carries_message(entry.type)) {
        lifted.message = dialect::lift(entry.type, entry.payload, parts_);
      }
      lifted.count = parts_.size() - lifted.first;
      lifted_.push_back(lifted);
    }
  }

  std::string last_model() const {
    for (std::size_t i = lifted_.size(); i-- > 0;) {
      const PathEntry& entry = selection_.entries[i];
      if (entry.redacted) continue;
      std::string model = entry.code == EntryType::kModelChange
                              ? plain(token_member(entry.payload, "model"))
                              : plain(lifted_[i].message.model);
      if (!model.empty()) return model;
    }
    for (auto entry = selection_.before.rbegin(); entry != selection_.before.rend(); ++entry) {
      if (entry->code != EntryType::kModelChange) continue;
      return plain(token_member(entry->payload, "model"));
    }
    return {};
  }

  std::uint32_t note(const PathEntry& entry, Verdict verdict = Verdict::kKept,
                     std::string_view reason = {}) {
    result_.notes.push_back({.entry = entry, .verdict = verdict, .reason = reason});
    return static_cast<std::uint32_t>(result_.notes.size() - 1);
  }

  // A part of an entry is missing; when nothing of it was used yet, all of it is.
  void leave_out(std::uint32_t note, std::string_view reason) {
    result_.notes[note].verdict = Verdict::kShortened;
    result_.notes[note].reason = reason;
  }

  Piece piece(PartView part, std::uint32_t note) { return {.part = part, .id = {}, .note = note}; }

  // ---- what is not said but set

  bool take_setting(const PathEntry& entry) {
    if (entry.redacted) return false;
    if (entry.code == EntryType::kRuntimeInit || entry.code == EntryType::kSystemPromptOverride) {
      const std::uint32_t number = note(entry, Verdict::kKept, "setting");
      if (const auto prompt = prompt_in(entry.payload)) {
        base_prompt_.reset();
        if (says_something(*prompt)) base_prompt_ = piece(text_part(*prompt), number);
      }
      return true;
    }
    if (entry.code == EntryType::kThinkingLevelChange) {
      result_.thinking_level = plain(token_member(entry.payload, "level"));
    }
    if (entry.code == EntryType::kThinkingLevelChange || entry.code == EntryType::kModelChange) {
      note(entry, Verdict::kKept, "setting");
      return true;
    }
    return false;
  }

  void take_compaction(const PathEntry& entry) {
    const std::uint32_t number = note(entry, Verdict::kKept, "summary");
    const std::string_view summary = token_member(entry.payload, "summary");
    if (!says_something(summary)) return leave_out(number, "empty");
    result_.preamble.push_back(
        piece(text_of(result_,
                      "The conversation so far has been compacted. This summary stands for what "
                      "was said before:\n\n<summary>\n",
                      summary, "\n</summary>"),
              number));
  }

  // ---- entries of the conversation

  void take(const PathEntry& entry) {
    if (completes_stream(entry)) forget_stream();
    if (entry.redacted) {
      note(entry, Verdict::kDropped, "redacted");
      return;
    }
    if (entry.code != EntryType::kMessageDeltaBatch) end_stream();
    if (take_edited(entry) || take_setting(entry)) return;
    if (dialect::carries_message(entry.type)) {
      take_message(entry, note(entry));
    } else if (entry.code == EntryType::kMessageDeltaBatch) {
      take_deltas(entry);
    } else if (entry.code == EntryType::kBranchSummary) {
      take_branch_summary(entry);
    } else if (entry.code == EntryType::kCompactionSummary) {
      note(entry, Verdict::kDropped, "not_in_force");
    } else {
      note(entry, Verdict::kDropped, "no_message");
    }
  }

  bool take_edited(const PathEntry& entry) {
    if (selection_.edits.empty()) return false;
    const auto id = lineage_.id(entry.ordinal);
    const auto edit = id.ok() ? selection_.edits.find(*id) : selection_.edits.end();
    if (edit == selection_.edits.end() || !dialect::carries_message(entry.type)) return false;
    const auto replacement = json::find_member(edit->second.payload, "replacement");
    if (replacement->kind == json::Kind::kNull) {
      note(entry, Verdict::kDropped, "edited");
      return true;
    }
    replacement_ = replacement->value;
    take_message(entry, note(entry, Verdict::kReplaced, "edited"));
    replacement_.reset();
    return true;
  }

  // A plain text put in the place of a tool's output leaves the output's ties.
  std::vector<PartView> replaced(std::span<const PartView> parts) const {
    std::vector<PartView> fresh;
    const bool is_result = !parts.empty() && parts[0].type == PartType::kToolResult;
    if (is_result && replacement_->starts_with('"')) {
      fresh.assign(parts.begin(), parts.end());
      for (PartView& part : fresh) part.content = *replacement_;
    } else {
      read_content(*replacement_, fresh);
    }
    return fresh;
  }

  void take_message_before(const PathEntry& entry) {
    std::vector<PartView> parts;
    const MessageView message = dialect::lift(entry.type, entry.payload, parts);
    take_parts(entry, message, parts, note(entry));
  }

  void take_message(const PathEntry& entry, std::uint32_t number) {
    const Lifted& lifted = lifted_[at_];
    const std::span<const PartView> parts =
        std::span<const PartView>(parts_).subspan(lifted.first, lifted.count);
    if (!replacement_) return take_parts(entry, lifted.message, parts, number);
    take_parts(entry, lifted.message, replaced(parts), number);
  }

  void take_parts(const PathEntry& entry, const MessageView& message,
                  std::span<const PartView> parts, std::uint32_t number) {
    const std::size_t before = accepted_;
    for (const PartView& part : parts) take_part(message, part, number);
    Note& said = result_.notes[number];
    if (accepted_ == before && said.verdict != Verdict::kDropped) {
      if (said.reason.empty() || said.verdict == Verdict::kReplaced) said.reason = "empty";
      said.verdict = Verdict::kDropped;
    }
    if (message.role == Role::kAssistant && !message.usage.empty()) take_usage(entry, message);
  }

  void take_usage(const PathEntry& entry, const MessageView& message) {
    const bool is_after = !selection_.compaction || entry.depth > selection_.compaction->depth;
    if (!is_after || result_.blocks.empty()) return;
    const Usage usage = read_usage(message.usage);
    if (!usage.tokens_in) return;
    result_.anchor_tokens = *usage.tokens_in + usage.tokens_out.value_or(0) +
                            usage.cache_read.value_or(0) + usage.cache_write.value_or(0);
    result_.anchor_block = result_.blocks.size() - 1;
  }

  void take_part(const MessageView& message, const PartView& part, std::uint32_t number) {
    switch (part.type) {
      case PartType::kText:
        take_text(message, part, number);
        break;
      case PartType::kThinking:
        take_thinking(message, part, number);
        break;
      case PartType::kToolUse:
        take_call(part, number);
        break;
      case PartType::kToolResult:
        take_result(part, number);
        break;
      case PartType::kAttachment:
        // Models do not speak in files: what is attached to an answer is for a screen.
        if (message.role == Role::kAssistant && !rules_.keeps_all_reasoning) {
          leave_out(number, "attachment_of_assistant");
        } else {
          add(message.role == Role::kAssistant, piece(part, number));
        }
        break;
      case PartType::kStatus:
        leave_out(number, "for_the_screen");
        break;
      case PartType::kOther:
        leave_out(number, "unknown_part");
        break;
    }
  }

  void take_text(const MessageView& message, const PartView& part, std::uint32_t number) {
    if (!says_something(part.text)) return leave_out(number, "empty");
    if (message.role != Role::kSystem) {
      return add(message.role == Role::kAssistant, piece(part, number));
    }
    ++accepted_;
    if (result_.blocks.empty()) {
      result_.system.push_back(piece(part, number));
      return;
    }
    // Said in the middle: stays there, so that what is before it does not change.
    add(false, piece(text_of(result_, "<system>\n", part.text, "\n</system>"), number));
  }

  bool is_signer(std::string_view provider) const {
    return provider == rules_.signer || provider == name(rules_.provider);
  }

  void take_thinking(const MessageView& message, const PartView& part, std::uint32_t number) {
    const bool is_ours = !part.signature.empty() && is_signer(plain(message.provider)) &&
                         plain(message.model) == result_.model;
    const bool is_kept =
        rules_.keeps_all_reasoning ? !part.signature.empty() || says_something(part.text) : is_ours;
    if (message.role != Role::kAssistant || !is_kept) {
      return leave_out(number, "reasoning_of_another_model");
    }
    // Reasoning opens what an assistant says; behind words of another entry it
    // would claim to belong to them.
    const bool opens = result_.blocks.empty() || !result_.blocks.back().is_assistant ||
                       result_.blocks.back().has_calls() ||
                       result_.blocks.back().pieces.back().note == number ||
                       result_.blocks.back().pieces.back().part.type == PartType::kThinking;
    if (!opens && !rules_.keeps_all_reasoning) return leave_out(number, "reasoning_out_of_place");
    add(true, piece(part, number));
  }

  // ---- calls and results

  void take_call(const PartView& part, std::uint32_t number) {
    const std::string id = plain(part.tool_use_id);
    // Some write a call twice: in the answer, and as a line of its own.
    if (!id.empty() && open_.contains(id)) return leave_out(number, "repeated_call");
    Piece call = piece(part, number);
    call.part.name = names_.tool(part.name);
    call.id = names_.call(id);
    add(true, call);
    Block& block = result_.blocks.back();
    Piece result;
    result.id = call.id;
    result.note = number;
    result.part.name = call.part.name;
    block.results.push_back(result);
    if (!id.empty()) {
      open_[id] = {.block = result_.blocks.size() - 1, .slot = block.results.size() - 1};
    }
  }

  void take_result(const PartView& part, std::uint32_t number) {
    const auto open = open_.find(plain(part.tool_use_id));
    if (open == open_.end()) return leave_out(number, "no_such_call");
    Piece& result = result_.blocks[open->second.block].results[open->second.slot];
    const std::string_view name = result.part.name;
    result.part = part;
    result.part.name = name;
    result.note = number;
    ++accepted_;
    open_.erase(open);
  }

  // Every call that was cut off gets a result that says so.
  void close_calls() {
    for (Block& block : result_.blocks) {
      for (Piece& result : block.results) {
        if (result.part.type == PartType::kToolResult) continue;
        result.part.type = PartType::kToolResult;
        result.part.is_error = true;
        result.part.content = "\"[No result: the call was interrupted.]\"";
        result.note = note(result_.notes[result.note].entry, Verdict::kAdded, "interrupted_call");
      }
    }
  }

  // ---- streams that never became a message

  // Also when it is redacted: then its pieces must not come back.
  bool completes_stream(const PathEntry& entry) const {
    return entry.code == EntryType::kMessage && !stream_.empty() &&
           plain(lifted_[at_].message.stream_id) == stream_;
  }

  void take_deltas(const PathEntry& entry) {
    const std::string stream = plain(token_member(entry.payload, "streamId"));
    if (stream != stream_) end_stream();
    stream_ = stream;
    stream_notes_.push_back(note(entry, Verdict::kReplaced, "folded"));
    if (const auto deltas = json::find_member(entry.payload, "deltas")) {
      read_content(deltas->value, stream_parts_);
    }
  }

  // The message came: it says everything. It did not: what there is, is kept.
  void end_stream() {
    if (stream_notes_.empty()) return;
    for (const std::uint32_t number : stream_notes_) {
      result_.notes[number].verdict = Verdict::kKept;
      result_.notes[number].reason = "interrupted";
    }
    const std::size_t before = accepted_;
    MessageView message;
    message.role = Role::kAssistant;
    for (const PartView& part : stream_parts_) {
      if (part.type == PartType::kText) take_text(message, part, stream_notes_.back());
    }
    if (accepted_ == before) {
      for (const std::uint32_t number : stream_notes_) {
        result_.notes[number].verdict = Verdict::kDropped;
      }
    }
    forget_stream();
  }

  void forget_stream() {
    stream_.clear();
    stream_notes_.clear();
    stream_parts_.clear();
  }

  void take_branch_summary(const PathEntry& entry) {
    const std::uint32_t number = note(entry, Verdict::kKept, "summary");
    const std::string_view summary = token_member(entry.payload, "summary");
    if (!says_something(summary)) return leave_out(number, "empty");
    add(false, piece(text_of(result_,
                             "This summary stands for another branch of the conversation, which "
                             "was left:\n\n<summary>\n",
                             summary, "\n</summary>"),
                     number));
  }

  // ---- the grammar

  void add(bool is_assistant, Piece piece) {
    ++accepted_;
    std::vector<Block>& blocks = result_.blocks;
    const bool goes_on = !blocks.empty() && blocks.back().is_assistant == is_assistant &&
                         (!blocks.back().has_calls() || piece_goes_on(blocks.back(), piece));
    if (!goes_on) {
      blocks.emplace_back();
      blocks.back().is_assistant = is_assistant;
    }
    blocks.back().pieces.push_back(piece);
  }

  // Calls of one entry stand together; so do those of the lines that some agents
  // write for each part of one answer, as long as none is answered.
  bool piece_goes_on(const Block& block, const Piece& piece) const {
    if (block.pieces.back().note == piece.note) return true;
    return piece.part.type == PartType::kToolUse &&
           std::all_of(block.results.begin(), block.results.end(), [](const Piece& result) {
             return result.part.type != PartType::kToolResult;
           });
  }

  void tidy() {
    if (!rules_.keeps_all_reasoning) {
      for (Block& block : result_.blocks) drop_last_thoughts(block);
      join_blocks();
    }
    add_missing_speakers();
  }

  void drop_last_thoughts(Block& block) {
    while (!block.pieces.empty() && block.pieces.back().part.type == PartType::kThinking) {
      leave_out(block.pieces.back().note, "reasoning_without_answer");
      block.pieces.pop_back();
    }
  }

  void join_blocks() {
    std::vector<Block> joined;
    for (Block& block : result_.blocks) {
      if (block.pieces.empty()) continue;
      const bool goes_on = !joined.empty() && !joined.back().has_calls() &&
                           joined.back().is_assistant == block.is_assistant;
      if (!goes_on) {
        joined.push_back(std::move(block));
        continue;
      }
      for (Piece& piece : block.pieces) joined.back().pieces.push_back(piece);
      joined.back().results = std::move(block.results);
    }
    result_.anchor_block = std::min(result_.anchor_block, joined.empty() ? 0 : joined.size() - 1);
    result_.blocks = std::move(joined);
  }

  void add_missing_speakers() {
    std::vector<Block>& blocks = result_.blocks;
    if (blocks.empty()) return;
    if (rules_.user_first && blocks.front().is_assistant && result_.preamble.empty()) {
      result_.preamble.push_back(said_by_us("[The assistant speaks first.]", "assistant_first",
                                            blocks.front().pieces.front().note));
    }
    const Block& last = blocks.back();
    result_.assistant_last = last.is_assistant && !last.has_calls();
    if (rules_.user_last && !options_.open_ended && last.is_assistant && !last.has_calls()) {
      Block go_on;
      go_on.pieces.push_back(
          said_by_us("Go on from where you stopped.", "assistant_last", last.pieces.back().note));
      blocks.push_back(std::move(go_on));
    }
  }

  Piece said_by_us(std::string_view words, std::string_view reason, std::uint32_t because) {
    const PathEntry entry = result_.notes[because].entry;
    return piece(text_of(result_, words), note(entry, Verdict::kAdded, reason));
  }

  static PartView text_part(std::string_view token) {
    PartView part;
    part.type = PartType::kText;
    part.text = token;
    return part;
  }

  struct Lifted {
    MessageView message;
    std::size_t first = 0;  // of its parts
    std::size_t count = 0;
  };
  struct Slot {
    std::size_t block = 0;
    std::size_t slot = 0;
  };

  const Selection& selection_;
  const Lineage& lineage_;
  const Rules& rules_;
  const ContextOptions& options_;
  Conversation result_;
  WireNames names_;
  std::vector<Lifted> lifted_;   // by entry
  std::vector<PartView> parts_;  // of all of them
  std::size_t at_ = 0;           // the entry at hand
  std::optional<std::string_view> replacement_;
  std::optional<Piece> base_prompt_;
  std::unordered_map<std::string, Slot> open_;  // calls without a result, by their id
  std::size_t accepted_ = 0;                    // parts that found a place
  std::string stream_;
  std::vector<std::uint32_t> stream_notes_;
  std::vector<PartView> stream_parts_;
};

}  // namespace

std::string_view Conversation::keep(std::string json) {
  owned.push_back(std::move(json));
  return owned.back();
}

PartView text_of(Conversation& conversation, std::string_view words, std::string_view token,
                 std::string_view after) {
  std::string text = json::quoted(words);
  text.pop_back();
  if (token.size() > 2) text += token.substr(1, token.size() - 2);
  text += json::quoted(after).substr(1);
  PartView part;
  part.type = PartType::kText;
  part.text = conversation.keep(std::move(text));
  return part;
}

Conversation converse(const Selection& selection, const Lineage& lineage, const Rules& rules,
                      const ContextOptions& options) {
  return Composer(selection, lineage, rules, options).run();
}

}  // namespace quipu::context
