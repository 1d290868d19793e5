// Anthropic's Messages API: `system`, and `messages` of user and assistant in turns;
// results of calls open the user message that follows them.
#include "context/request.h"

namespace quipu::context {
namespace {

void write_attachment(json::Writer& out, const PartView& part) {
  const bool is_pdf = part.media_type == "\"application/pdf\"";
  if (!is_pdf && !is_common_image(part)) {
    out.begin_object().member("type", "text").raw_member("text", stand_in(part)).end_object();
    return;
  }
  out.begin_object().member("type", is_pdf ? "document" : "image").key("source");
  out.begin_object()
      .member("type", "base64")
      .raw_member("media_type", part.media_type)
      .raw_member("data", part.data)
      .end_object();
  out.end_object();
}

void write_thinking(json::Writer& out, const PartView& part) {
  out.begin_object();
  if (part.redacted) {
    out.member("type", "redacted_thinking").raw_member("data", part.signature);
  } else {
    out.member("type", "thinking")
        .raw_member("thinking", part.text.empty() ? "\"\"" : part.text)
        .raw_member("signature", part.signature);
  }
  out.end_object();
}

void write_text(json::Writer& out, std::string_view token) {
  out.begin_object().member("type", "text").raw_member("text", token).end_object();
}

void write_piece(json::Writer& out, const Piece& piece) {
  const WirePart part = piece.part();
  switch (part.type) {
    case PartType::kText:
      return write_text(out, part.text);
    case PartType::kThinking:
      return write_thinking(out, part);
    case PartType::kAttachment:
      return write_attachment(out, part);
    case PartType::kToolUse:
      out.begin_object()
          .member("type", "tool_use")
          .raw_member("id", part.id)
          .raw_member("name", part.name)
          .raw_member("input", input_object(part))
          .end_object();
      return;
    case PartType::kToolResult:
    case PartType::kStatus:
    case PartType::kOther:
      return;  // never in a block's pieces
  }
}

void write_output(json::Writer& out, const PartView& result) {
  std::vector<PartView> parts;
  if (result.content.starts_with('[')) read_content(result.content, parts);
  bool has_image = false;
  for (const PartView& part : parts) {
    has_image = has_image || (part.type == PartType::kAttachment && is_common_image(part));
  }
  if (!has_image) {
    out.raw_member("content", output_text(result));
    return;
  }
  out.key("content").begin_array();
  for (const PartView& part : parts) {
    if (part.type == PartType::kAttachment) write_attachment(out, part);
    if (part.type == PartType::kText && says_something(part.text)) write_text(out, part.text);
  }
  out.end_array();
}

void write_result(json::Writer& out, const WirePart& result) {
  out.begin_object().member("type", "tool_result").raw_member("tool_use_id", result.id);
  write_output(out, result);
  if (result.is_error) out.member("is_error", true);
  out.end_object();
}

// An answer that is to be gone on with must not end in white space.
std::string trimmed(std::string_view token) {
  std::string_view text = token.substr(0, token.size() - 1);
  for (;;) {
    if (text.ends_with(' ')) {
      text.remove_suffix(1);
    } else if (text.ends_with("\\n") || text.ends_with("\\t") || text.ends_with("\\r")) {
      // An escaped backslash before the letter is no white space.
      const auto before = text.find_last_not_of('\\', text.size() - 2);
      if ((text.size() - 2 - before) % 2 == 0) break;
      text.remove_suffix(2);
    } else {
      break;
    }
  }
  return std::string(text) + '"';
}

}  // namespace

std::uint32_t write_anthropic(json::Writer& out, const Conversation& conversation) {
  if (!conversation.system.empty()) out.raw_member("system", joined_text(conversation.system));
  out.key("messages").begin_array();
  std::uint32_t messages = 0;
  const std::vector<Block>& blocks = conversation.blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    const bool answers = !block.is_assistant && i > 0 && blocks[i - 1].has_calls();
    if (!answers) {
      out.begin_object().member("role", block.is_assistant ? "assistant" : "user");
      out.key("content").begin_array();
      ++messages;
    }
    const bool is_open_end = block.is_assistant && i + 1 == blocks.size() && !block.has_calls();
    for (const Piece& piece : block.pieces) {
      if (is_open_end && piece.type() == PartType::kText && &piece == &block.pieces.back()) {
        write_text(out, trimmed(piece.part().text));
      } else {
        write_piece(out, piece);
      }
    }
    out.end_array().end_object();
    if (!block.has_calls()) continue;
    out.begin_object().member("role", "user").key("content").begin_array();
    ++messages;
    for (const Piece& result : block.results) write_result(out, result.part());
    const bool is_answered_on = i + 1 < blocks.size() && !blocks[i + 1].is_assistant;
    if (!is_answered_on) out.end_array().end_object();
  }
  out.end_array();
  return messages;
}

}  // namespace quipu::context
