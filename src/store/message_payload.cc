#include "store/message_payload.h"

#include <array>
#include <charconv>

#include "base/json_write.h"

namespace quipu {
namespace {

std::string_view role_name(Role role) {
  constexpr std::array<std::string_view, 4> kNames = {"user", "assistant", "system", "tool"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view part_name(PartType type) {
  constexpr std::array<std::string_view, 7> kNames = {
      "text", "thinking", "tool_use", "tool_result", "attachment", "status", "other"};
  return kNames[static_cast<std::size_t>(type)];
}

void write_extra(json::Writer& out, std::string_view extra) {
  json::MemberWalk walk(extra);
  while (const auto member = walk.next()) out.raw_member(member->key, member->value);
}

void write_parts(json::Writer& out, const std::vector<Part>& parts);

// A single text without anything else is written as a string.
void write_content(json::Writer& out, const std::vector<Part>& parts) {
  out.key("content");
  if (parts.size() == 1 && parts[0].type == PartType::kText && parts[0].extra.empty()) {
    out.value(parts[0].text);
  } else {
    write_parts(out, parts);
  }
}

void write_members(json::Writer& out, const Part& part) {
  switch (part.type) {
    case PartType::kText:
      out.member("text", part.text);
      break;
    case PartType::kThinking:
      out.member("text", part.text).text_member("signature", part.signature);
      if (part.redacted) out.member("redacted", true);
      break;
    case PartType::kToolUse:
      out.text_member("id", part.tool_use_id).member("name", part.name);
      if (part.input.empty()) {
        out.member("rawInput", part.raw_input);
      } else {
        out.raw_member("input", part.input);
      }
      break;
    case PartType::kToolResult:
      out.member("toolUseId", part.tool_use_id);
      write_content(out, part.content);
      if (part.is_error) out.member("isError", true);
      if (!part.details.empty()) out.raw_member("details", part.details);
      break;
    case PartType::kAttachment:
      out.member("mediaType", part.media_type)
          .text_member("name", part.name)
          .text_member("data", part.data)
          .text_member("sha256", part.sha256)
          .text_member("path", part.path);
      break;
    case PartType::kStatus:
      out.member("status", part.text);
      break;
    case PartType::kOther:
      break;
  }
}

void write_parts(json::Writer& out, const std::vector<Part>& parts) {
  out.begin_array();
  for (const Part& part : parts) {
    out.begin_object();
    if (part.type != PartType::kOther) out.member("type", part_name(part.type));
    write_members(out, part);
    write_extra(out, part.extra);
    out.end_object();
  }
  out.end_array();
}

void write_usage(json::Writer& out, const Usage& usage) {
  const auto number = [&](std::string_view key, std::optional<std::uint64_t> value) {
    if (value) out.member(key, *value);
  };
  out.key("usage").begin_object();
  number("tokensIn", usage.tokens_in);
  number("tokensOut", usage.tokens_out);
  number("cacheRead", usage.cache_read);
  number("cacheWrite", usage.cache_write);
  number("reasoning", usage.reasoning);
  if (usage.cost_usd) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *usage.cost_usd);
    out.raw_member("costUsd", {digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
  }
  number("latencyMs", usage.latency_ms);
  out.end_object();
}

}  // namespace

std::string message_payload(const Message& message) {
  std::string payload;
  json::Writer out(payload);
  out.begin_object().member("role", role_name(message.role));
  write_content(out, message.parts);
  out.text_member("model", message.model)
      .text_member("provider", message.provider)
      .text_member("requestId", message.request_id)
      .text_member("stopReason", message.stop_reason);
  if (message.usage) write_usage(out, *message.usage);
  write_extra(out, message.extra);
  out.end_object();
  return payload;
}

std::string parts_json(const std::vector<Part>& parts) {
  std::string text;
  json::Writer out(text);
  write_parts(out, parts);
  return text;
}

}  // namespace quipu
