#include "context/conversation.h"

#include <algorithm>
#include <deque>
#include <span>
#include <unordered_map>

#include "base/json_scan.h"
#include "context/wire_names.h"
#include "dialect/lift.h"

namespace quipu::context {
namespace {

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
    // What grows to this size and is thrown away would count as much again.
    result_.notes.reserve(selection.entries.size() + selection.before.size());
    result_.blocks.reserve(selection.entries.size());
  }

  Conversation run() {
    for (const PathEntry& entry : selection_.before) {
      if (!take_setting(entry) && !entry.redacted) take_message_before(entry);
    }
    if (selection_.compaction) take_compaction(*selection_.compaction);
    for (const PathEntry& entry : selection_.entries) take(entry);
    end_stream();
    close_calls();
    if (base_prompt_) result_.system.insert(result_.system.begin(), *base_prompt_);
    tidy();
    result_.model = model_ ? *model_ : choose_model(last_named_);
    return std::move(result_);
  }

 private:
  // What will answer, when that must be known before everything has been read: to
  // tell whose reasoning may stay. Who leaves reasoning behind also gives their
  // name, so the search from the end is short.
  const std::string& model() {
    if (model_) return *model_;
    std::string_view token;
    for (std::size_t i = selection_.entries.size(); i-- > 0 && token.empty();) {
      const PathEntry& entry = selection_.entries[i];
      std::vector<PartView> parts;
      if (!entry.redacted) token = model_named(entry, lift(entry, parts));
    }
    return choose_model(token);
  }

  const std::string& choose_model(std::string_view last_named) {
    for (std::size_t i = selection_.before.size(); i-- > 0 && last_named.empty();) {
      const PathEntry& entry = selection_.before[i];
      if (entry.code != EntryType::kModelChange) continue;
      last_named = token_member(entry.payload, "model");
      break;
    }
    return model_.emplace(options_.model.empty() ? plain(last_named) : options_.model);
  }

  // A token that says something, or nothing.
  static std::string_view model_named(const PathEntry& entry, const MessageView& message) {
    const std::string_view token = entry.code == EntryType::kModelChange
                                       ? token_member(entry.payload, "model")
                                       : message.model;
    return token.size() > 2 ? token : std::string_view();
  }

  static bool carries_message(const PathEntry& entry) {
    return entry.is_foreign() || dialect::carries_message(entry.type);
  }

  MessageView lift(const PathEntry& entry, std::vector<PartView>& parts) const {
    if (!carries_message(entry)) return {};
    if (entry.is_foreign()) {
      const dialect::Lifted& lifted = selection_.foreign.lifted;
      const dialect::LiftedMessage& message = lifted.messages()[entry.lifted];
      const auto said = lifted.parts(message);
      parts.insert(parts.end(), said.begin(), said.end());
      return message.view;
    }
    return dialect::lift(entry.type, entry.payload, parts);
  }

  std::uint32_t note(const PathEntry& entry, Verdict verdict = Verdict::kKept,
                     std::string_view reason = {}) {
    result_.notes.push_back({.entry = &entry, .reason = reason, .verdict = verdict});
    return static_cast<std::uint32_t>(result_.notes.size() - 1);
  }

  // A part of an entry is missing; when nothing of it was used yet, all of it is.
  void leave_out(std::uint32_t note, std::string_view reason) {
    result_.notes[note].verdict = Verdict::kShortened;
    result_.notes[note].reason = reason;
  }

  // ---- what is not said but set

