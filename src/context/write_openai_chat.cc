// OpenAI's Chat Completions: one list of messages, a message for each result.
#include "base/json_scan.h"
#include "context/request.h"

namespace quipu::context {
namespace {

bool is_text_only(const Block& block) {
  for (const Piece& piece : block.pieces) {
    if (piece.type() == PartType::kAttachment) return false;
  }
  return true;
}

void write_chat_attachment(json::Writer& out, const PartView& part) {
  if (is_common_image(part)) {
    out.begin_object().member("type", "image_url").key("image_url");
    out.begin_object().raw_member("url", data_url(part)).end_object().end_object();
  } else if (part.media_type == "\"application/pdf\"") {
    out.begin_object().member("type", "file").key("file").begin_object();
    out.raw_member("filename", part.name.empty() ? "\"document.pdf\"" : part.name)
        .raw_member("file_data", data_url(part));
    out.end_object().end_object();
  } else if (part.media_type == "\"audio/wav\"" || part.media_type == "\"audio/mpeg\"") {
    out.begin_object().member("type", "input_audio").key("input_audio").begin_object();
    out.raw_member("data", part.data)
        .member("format", part.media_type == "\"audio/wav\"" ? "wav" : "mp3");
    out.end_object().end_object();
  } else {
    out.begin_object().member("type", "text").raw_member("text", stand_in(part)).end_object();
  }
}

void write_chat_user(json::Writer& out, const Block& block) {
  out.begin_object().member("role", "user");
  if (is_text_only(block)) {
    out.raw_member("content", joined_text(block.pieces)).end_object();
    return;
  }
  out.key("content").begin_array();
  for (const Piece& piece : block.pieces) {
    if (piece.type() == PartType::kAttachment) {
      write_chat_attachment(out, piece.part());
    } else {
      out.begin_object().member("type", "text").raw_member("text", piece.part().text).end_object();
    }
  }
  out.end_array().end_object();
}

void write_chat_assistant(json::Writer& out, const Block& block) {
  const std::string text = joined_text(block.pieces);
  out.begin_object().member("role", "assistant");
  out.raw_member("content", text.size() > 2 ? std::string_view(text) : "null");
  if (block.has_calls()) {
    out.key("tool_calls").begin_array();
    for (const Piece& piece : block.pieces) {
      if (piece.type() != PartType::kToolUse) continue;
      const WirePart call = piece.part();
      out.begin_object().raw_member("id", call.id).member("type", "function").key("function");
      out.begin_object()
          .raw_member("name", call.name)
          .raw_member("arguments", json::quoted(input_object(call)))
          .end_object();
      out.end_object();
    }
    out.end_array();
  }
  out.end_object();
}

}  // namespace

std::uint32_t write_openai_chat(json::Writer& out, const Conversation& conversation) {
  std::uint32_t messages = 0;
  out.key("messages").begin_array();
  if (!conversation.system.empty()) {
    out.begin_object()
        .member("role", "system")
        .raw_member("content", joined_text(conversation.system))
        .end_object();
  }
  for (const Block& block : conversation.blocks) {
    block.is_assistant ? write_chat_assistant(out, block) : write_chat_user(out, block);
    ++messages;
    for (const Piece& piece : block.results) {
      const WirePart result = piece.part();
      out.begin_object()
          .member("role", "tool")
          .raw_member("tool_call_id", result.id)
          .raw_member("content", output_text(result))
          .end_object();
      ++messages;
    }
  }
  out.end_array();
  return messages;
}

}  // namespace quipu::context
