#include "cli/message_text.h"

#include <algorithm>

#include "cli/json_in.h"
#include "quipu/message.h"

namespace quipu::cli {
namespace {

using Kind = Block::Kind;

constexpr std::size_t kPreviewBytes = 400;

// Other programs wrap the message once more: {"type":"user","message":{...}}.
std::string_view message_in(const EntryView& entry) {
  const JsonView payload(entry.payload);
  if (payload.member("content").exists()) return entry.payload;
  const JsonView inner = payload.member("message");
  return inner.is_object() ? inner.raw() : entry.payload;
}

bool is_of_agent(const EntryView& entry) { return entry.type.find('.') != std::string_view::npos; }

Message message_of(const EntryView& entry) {
  // Another agent's record is understood as it is: `claude.assistant`.
  if (auto message = lift_message(entry.type, entry.payload); message.ok() && is_of_agent(entry)) {
    return std::move(message).value();
  }
  auto message = lift_message(entry.type, message_in(entry));
  if (!message.ok()) message = lift_message("message", message_in(entry));
  return message.ok() ? std::move(message).value() : Message{};
}

void add_part(std::vector<Block>& out, const Part& part);

Block result_block(const Part& part) {
  std::vector<Block> inner;
  for (const Part& one : part.content) add_part(inner, one);
  Block result{Kind::kToolResult, part.is_error ? "error" : "result", {}};
  for (const Block& block : inner) {
    if (!result.text.empty()) result.text += '\n';
    result.text += block.kind == Kind::kOther ? block.label : block.text;
  }
  return result;
}

void add_part(std::vector<Block>& out, const Part& part) {
  switch (part.type) {
    case PartType::kText:
      out.push_back({Kind::kText, {}, part.text});
      return;
    case PartType::kThinking:
      out.push_back({Kind::kThinking, {}, part.text});
      return;
    case PartType::kToolUse:
      out.push_back({Kind::kToolUse, part.name, part.input.empty() ? part.raw_input : part.input});
      return;
    case PartType::kToolResult:
      out.push_back(result_block(part));
      return;
    case PartType::kAttachment:
      out.push_back(
          {Kind::kOther,
           "attachment " + (part.name.empty() ? part.path : part.name) + " " + part.media_type,
           {}});
      return;
    case PartType::kStatus:
      out.push_back({Kind::kOther, "status", part.text});
      return;
    case PartType::kOther:
      out.push_back({Kind::kOther, JsonView(part.extra).member("type").string(), part.extra});
      return;
  }
}

std::string first_words(std::vector<Block> blocks) {
  // What is said says more than what was thought.
  std::stable_partition(blocks.begin(), blocks.end(),
                        [](const Block& block) { return block.kind != Kind::kThinking; });
  for (const Block& block : blocks) {
    std::string text = block.kind == Kind::kToolResult ? std::string() : block.label;
    if (!text.empty() && !block.text.empty()) text += ' ';
    text += block.text;
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    if (text.size() <= kPreviewBytes) return text;
    // Not in the middle of a character.
    std::size_t end = kPreviewBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80) --end;
    return text.substr(0, end);
  }
  return {};
}

std::string speaker_in(const EntryView& entry, const Message& message) {
  const std::string role = JsonView(message_in(entry)).member("role").string();
  if (!role.empty()) return role;
  const bool is_known = is_of_agent(entry) && !message.parts.empty();
  return std::string(is_known ? name(message.role) : entry.type);
}

std::vector<Block> blocks_in(const EntryView& entry, const Message& message) {
  if (entry.redacted) return {{Kind::kOther, "redacted", {}}};
  std::vector<Block> blocks = blocks_of(message);
  const JsonView summary = JsonView(entry.payload).member("summary");
  if (blocks.empty() && summary.is_string()) {
    blocks.push_back({Kind::kText, {}, summary.string()});
  }
  if (blocks.empty()) blocks.push_back({Kind::kOther, {}, std::string(entry.payload)});
  return blocks;
}

}  // namespace

std::string speaker_of(const EntryView& entry) { return speaker_in(entry, message_of(entry)); }

std::vector<Block> blocks_of(const Message& message) {
  std::vector<Block> blocks;
  for (const Part& part : message.parts) add_part(blocks, part);
  return blocks;
}

std::vector<Block> blocks_of(const EntryView& entry) { return blocks_in(entry, message_of(entry)); }

Gist gist_of(const EntryView& entry) {
  const Message message = message_of(entry);
  return {.speaker = speaker_in(entry, message),
          .preview = first_words(blocks_in(entry, message)),
          .is_said = !is_of_agent(entry) || !message.parts.empty()};
}

std::string preview_of(const EntryView& entry) { return first_words(blocks_of(entry)); }

std::string preview_of(const Message& message) { return first_words(blocks_of(message)); }

}  // namespace quipu::cli