  bool take_setting(const PathEntry& entry) {
    if (entry.redacted) return false;
    if (entry.code == EntryType::kRuntimeInit || entry.code == EntryType::kSystemPromptOverride) {
      const std::uint32_t number = note(entry, Verdict::kKept, "setting");
      if (const auto prompt = prompt_in(entry.payload)) {
        base_prompt_.reset();
        if (says_something(*prompt)) base_prompt_ = Piece(text_part(*prompt), number);
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
        Piece(text_of(result_,
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
    parts_.clear();
    message_ = lift(entry, parts_);
    if (const auto named = model_named(entry, message_); !named.empty()) last_named_ = named;
    if (take_edited(entry) || take_setting(entry)) return;
    if (carries_message(entry)) {
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
    const auto id = selection_.id_of(lineage_, entry);
    const auto edit = id.ok() ? selection_.edits.find(*id) : selection_.edits.end();
    if (edit == selection_.edits.end() || !carries_message(entry)) return false;
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
    const MessageView message = lift(entry, parts);
    take_parts(entry, message, parts, note(entry));
  }

  void take_message(const PathEntry& entry, std::uint32_t number) {
    if (!replacement_) return take_parts(entry, message_, parts_, number);
    take_parts(entry, message_, replaced(parts_), number);
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
          add(message.role == Role::kAssistant, Piece(part, number));
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
      return add(message.role == Role::kAssistant, Piece(part, number));
    }
    ++accepted_;
    if (result_.blocks.empty()) {
      result_.system.push_back(Piece(part, number));
      return;
    }
    // Said in the middle: stays there, so that what is before it does not change.
    add(false, Piece(text_of(result_, "<system>\n", part.text, "\n</system>"), number));
  }

  bool is_signer(std::string_view provider) const {
    return provider == rules_.signer || provider == name(rules_.provider);
  }

  void take_thinking(const MessageView& message, const PartView& part, std::uint32_t number) {
    const bool is_ours = !part.signature.empty() && is_signer(plain(message.provider)) &&
                         plain(message.model) == model();
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
                       result_.blocks.back().pieces.back().type() == PartType::kThinking;
    if (!opens && !rules_.keeps_all_reasoning) return leave_out(number, "reasoning_out_of_place");
    add(true, Piece(part, number));
  }

  // ---- calls and results

  struct Slot {
    std::size_t block = 0;
    std::size_t slot = 0;
  };

  void take_call(const PartView& part, std::uint32_t number) {
    const std::string id = plain(part.tool_use_id);
    // Some write a call twice: in the answer, and as a line of its own.
    if (!id.empty() && open_.contains(id)) return leave_out(number, "repeated_call");
    WirePart call = part;
    call.name = names_.tool(part.name);
    call.id = names_.call(id);
    add(true, Piece(call, number));
    Block& block = result_.blocks.back();
    WirePart result;
    result.id = call.id;
    result.name = call.name;
    block.results.emplace_back(result, number);
    const Slot slot{.block = result_.blocks.size() - 1, .slot = block.results.size() - 1};
    if (id.empty()) {
      unnamed_.push_back(slot);
    } else {
      open_[id] = slot;
    }
  }

  void take_result(const PartView& part, std::uint32_t number) {
    const auto slot = answered_by(plain(part.tool_use_id));
    if (!slot) return leave_out(number, "no_such_call");
    Piece& result = result_.blocks[slot->block].results[slot->slot];
    const WirePart call = result.part();
    WirePart answer = part;
    answer.id = call.id;
    answer.name = call.name;
    result = Piece(answer, number);
    ++accepted_;
  }

  // A result that names no call answers the oldest of the calls that have no name.
  std::optional<Slot> answered_by(const std::string& id) {
    std::optional<Slot> slot;
    if (const auto open = open_.find(id); open != open_.end()) {
      slot = open->second;
      open_.erase(open);
    } else if (id.empty() && !unnamed_.empty()) {
      slot = unnamed_.front();
      unnamed_.pop_front();
    }
    return slot;
  }

  // Every call that was cut off gets a result that says so.
  void close_calls() {
    for (Block& block : result_.blocks) {
      for (Piece& piece : block.results) {
        if (piece.type() == PartType::kToolResult) continue;
        WirePart result = piece.part();
        result.type = PartType::kToolResult;
        result.is_error = true;
        result.content = "\"[No result: the call was interrupted.]\"";
        const PathEntry& entry = *result_.notes[piece.note].entry;
        piece = Piece(result, note(entry, Verdict::kAdded, "interrupted_call"));
      }
    }
  }

  // ---- streams that never became a message

  // Also when it is redacted: then its pieces must not come back.
  bool completes_stream(const PathEntry& entry) const {
    return entry.code == EntryType::kMessage && !stream_.empty() &&
           plain(token_member(entry.payload, "streamId")) == stream_;
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
    add(false, Piece(text_of(result_,
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
    if (!goes_on) blocks.push_back(result_.new_block(is_assistant));
    blocks.back().pieces.push_back(piece);
  }

  // Calls of one entry stand together; so do those of the lines that some agents
  // write for each part of one answer. But once one is answered, what follows was said
  // after that, also where an agent writes a whole turn as one entry.
  bool piece_goes_on(const Block& block, const Piece& piece) const {
    if (block.pieces.back().note != piece.note && piece.type() != PartType::kToolUse) return false;
    return std::all_of(block.results.begin(), block.results.end(),
                       [](const Piece& result) { return result.type() != PartType::kToolResult; });
  }

  void tidy() {
    if (!rules_.keeps_all_reasoning) {
      for (Block& block : result_.blocks) drop_last_thoughts(block);
      join_blocks();
    }
    add_missing_speakers();
  }

  void drop_last_thoughts(Block& block) {
    while (!block.pieces.empty() && block.pieces.back().type() == PartType::kThinking) {
      leave_out(block.pieces.back().note, "reasoning_without_answer");
      block.pieces.pop_back();
    }
  }

  void join_blocks() {
    std::vector<Block>& blocks = result_.blocks;
    std::size_t joined = 0;
    for (Block& block : blocks) {
      if (block.pieces.empty()) continue;
      Block* const last = joined == 0 ? nullptr : &blocks[joined - 1];
      const bool goes_on =
          last != nullptr && !last->has_calls() && last->is_assistant == block.is_assistant;
      if (goes_on) {
        last->pieces.insert(last->pieces.end(), block.pieces.begin(), block.pieces.end());
        last->results = std::move(block.results);
      } else if (Block& place = blocks[joined++]; &place != &block) {
        place = std::move(block);
      }
    }
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(joined), blocks.end());
    result_.anchor_block = std::min(result_.anchor_block, joined == 0 ? 0 : joined - 1);
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
      Block go_on = result_.new_block(false);
      go_on.pieces.push_back(
          said_by_us("Go on from where you stopped.", "assistant_last", last.pieces.back().note));
      blocks.push_back(std::move(go_on));
    }
  }

  Piece said_by_us(std::string_view words, std::string_view reason, std::uint32_t because) {
    const PathEntry& entry = *result_.notes[because].entry;
    return Piece(text_of(result_, words), note(entry, Verdict::kAdded, reason));
  }

  static PartView text_part(std::string_view token) {
    PartView part;
    part.type = PartType::kText;
    part.text = token;
    return part;
  }

  const Selection& selection_;
  const Lineage& lineage_;
  const Rules& rules_;
  const ContextOptions& options_;
  Conversation result_;
  WireNames names_;
  MessageView message_;  // of the entry at hand
  std::vector<PartView> parts_;
  std::string_view last_named_;  // the last model that was named so far
  std::optional<std::string> model_;
  std::optional<std::string_view> replacement_;
  std::optional<Piece> base_prompt_;
  std::unordered_map<std::string, Slot> open_;  // calls without a result, by their id
  std::deque<Slot> unnamed_;                    // and those that have no id
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
