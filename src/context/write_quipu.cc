// Canonical messages, in the form that payloads of `message` entries have: for
// programs that speak to a model in their own way.
#include <algorithm>

#include "context/request.h"

namespace quipu::context {
namespace {

void write_quipu_attachment(json::Writer& out, const PartView& part) {
  out.member("type", "attachment").raw_member("mediaType", part.media_type);
  if (!part.name.empty()) out.raw_member("name", part.name);
  out.raw_member("data", part.data);
}

void write_piece(json::Writer& out, const WirePart& part) {
  out.begin_object();
  switch (part.type) {
    case PartType::kText:
      out.member("type", "text").raw_member("text", part.text);
      break;
    case PartType::kThinking:
      out.member("type", "thinking").raw_member("text", part.text.empty() ? "\"\"" : part.text);
      if (!part.signature.empty()) out.raw_member("signature", part.signature);
      if (part.redacted) out.member("redacted", true);
      break;
    case PartType::kToolUse:
      out.member("type", "tool_use").raw_member("id", part.id).raw_member("name", part.name);
      if (part.raw_input.empty()) {
        out.raw_member("input", input_object(part));
      } else {
        out.raw_member("rawInput", part.raw_input);
      }
      break;
    case PartType::kAttachment:
      write_quipu_attachment(out, part);
      break;
    case PartType::kToolResult:
    case PartType::kStatus:
    case PartType::kOther:
      break;  // never in a block's pieces
  }
  out.end_object();
}

void write_quipu_result(json::Writer& out, const WirePart& result) {
  out.begin_object().member("type", "tool_result").raw_member("toolUseId", result.id);
  std::vector<PartView> parts;
  if (result.content.starts_with('[')) read_content(result.content, parts);
  const bool has_attachment = std::any_of(parts.begin(), parts.end(), [](const PartView& part) {
    return part.type == PartType::kAttachment;
  });
  if (has_attachment) {
    out.key("content").begin_array();
    for (const PartView& part : parts) {
      if (part.type == PartType::kText && says_something(part.text)) {
        out.begin_object().member("type", "text").raw_member("text", part.text).end_object();
      } else if (part.type == PartType::kAttachment) {
        out.begin_object();
        write_quipu_attachment(out, part);
        out.end_object();
      }
    }
    out.end_array();
  } else {
    out.raw_member("content", output_text(result));
  }
  if (result.is_error) out.member("isError", true);
  out.end_object();
}

}  // namespace

std::uint32_t write_quipu(json::Writer& out, const Conversation& conversation) {
  if (!conversation.system.empty()) out.raw_member("system", joined_text(conversation.system));
  out.key("messages").begin_array();
  std::uint32_t messages = 0;
  for (const Block& block : conversation.blocks) {
    out.begin_object().member("role", block.is_assistant ? "assistant" : "user");
    out.key("content").begin_array();
    for (const Piece& piece : block.pieces) write_piece(out, piece.part());
    out.end_array().end_object();
    ++messages;
    if (!block.has_calls()) continue;
    out.begin_object().member("role", "tool").key("content").begin_array();
    for (const Piece& result : block.results) write_quipu_result(out, result.part());
    out.end_array().end_object();
    ++messages;
  }
  out.end_array();
  return messages;
}

}  // namespace quipu::context
