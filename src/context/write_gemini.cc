// Gemini's generateContent: `contents` of user and model. Results answer calls by
// name and order, in a content of their own right behind them.
#include "context/request.h"

namespace quipu::context {
namespace {

// What the API documents for calls that another model made, from this family on.
constexpr std::string_view kSignedModels = "gemini-3";
constexpr std::string_view kNoSignature = "\"skip_thought_signature_validator\"";

void write_user_piece(json::Writer& out, const PartView& part) {
  out.begin_object();
  if (part.type == PartType::kAttachment) {
    out.key("inlineData")
        .begin_object()
        .raw_member("mimeType", part.media_type)
        .raw_member("data", part.data)
        .end_object();
  } else {
    out.raw_member("text", part.text);
  }
  out.end_object();
}

// Reasoning itself is not sent; its signature goes with what it led to.
void write_model(json::Writer& out, const Block& block, bool needs_signature) {
  std::string_view signature;
  for (const Piece& piece : block.pieces) {
    const WirePart part = piece.part();
    if (part.type == PartType::kThinking) signature = part.signature;
    if (part.type != PartType::kText && part.type != PartType::kToolUse) continue;
    const bool is_call = part.type == PartType::kToolUse;
    out.begin_object();
    if (is_call) {
      out.key("functionCall")
          .begin_object()
          .raw_member("name", part.name)
          .raw_member("args", input_object(part))
          .end_object();
      if (signature.empty() && needs_signature) signature = kNoSignature;
      needs_signature = false;  // the first call of a step speaks for all
    } else {
      out.raw_member("text", part.text);
    }
    if (!signature.empty()) out.raw_member("thoughtSignature", signature);
    signature = {};
    out.end_object();
  }
}

void write_results(json::Writer& out, const Block& block) {
  for (const Piece& piece : block.results) {
    const WirePart result = piece.part();
    out.begin_object().key("functionResponse").begin_object().raw_member("name", result.name);
    out.key("response")
        .begin_object()
        .raw_member(result.is_error ? "error" : "output", output_text(result))
        .end_object();
    out.end_object().end_object();
  }
}

}  // namespace

std::uint32_t write_gemini(json::Writer& out, const Conversation& conversation) {
  std::uint32_t contents = 0;
  const auto content = [&](std::string_view role, auto&& write) {
    out.begin_object().member("role", role).key("parts").begin_array();
    write();
    out.end_array().end_object();
    ++contents;
  };
  if (!conversation.system.empty()) {
    out.key("systemInstruction").begin_object().key("parts").begin_array();
    for (const Piece& piece : conversation.system) write_user_piece(out, piece.part());
    out.end_array().end_object();
  }
  out.key("contents").begin_array();
  const bool needs_signature = conversation.model.starts_with(kSignedModels);
  for (const Block& block : conversation.blocks) {
    if (!block.is_assistant) {
      content("user", [&] {
        for (const Piece& piece : block.pieces) write_user_piece(out, piece.part());
      });
      continue;
    }
    content("model", [&] { write_model(out, block, needs_signature); });
    if (block.has_calls()) content("user", [&] { write_results(out, block); });
  }
  out.end_array();
  return contents;
}

}  // namespace quipu::context
