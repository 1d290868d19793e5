#include "dialect/claude/blocks.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/sha256.h"
#include "model/message_view.h"

namespace quipu::dialect::claude {
namespace {

constexpr std::size_t kNameMax = 128;

// Blocks of the API that we have no parts for, which it takes back as they are.
constexpr std::string_view kOwnBlocks[] = {
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "tool_reference",
    "search_result",
    "image",
    "document",
};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// The API takes letters, digits, `_` and `-`. Calls and results map alike; those
// without an id are counted.
std::string call_id(const std::string& id, std::uint64_t& nameless) {
  if (id.empty()) return "toolu_nameless" + std::to_string(++nameless);
  const bool is_fine = id.size() <= kNameMax && std::all_of(id.begin(), id.end(), is_name_char);
  return is_fine ? id : "toolu_" + sha256_hex(id).substr(0, 24);
}

std::string tool_name(std::string name) {
  for (char& c : name) {
    if (!is_name_char(c)) c = '_';
  }
  name.resize(std::min(name.size(), kNameMax));
  return name.empty() ? "unknown" : name;
}

bool is_blank(std::string_view text) { return !says_something(json::quoted(text)); }

}  // namespace

std::string text_block(std::string_view text) {
  std::string block;
  json::Writer(block).begin_object().member("type", "text").member("text", text).end_object();
  return block;
}

void Blocks::lose(std::string_view what, std::string_view why) {
  lost_.push_back(
      {.entry_id = message_->entry_id, .what = std::string(what), .why = std::string(why)});
}

std::string Blocks::of(const Part& part) {
  switch (part.type) {
    case PartType::kText:
      return is_blank(part.text) ? std::string() : text_block(part.text);
    case PartType::kThinking:
      return of_thinking(part);
    case PartType::kToolUse:
      return of_call(part);
    case PartType::kToolResult:
      return of_result(part);
    case PartType::kAttachment:
      return of_attachment(part);
    case PartType::kStatus:
      lose("status", "only for a screen");
      return {};
    case PartType::kOther:
      return of_other(part);
  }
  return {};
}

// A signature is the proof without which the API refuses to take reasoning back.
std::string Blocks::of_thinking(const Part& part) {
  if (part.signature.empty() || message_->message.provider != "anthropic") {
    lose("thinking", "not signed by Anthropic");
    return {};
  }
  std::string block;
  json::Writer out(block);
  out.begin_object();
  if (part.redacted) {
    out.member("type", "redacted_thinking").member("data", part.signature);
  } else {
    out.member("type", "thinking").member("thinking", part.text);
    out.member("signature", part.signature);
  }
  out.end_object();
  return block;
}

std::string Blocks::of_call(const Part& part) {
  std::string block;
  json::Writer out(block);
  out.begin_object()
      .member("type", "tool_use")
      .member("id", call_id(part.tool_use_id, nameless_calls_));
  out.member("name", tool_name(part.name)).key("input");
  if (json::is_object(part.input) && json::validate(part.input).ok()) {
    out.raw(part.input);
  } else {
    // Arguments must be an object; what the model wrote is kept in one.
    out.begin_object().text_member("input", part.raw_input).end_object();
    if (!part.raw_input.empty()) lose("arguments", "no JSON object: wrapped in one");
  }
  out.end_object();
  return block;
}

std::string Blocks::of_attachment(const Part& part) {
  if (message_->message.role == Role::kAssistant && !part.data.empty()) {
    lose("attachment", "of an answer");
    return {};
  }
  const bool is_image = part.media_type.starts_with("image/");
  const bool is_document = part.media_type == "application/pdf";
  if (part.data.empty() || (!is_image && !is_document)) {
    lose("attachment", part.data.empty() ? "its bytes are not in the session"
                                         : "no image and no PDF: " + part.media_type);
    const std::string name = part.name.empty() ? part.path : part.name;
    return text_block("[attachment" + (name.empty() ? "" : ": " + name) + "]");
  }
  std::string block;
  json::Writer out(block);
  out.begin_object().member("type", is_image ? "image" : "document").key("source");
  out.begin_object().member("type", "base64").member("media_type", part.media_type);
  out.member("data", part.data).end_object();
  if (is_document) out.text_member("title", part.name);
  out.end_object();
  return block;
}

std::string Blocks::of_other(const Part& part) {
  const auto type = json::find_member(part.extra, "type");
  if (type && type->kind == json::Kind::kString && json::validate(part.extra).ok()) {
    const std::string name = json::decode_string(type->value);
    if (std::find(std::begin(kOwnBlocks), std::end(kOwnBlocks), name) != std::end(kOwnBlocks)) {
      return part.extra;
    }
  }
  lose("part", "of a type that Claude does not know");
  return {};
}

std::string Blocks::of_result(const Part& part) {
  std::string block;
  json::Writer out(block);
  out.begin_object().member("tool_use_id", call_id(part.tool_use_id, nameless_results_));
  out.member("type", "tool_result").key("content");
  if (part.content.empty()) {
    out.value("");
  } else if (part.content.size() == 1 && part.content[0].type == PartType::kText) {
    out.value(part.content[0].text);
  } else {
    out.begin_array();
    for (const Part& inner : part.content) {
      const std::string inside = of(inner);
      if (!inside.empty()) out.raw(inside);
    }
    out.end_array();
  }
  if (part.is_error) out.member("is_error", true);
  out.end_object();
  return block;
}

}  // namespace quipu::dialect::claude
