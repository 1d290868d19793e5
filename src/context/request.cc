#include "context/request.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/prefault.h"

namespace quipu::context {
namespace {

constexpr std::string_view kNoOutput = "\"(no output)\"";

std::string_view inner(std::string_view token) {
  return token.size() < 2 ? std::string_view() : token.substr(1, token.size() - 2);
}

bool is_base64(std::string_view data) {
  while (data.ends_with('=')) data.remove_suffix(1);
  const bool is_plain = std::all_of(data.begin(), data.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  });
  return is_plain && !data.empty() && data.size() % 4 != 1;
}

void place_preamble(Conversation& conversation) {
  Pieces& preamble = conversation.preamble;
  if (preamble.empty()) return;
  std::vector<Block>& blocks = conversation.blocks;
  if (blocks.empty() || blocks.front().is_assistant) {
    blocks.insert(blocks.begin(), conversation.new_block(false));
  }
  Pieces& first = blocks.front().pieces;
  first.insert(first.begin(), preamble.begin(), preamble.end());
  preamble.clear();
}

void make_text(Conversation& conversation, PartView& part, std::string token) {
  part = PartView{};
  part.type = PartType::kText;
  part.text = conversation.keep(std::move(token));
}

void load_attachment(Conversation& conversation, PartView& part, const LoadAttachment& load) {
  const bool has_type = says_something(part.media_type);
  if (has_type && is_base64(inner(part.data))) return;
  if (has_type && !part.sha256.empty() && load) {
    if (const auto data = load(json::decode_string(part.sha256))) {
      part.data = conversation.keep(json::quoted(*data));
      return;
    }
  }
  make_text(conversation, part, stand_in(part));
}

// Attachments inside a tool's output: where one had to be loaded, the array is
// written anew.
void load_output(Conversation& conversation, PartView& result, const LoadAttachment& load) {
  if (!result.content.starts_with('[')) return;
  std::vector<PartView> parts;
  read_content(result.content, parts);
  bool changed = false;
  for (PartView& part : parts) {
    if (part.type != PartType::kAttachment) continue;
    const PartView before = part;
    load_attachment(conversation, part, load);
    changed = changed || part.type != before.type || part.data.data() != before.data.data();
  }
  if (!changed) return;
  std::string array;
  json::Writer out(array);
  out.begin_array();
  for (const PartView& part : parts) {
    if (part.type == PartType::kText) {
      out.begin_object().member("type", "text").raw_member("text", part.text).end_object();
    } else if (part.type == PartType::kAttachment) {
      out.begin_object().member("type", "attachment").raw_member("mediaType", part.media_type);
      if (!part.name.empty()) out.raw_member("name", part.name);
      out.raw_member("data", part.data).end_object();
    }
  }
  out.end_array();
  result.content = conversation.keep(std::move(array));
}

struct SizeRange {
  std::size_t least = 0;
  std::size_t most = 4096;
};

SizeRange size_of(const Conversation& conversation) {
  SizeRange bytes;
  const auto add = [&bytes](const Pieces& pieces) {
    for (const Piece& piece : pieces) {
      const WirePart part = piece.part();
      const std::size_t text = part.text.size() + part.input.size();
      bytes.least += text;
      bytes.most += text + part.content.size() + part.input.size() / 8 + part.data.size() +
                    part.signature.size() + 160;
    }
  };
  add(conversation.system);
  for (const Block& block : conversation.blocks) {
    add(block.pieces);
    add(block.results);
  }
  return bytes;
}

}  // namespace

Request write_request(Conversation& conversation, Provider provider, const LoadAttachment& load) {
  place_preamble(conversation);
  for (Block& block : conversation.blocks) {
    for (Piece& piece : block.pieces) {
      if (piece.type() != PartType::kAttachment) continue;
      WirePart part = piece.part();
      load_attachment(conversation, part, load);
      piece.set_part(part);
    }
    for (Piece& piece : block.results) {
      WirePart result = piece.part();
      load_output(conversation, result, load);
      piece.set_part(result);
    }
  }
  Request request;
  const SizeRange size = size_of(conversation);
  request.json.reserve(size.most);
  prefault(request.json.data(), size.least);
  json::Writer out(request.json);
  out.begin_object();
  switch (provider) {
    case Provider::kQuipu:
      request.messages = write_quipu(out, conversation);
      break;
    case Provider::kAnthropic:
      request.messages = write_anthropic(out, conversation);
      break;
    case Provider::kOpenAiChat:
      request.messages = write_openai_chat(out, conversation);
      break;
    case Provider::kOpenAiResponses:
      request.messages = write_openai_responses(out, conversation);
      break;
    case Provider::kGemini:
      request.messages = write_gemini(out, conversation);
      break;
  }
  out.end_object();
  return request;
}

std::string input_object(const PartView& call) {
  if (!call.input.empty()) return std::string(call.input);
  if (call.raw_input.empty()) return "{}";
  // Often the object itself, only as text.
  std::string raw = json::decode_string(call.raw_input);
  std::vector<json::Member> members;
  if (json::scan_object(raw, members).ok()) return raw;
  return "{\"raw\":" + std::string(call.raw_input) + "}";
}

std::string output_text(const PartView& result) {
  if (result.content.starts_with('"')) {
    return std::string(says_something(result.content) ? result.content : kNoOutput);
  }
  std::vector<PartView> parts;
  read_content(result.content, parts);
  std::string text;
  for (const PartView& part : parts) {
    const std::string token = part.type == PartType::kAttachment ? stand_in(part)
                              : part.type == PartType::kText     ? std::string(part.text)
                                                                 : std::string();
    if (!says_something(token)) continue;
    if (!text.empty()) text += "\\n";
    text += inner(token);
  }
  return text.empty() ? std::string(kNoOutput) : "\"" + text + "\"";
}

std::string joined_text(const Pieces& pieces) {
  std::string text = "\"";
  for (const Piece& piece : pieces) {
    if (piece.type() != PartType::kText) continue;
    if (text.size() > 1) text += "\\n\\n";
    text += inner(piece.part().text);
  }
  return text + "\"";
}

std::string stand_in(const PartView& attachment) {
  std::string text = "\"[attachment";
  for (const std::string_view token : {attachment.name, attachment.path, attachment.media_type}) {
    if (says_something(token)) (text += ' ') += inner(token);
  }
  return text + ": not shown]\"";
}

std::string data_url(const PartView& attachment) {
  std::string url = "\"data:";
  url += inner(attachment.media_type);
  url += ";base64,";
  url += inner(attachment.data);
  return url + "\"";
}

bool is_common_image(const PartView& attachment) {
  const std::string_view type = inner(attachment.media_type);
  return type == "image/jpeg" || type == "image/png" || type == "image/gif" || type == "image/webp";
}

}  // namespace quipu::context
