#include "quipu/message.h"

#include <algorithm>

#include "base/json_write.h"
#include "model/message_view.h"

namespace quipu {
namespace {

// Writes the members of an object kept aside into the object in the making.
void write_extra(json::Writer& out, std::string_view extra) {
  json::MemberWalk walk(extra);
  while (const auto member = walk.next()) out.raw_member(member->key, member->value);
}

void write_parts(json::Writer& out, const std::vector<Part>& parts);

// A single text without anything else is written as a string.
void write_content(json::Writer& out, const std::vector<Part>& parts) {
  out.key("content");
  const bool is_text =
      parts.size() == 1 && parts[0].type == PartType::kText && parts[0].extra.empty();
  if (is_text) {
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
      if (!part.input.empty()) {
        out.raw_member("input", part.input);
      } else {
        out.member("rawInput", part.raw_input);
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
    if (part.type != PartType::kOther) out.member("type", name(part.type));
    write_members(out, part);
    write_extra(out, part.extra);
    out.end_object();
  }
  out.end_array();
}

void write_number(json::Writer& out, std::string_view key, std::optional<std::uint64_t> number) {
  if (number) out.member(key, *number);
}

// What is taken over as it came may have been written in several lines. A line end inside a text
// is escaped, so what is left of them stands between tokens.
std::string one_line(std::string json) {
  std::replace_if(
      json.begin(), json.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return json;
}

}  // namespace

std::string encode_usage(const Usage& usage) {
  std::string object;
  json::Writer out(object);
  out.begin_object();
  write_number(out, "tokensIn", usage.tokens_in);
  write_number(out, "tokensOut", usage.tokens_out);
  write_number(out, "cacheRead", usage.cache_read);
  write_number(out, "cacheWrite", usage.cache_write);
  write_number(out, "reasoning", usage.reasoning);
  if (usage.cost_usd) out.member("costUsd", *usage.cost_usd);
  write_number(out, "latencyMs", usage.latency_ms);
  write_extra(out, usage.extra);
  out.end_object();
  return one_line(std::move(object));
}

std::string_view name(Role role) {
  switch (role) {
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      return "assistant";
    case Role::kSystem:
      return "system";
    case Role::kTool:
      return "tool";
  }
  return "user";
}

std::string_view name(PartType type) {
  switch (type) {
    case PartType::kText:
      return "text";
    case PartType::kThinking:
      return "thinking";
    case PartType::kToolUse:
      return "tool_use";
    case PartType::kToolResult:
      return "tool_result";
    case PartType::kAttachment:
      return "attachment";
    case PartType::kStatus:
      return "status";
    case PartType::kOther:
      return "other";
  }
  return "other";
}

Part Part::of_text(std::string text) { return {.type = PartType::kText, .text = std::move(text)}; }

Part Part::of_tool_use(std::string id, std::string tool, std::string input) {
  return {.type = PartType::kToolUse,
          .tool_use_id = std::move(id),
          .name = std::move(tool),
          .input = std::move(input)};
}

Part Part::of_tool_result(std::string tool_use_id, std::string output, bool is_error) {
  return {.type = PartType::kToolResult,
          .tool_use_id = std::move(tool_use_id),
          .content = {of_text(std::move(output))},
          .is_error = is_error};
}

Message Message::user(std::string text) {
  return {.role = Role::kUser, .parts = {Part::of_text(std::move(text))}};
}

Message Message::assistant(std::string text) {
  return {.role = Role::kAssistant, .parts = {Part::of_text(std::move(text))}};
}

std::string encode_parts(const std::vector<Part>& parts) {
  std::string array;
  json::Writer out(array);
  write_parts(out, parts);
  return one_line(std::move(array));
}

std::string encode_message(const Message& message) {
  std::string payload;
  json::Writer out(payload);
  out.begin_object().member("role", name(message.role));
  write_content(out, message.parts);
  out.text_member("model", message.model)
      .text_member("provider", message.provider)
      .text_member("requestId", message.request_id)
      .text_member("stopReason", message.stop_reason);
  if (message.usage) out.raw_member("usage", encode_usage(*message.usage));
  write_extra(out, message.extra);
  out.end_object();
  return one_line(std::move(payload));
}

}  // namespace quipu
