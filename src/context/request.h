// From a conversation to the bytes of a request: one writer a provider, and what
// they share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_write.h"
#include "context/conversation.h"

namespace quipu::context {

/// The bytes of an attachment of the store, as base64; nothing when it is not there.
using LoadAttachment = std::function<std::optional<std::string>(const std::string& sha256)>;

struct Request {
  std::string json;
  std::uint32_t messages = 0;
};

/// Puts preamble and attachments in their places, then lets the provider's writer
/// write. The conversation is changed.
Request write_request(Conversation& conversation, Provider provider, const LoadAttachment& load);

// ---- for the writers: a conversation whose preamble is empty and whose
// attachments all have data

/// Writes system prompt and messages as members of an open object; returns how
/// many messages.
std::uint32_t write_anthropic(json::Writer& out, const Conversation& conversation);
std::uint32_t write_openai_chat(json::Writer& out, const Conversation& conversation);
std::uint32_t write_openai_responses(json::Writer& out, const Conversation& conversation);
std::uint32_t write_gemini(json::Writer& out, const Conversation& conversation);
std::uint32_t write_quipu(json::Writer& out, const Conversation& conversation);

/// The arguments of a call as an object: what is none is wrapped in one.
std::string input_object(const PartView& call);
/// The output of a call as one string token, never blank: what is not text is named.
std::string output_text(const PartView& result);
/// All texts as one token, with blank lines between.
std::string joined_text(const Pieces& pieces);
/// A text token that stands for an attachment which the provider cannot take.
std::string stand_in(const PartView& attachment);
/// "data:image/png;base64,…" as a token.
std::string data_url(const PartView& attachment);
/// Of those every provider takes: JPEG, PNG, GIF, WebP.
bool is_common_image(const PartView& attachment);

}  // namespace quipu::context
