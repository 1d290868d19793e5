#include "dialect/pi/messages.h"

#include "base/json_write.h"
#include "dialect/json_members.h"

namespace quipu::dialect::pi {
namespace {

using json::Kind;

void lift_block(std::string_view block, Lifted& into) {
  const std::string type = text_in(block, "type");
  if (type == "text") return into.part(text_part(token_in(block, "text")));
  if (type == "image") {
    return into.part(attachment_part(token_in(block, "mimeType"), token_in(block, "data")));
  }
  if (type == "thinking") {
    PartView part =
        thinking_part(token_in(block, "thinking"), token_in(block, "thinkingSignature"));
    part.redacted = is_true_in(block, "redacted");
    return into.part(part);
  }
  if (type == "toolCall") {
    const std::string_view arguments = object_in(block, "arguments");
    PartView part = call_part(token_in(block, "id"), token_in(block, "name"),
                              arguments.empty() ? "{}" : arguments);
    part.signature = token_in(block, "thoughtSignature");
    return into.part(part);
  }
  PartView other;
  other.whole = block;
  into.part(other);
}

void lift_blocks(std::string_view message, Lifted& into) {
  const auto content = json::find_member(message, "content");
  if (!content) return;
  if (content->kind == Kind::kString) return into.part(text_part(content->value));
  json::ElementWalk walk(content->kind == Kind::kArray ? content->value : "[]");
  while (const auto block = walk.next()) {
    if (block->kind == Kind::kObject) lift_block(block->value, into);
  }
}

// A tool's blocks as parts of ours.
std::string_view result_content(std::string_view message, Lifted& into) {
  std::string json;
  json::Writer out(json);
  out.begin_array();
  json::ElementWalk walk(array_in(message, "content"));
  while (const auto block = walk.next()) {
    const std::string type = text_in(block->value, "type");
    if (type == "text" && !token_in(block->value, "text").empty()) {
      out.begin_object().member("type", "text");
      out.raw_member("text", token_in(block->value, "text")).end_object();
    }
    if (type == "image" && !token_in(block->value, "data").empty()) {
      out.begin_object().member("type", "attachment");
      const std::string_view media_type = token_in(block->value, "mimeType");
      out.raw_member("mediaType", media_type.empty() ? "\"image/png\"" : media_type);
      out.raw_member("data", token_in(block->value, "data")).end_object();
    }
  }
  out.end_array();
  return into.keep(std::move(json));
}

void lift_tool_result(std::string_view message, Lifted& into) {
  into.begin(Role::kTool);
  const std::string_view said = token_in(message, "content");
  PartView part = result_part(token_in(message, "toolCallId"),
                              said.empty() ? result_content(message, into) : said,
                              is_true_in(message, "isError"));
  part.name = token_in(message, "toolName");
  if (const auto details = json::find_member(message, "details")) part.details = details->value;
  into.part(part);
}

// What the user did at a prompt, as the user tells the model.
std::string bash_text(std::string_view message) {
  std::string text = "Ran `" + text_in(message, "command") + "`\n";
  const std::string output = text_in(message, "output");
  text += output.empty() ? "(no output)" : "```\n" + output + "\n```";
  if (is_true_in(message, "cancelled")) {
    text += "\n\n(command cancelled)";
  } else if (const auto code = json::find_member(message, "exitCode");
             code && code->kind == Kind::kNumber && code->value != "0") {
    text += "\n\nCommand exited with code " + std::string(code->value);
  }
  if (is_true_in(message, "truncated") && !text_in(message, "fullOutputPath").empty()) {
    text += "\n\n[Output truncated. Full output: " + text_in(message, "fullOutputPath") + "]";
  }
  return text;
}

std::string_view usage_json(std::string_view message, Lifted& into) {
  const auto usage = usage_in(object_in(message, "usage"));
  if (!usage) return {};
  std::string json;
  json::Writer out(json);
  out.begin_object();
  const auto count = [&](std::string_view name, const std::optional<std::uint64_t>& number) {
    if (number) out.member(name, *number);
  };
  count("tokensIn", usage->tokens_in);
  count("tokensOut", usage->tokens_out);
  count("cacheRead", usage->cache_read);
  count("cacheWrite", usage->cache_write);
  count("reasoning", usage->reasoning);
  const auto total = json::find_member(object_in(object_in(message, "usage"), "cost"), "total");
  if (total && total->kind == Kind::kNumber) out.raw_member("costUsd", total->value);
  out.end_object();
  return into.keep(std::move(json));
}

// v1 files came with the message.
void lift_attachments(std::string_view message, Lifted& into) {
  json::ElementWalk walk(array_in(message, "attachments"));
  while (const auto file = walk.next()) {
    PartView part =
        attachment_part(token_in(file->value, "mimeType"), token_in(file->value, "content"));
    part.name = token_in(file->value, "fileName");
    if (!part.data.empty()) into.part(part);
  }
}

}  // namespace

void lift_user_content(std::string_view content, Lifted& into) {
  into.begin(Role::kUser);
  lift_blocks(content, into);
}

void lift_message(std::string_view message, Lifted& into) {
  const std::string role = text_in(message, "role");
  if (role == "toolResult") return lift_tool_result(message, into);
  if (role == "bashExecution") {
    into.begin(Role::kUser);
    return into.part(text_part(into.token(bash_text(message))));
  }
  if (role == "assistant") {
    MessageView& view = into.begin(Role::kAssistant);
    view.model = token_in(message, "model");
    view.provider = token_in(message, "provider");
    view.request_id = token_in(message, "responseId");
    view.stop_reason = token_in(message, "stopReason");
    view.usage = usage_json(message, into);
  } else {
    into.begin(role == "system" ? Role::kSystem : Role::kUser);
  }
  lift_blocks(message, into);
  if (role == "user") lift_attachments(message, into);
}

bool is_sent(std::string_view message) {
  const std::string role = text_in(message, "role");
  if (role == "bashExecution") return !is_true_in(message, "excludeFromContext");
  if (role != "assistant") return true;
  const std::string reason = text_in(message, "stopReason");
  return reason != "error" && reason != "aborted";
}

std::optional<Usage> usage_in(std::string_view object) {
  if (object.empty()) return std::nullopt;
  Usage usage;
  usage.tokens_in = number_in(object, "input");
  usage.tokens_out = number_in(object, "output");
  usage.cache_read = number_in(object, "cacheRead");
  usage.cache_write = number_in(object, "cacheWrite");
  usage.reasoning = number_in(object, "reasoning");
  usage.cost_usd = real_in(object_in(object, "cost"), "total");
  return usage;
}

// Forks keep the ids of entries, and with them what was used.
void note_message(std::string_view message, std::string_view entry_id, Note& into) {
  if (text_in(message, "role") != "assistant") return;
  into.model = text_in(message, "model");
  into.provider = text_in(message, "provider");
  const auto usage = usage_in(object_in(message, "usage"));
  if (!usage) return;
  UsageNote note;
  note.usage = *usage;
  note.model = *into.model;
  note.provider = *into.provider;
  const std::string response = text_in(message, "responseId");
  if (!response.empty()) {
    note.key = "pi:" + response;
  } else if (const auto time = number_in(message, "timestamp")) {
    note.key = "pi:" + std::string(entry_id) + ":" + std::to_string(*time);
  }
  into.usage.push_back(std::move(note));
}

}  // namespace quipu::dialect::pi
