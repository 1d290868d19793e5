// OpenAI's Responses: a flat list of items; reasoning goes back encrypted, right
// before what it led to.
#include "base/json_scan.h"
#include "context/request.h"

namespace quipu::context {
namespace {

void write_input_attachment(json::Writer& out, const PartView& part) {
  if (is_common_image(part)) {
    out.begin_object()
        .member("type", "input_image")
        .raw_member("image_url", data_url(part))
        .end_object();
  } else if (part.media_type == "\"application/pdf\"") {
    out.begin_object()
        .member("type", "input_file")
        .raw_member("filename", part.name.empty() ? "\"document.pdf\"" : part.name)
        .raw_member("file_data", data_url(part))
        .end_object();
  } else {
    out.begin_object().member("type", "input_text").raw_member("text", stand_in(part)).end_object();
  }
}

void write_input(json::Writer& out, const Block& block) {
  out.begin_object().member("type", "message").member("role", "user");
  out.key("content").begin_array();
  for (const Piece& piece : block.pieces) {
    if (piece.type() == PartType::kAttachment) {
      write_input_attachment(out, piece.part());
    } else {
      out.begin_object()
          .member("type", "input_text")
          .raw_member("text", piece.part().text)
          .end_object();
    }
  }
  out.end_array().end_object();
}

void write_reasoning(json::Writer& out, const PartView& part) {
  out.begin_object().member("type", "reasoning").key("summary").begin_array();
  if (!part.redacted && says_something(part.text)) {
    out.begin_object().member("type", "summary_text").raw_member("text", part.text).end_object();
  }
  out.end_array().raw_member("encrypted_content", part.signature).end_object();
}

void write_said(json::Writer& out, const WirePart& part) {
  if (part.type == PartType::kThinking) write_reasoning(out, part);
  if (part.type == PartType::kText) {
    out.begin_object().member("type", "message").member("role", "assistant");
    out.key("content").begin_array();
    out.begin_object().member("type", "output_text").raw_member("text", part.text).end_object();
    out.end_array().end_object();
  }
  if (part.type == PartType::kToolUse) {
    out.begin_object()
        .member("type", "function_call")
        .raw_member("call_id", part.id)
        .raw_member("name", part.name)
        .raw_member("arguments", json::quoted(input_object(part)))
        .end_object();
  }
}

}  // namespace

std::uint32_t write_openai_responses(json::Writer& out, const Conversation& conversation) {
  std::uint32_t items = 0;
  if (!conversation.system.empty()) {
    out.raw_member("instructions", joined_text(conversation.system));
  }
  out.key("input").begin_array();
  for (const Block& block : conversation.blocks) {
    if (!block.is_assistant) {
      write_input(out, block);
      ++items;
      continue;
    }
    for (const Piece& piece : block.pieces) {
      write_said(out, piece.part());
      ++items;
    }
    for (const Piece& piece : block.results) {
      const WirePart result = piece.part();
      out.begin_object()
          .member("type", "function_call_output")
          .raw_member("call_id", result.id)
          .raw_member("output", output_text(result))
          .end_object();
      ++items;
    }
  }
  out.end_array();
  return items;
}

}  // namespace quipu::context
