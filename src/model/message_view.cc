#include "model/message_view.h"

#include <charconv>

#include "base/json_scan.h"

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

void read_part_member(const Member& member, PartView& part) {
  if (member.kind == Kind::kString) {
    for (const TokenMember& token : kTokens) {
      if (member.key == token.key) part.*token.field = member.value;
    }
  }
  if (member.key == "type") part.type = part_type(member.value);
  if (member.key == "redacted") part.redacted = member.value == "true";
  if (member.key == "isError") part.is_error = member.value == "true";
  if (member.key == "input" && member.kind == Kind::kObject) part.input = member.value;
  if (member.key == "details") part.details = member.value;
  if (member.key == "content" && (member.kind == Kind::kString || member.kind == Kind::kArray)) {
    part.content = member.value;
  }
}

// A part that lacks what makes it one is nothing we know.
bool is_whole(const PartView& part) {
  switch (part.type) {
    case PartType::kText:
      return !part.text.empty();
    case PartType::kToolUse:
      return !part.name.empty();
    case PartType::kToolResult:
      return !part.tool_use_id.empty();
    case PartType::kAttachment:
      return !(part.data.empty() && part.sha256.empty() && part.path.empty());
    case PartType::kThinking:
    case PartType::kStatus:
    case PartType::kOther:
      return true;
  }
  return true;
}

PartView read_part(std::string_view object) {
  PartView part;
  part.whole = object;
  std::string_view id;
  std::string_view status;
  json::MemberWalk walk(object);
  while (const auto member = walk.next()) {
    read_part_member(*member, part);
    if (member->key == "id" && member->kind == Kind::kString) id = member->value;
    if (member->key == "status" && member->kind == Kind::kString) status = member->value;
  }
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

constexpr std::string_view kSpaces[] = {
    " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\b",
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
    "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
    "\u200b", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff",
};

bool is_blank(std::string_view text) {
  while (!text.empty()) {
    std::size_t space = 0;
    for (const std::string_view known : kSpaces) {
      if (text.starts_with(known)) space = known.size();
    }
    if (space == 0) return false;
    text.remove_prefix(space);
  }
  return true;
}

}  // namespace

void read_content(std::string_view content, std::vector<PartView>& parts) {
  if (content.empty()) return;
  if (content.front() == '"') parts.push_back(text_part(content));
  if (content.front() == '{') parts.push_back(read_part(content));
  if (content.front() != '[') return;
  json::ElementWalk walk(content);
  while (const auto element = walk.next()) {
    if (element->kind == Kind::kString) parts.push_back(text_part(element->value));
    if (element->kind == Kind::kObject) parts.push_back(read_part(element->value));
  }
}

MessageView read_message(std::string_view payload, std::vector<PartView>& parts) {
  MessageView message;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (member->key == "content") read_content(member->value, parts);
    if (member->key == "usage" && member->kind == Kind::kObject) message.usage = member->value;
    if (member->kind != Kind::kString) continue;
    if (member->key == "role") message.role = role_of(member->value);
    if (member->key == "model") message.model = member->value;
    if (member->key == "provider") message.provider = member->value;
    if (member->key == "requestId") message.request_id = member->value;
    if (member->key == "stopReason") message.stop_reason = member->value;
    if (member->key == "streamId") message.stream_id = member->value;
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
    if (text.front() != ' ' && !text.starts_with("\\n")) break;
    text.remove_prefix(text.front() == ' ' ? 1 : 2);
  }
  // Rare, and many spaces to know: decided on the plain text.
  return !text.empty() && !is_blank(json::decode_string(text));
}

}  // namespace quipu
