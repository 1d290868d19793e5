#include "model/message_view.h"

#include <algorithm>
#include <charconv>

#include "base/json_scan.h"
#include "base/json_text.h"

namespace quipu {
namespace {

using json::Kind;
using json::Member;

struct PartName {
  std::string_view name;
  PartType type;
};
constexpr PartName kPartNames[] = {
    {"\"text\"", PartType::kText},
    {"\"thinking\"", PartType::kThinking},
    {"\"tool_use\"", PartType::kToolUse},
    {"\"tool_result\"", PartType::kToolResult},
    {"\"attachment\"", PartType::kAttachment},
    {"\"status\"", PartType::kStatus},
};

PartType part_type(std::string_view token) {
  for (const PartName& known : kPartNames) {
    if (token == known.name) return known.type;
  }
  return PartType::kOther;
}

struct TokenMember {
  std::string_view key;
  std::string_view PartView::*field;
};
constexpr TokenMember kTokens[] = {
    {"text", &PartView::text},
    {"signature", &PartView::signature},
    {"toolUseId", &PartView::tool_use_id},
    {"name", &PartView::name},
    {"rawInput", &PartView::raw_input},
    {"mediaType", &PartView::media_type},
    {"data", &PartView::data},
    {"sha256", &PartView::sha256},
    {"path", &PartView::path},
};

// A member's value; a container is passed over.
struct Value {
  std::string_view text;
  Kind kind = Kind::kNull;
};

Value take(json::Cursor& at) {
  const Kind kind = at.kind();
  return {.text = at.take(), .kind = kind};
}

void read_part_member(std::string_view key, const Value& value, PartView& part) {
  if (value.kind == Kind::kString) {
    for (const TokenMember& token : kTokens) {
      if (key == token.key) part.*token.field = value.text;
    }
  }
  if (key == "type") part.type = part_type(value.text);
  if (key == "redacted") part.redacted = value.text == "true";
  if (key == "isError") part.is_error = value.text == "true";
  if (key == "input" && value.kind == Kind::kObject) part.input = value.text;
  if (key == "details") part.details = value.text;
  if (key == "content" && (value.kind == Kind::kString || value.kind == Kind::kArray)) {
    part.content = value.text;
  }
}

// A part that lacks what makes it one is nothing we know.
bool is_whole(const PartView& part) {
  switch (part.type) {
    case PartType::kText:
      return !part.text.empty();
    case PartType::kToolUse:
      return !part.name.empty();
    case PartType::kAttachment:
      return !(part.data.empty() && part.sha256.empty() && part.path.empty());
    case PartType::kThinking:
    case PartType::kToolResult:  // nobody will find its call, but it is one
    case PartType::kStatus:
    case PartType::kOther:
      return true;
  }
  return true;
}

PartView read_part(json::Cursor& at) {
  PartView part;
  const char* const from = at.position();
  std::string_view id;
  std::string_view status;
  std::string_view key;
  for (at.enter(); at.next_member(key);) {
    const Value value = take(at);
    read_part_member(key, value, part);
    if (key == "id" && value.kind == Kind::kString) id = value.text;
    if (key == "status" && value.kind == Kind::kString) status = value.text;
  }
  part.whole = {from, static_cast<std::size_t>(at.position() - from)};
  // Any part may have members of these names; only here they are its own.
  if (part.type == PartType::kToolUse) part.tool_use_id = id;
  if (part.type == PartType::kStatus) part.text = status;
  if (!is_whole(part)) part.type = PartType::kOther;
  return part;
}

PartView text_part(std::string_view token) {
  PartView part;
  part.type = PartType::kText;
  part.text = token;
  return part;
}

Role role_of(std::string_view token) {
  if (token == "\"assistant\"") return Role::kAssistant;
  if (token == "\"system\"") return Role::kSystem;
  if (token == "\"tool\"") return Role::kTool;
  return Role::kUser;
}

template <class T>
void read_number(const Member& member, std::string_view key, std::optional<T>& into) {
  if (member.key != key || member.kind != Kind::kNumber) return;
  T value{};
  const char* const end = member.value.data() + member.value.size();
  const auto read = std::from_chars(member.value.data(), end, value);
  // A count with a fraction or an exponent is no count.
  if (read.ec == std::errc() && read.ptr == end) into = value;
}

// Moves past the content.
void read_content(json::Cursor& at, std::vector<PartView>& parts) {
  switch (at.kind()) {
    case Kind::kString:
      parts.push_back(text_part(at.take()));
      return;
    case Kind::kObject:
      parts.push_back(read_part(at));
      return;
    case Kind::kArray:
      break;
    default:
      at.take();
      return;
  }
  for (at.enter(); at.next_element();) {
    if (at.kind() == Kind::kString) {
      parts.push_back(text_part(at.take()));
    } else if (at.kind() == Kind::kObject) {
      parts.push_back(read_part(at));
    } else {
      at.take();
    }
  }
}

constexpr std::string_view kSpaces[] = {
    " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\b",
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
    "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
    "\u200b", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff",
};

bool is_blank(std::string_view character) {
  return std::find(std::begin(kSpaces), std::end(kSpaces), character) != std::end(kSpaces);
}

}  // namespace

void read_content(std::string_view content, std::vector<PartView>& parts) {
  json::Cursor at(content);
  read_content(at, parts);
}

MessageView read_message(std::string_view payload, std::vector<PartView>& parts) {
  MessageView message;
  json::Cursor at(payload);
  std::string_view key;
  for (at.enter(); at.next_member(key);) {
    if (key == "content") {
      read_content(at, parts);
      continue;
    }
    const Value value = take(at);
    if (key == "usage" && value.kind == Kind::kObject) message.usage = value.text;
    if (value.kind != Kind::kString) continue;
    if (key == "role") message.role = role_of(value.text);
    if (key == "model") message.model = value.text;
    if (key == "provider") message.provider = value.text;
    if (key == "requestId") message.request_id = value.text;
    if (key == "stopReason") message.stop_reason = value.text;
    if (key == "streamId") message.stream_id = value.text;
  }
  return message;
}

Usage read_usage(std::string_view object) {
  Usage usage;
  json::MemberWalk walk(object);
  while (const auto member = walk.next()) {
    read_number(*member, "tokensIn", usage.tokens_in);
    read_number(*member, "tokensOut", usage.tokens_out);
    read_number(*member, "cacheRead", usage.cache_read);
    read_number(*member, "cacheWrite", usage.cache_write);
    read_number(*member, "reasoning", usage.reasoning);
    read_number(*member, "costUsd", usage.cost_usd);
    read_number(*member, "latencyMs", usage.latency_ms);
  }
  return usage;
}

bool says_something(std::string_view token) {
  if (token.size() < 2) return false;
  std::string_view text = token.substr(1, token.size() - 2);
  while (!text.empty()) {
    const bool is_plain = text.front() > ' ' && text.front() != '\\';
    if (is_plain) return true;
    std::size_t bytes = 1;
    if (text.front() == '\\') bytes = text.starts_with("\\u") ? 6 : 2;
    if (static_cast<unsigned char>(text.front()) >= 0x80) {
      bytes = std::max<std::size_t>(1, json::utf8_length(text.data(), text.data() + text.size()));
    }
    bytes = std::min(bytes, text.size());
    if (!is_blank(json::decode_string(text.substr(0, bytes)))) return true;
    text.remove_prefix(bytes);
  }
  return false;
}

}  // namespace quipu
