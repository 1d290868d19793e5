#include "dialect/lifted.h"

#include "base/json_scan.h"
#include "base/json_write.h"

namespace quipu::dialect {

MessageView& Lifted::begin(Role role) {
  messages_.push_back({.view = {}, .first = static_cast<std::uint32_t>(parts_.size()), .count = 0});
  messages_.back().view.role = role;
  return messages_.back().view;
}

void Lifted::part(const PartView& part) {
  parts_.push_back(part);
  ++messages_.back().count;
}

std::string_view Lifted::keep(std::string json) { return owned_.emplace_back(std::move(json)); }

std::string_view Lifted::token(std::string_view text) { return keep(json::quoted(text)); }

std::string_view Lifted::usage(const Usage& usage) {
  std::string json;
  json::Writer out(json);
  out.begin_object();
  const auto count = [&](std::string_view name, const std::optional<std::uint64_t>& number) {
    if (number) out.member(name, *number);
  };
  count("tokensIn", usage.tokens_in);
  count("tokensOut", usage.tokens_out);
  count("cacheRead", usage.cache_read);
  count("cacheWrite", usage.cache_write);
  count("reasoning", usage.reasoning);
  out.end_object();
  return keep(std::move(json));
}

namespace {

std::string wrapped(std::string_view words, std::string_view token) {
  std::string json = json::quoted(words);
  json.pop_back();
  if (token.size() > 2) json += token.substr(1, token.size() - 2);
  return json + "\\n</summary>\"";
}

}  // namespace

void Lifted::summary(std::string_view token) {
  begin(Role::kUser);
  part(text_part(keep(
      wrapped("The conversation so far has been compacted. This summary stands for what was said "
              "before:\n\n<summary>\n",
              token))));
}

void Lifted::branch_summary(std::string_view token) {
  begin(Role::kUser);
  part(text_part(keep(wrapped(
      "This summary stands for another branch of the conversation, which was left:\n\n<summary>\n",
      token))));
}

void Lifted::clear() {
  messages_.clear();
  parts_.clear();
  owned_.clear();
  kept_.clear();
}

PartView text_part(std::string_view token) {
  PartView part;
  part.type = PartType::kText;
  part.text = token;
  return part;
}

PartView thinking_part(std::string_view token, std::string_view signature) {
  PartView part;
  part.type = PartType::kThinking;
  part.text = token;
  part.signature = signature;
  return part;
}

PartView call_part(std::string_view id, std::string_view name, std::string_view input) {
  PartView part;
  part.type = PartType::kToolUse;
  part.tool_use_id = id;
  part.name = name;
  (input.starts_with('"') ? part.raw_input : part.input) = input;
  return part;
}

PartView result_part(std::string_view call_id, std::string_view content, bool is_error) {
  PartView part;
  part.type = PartType::kToolResult;
  part.tool_use_id = call_id;
  part.content = content;
  part.is_error = is_error;
  return part;
}

PartView attachment_part(std::string_view media_type, std::string_view data) {
  PartView part;
  part.type = PartType::kAttachment;
  part.media_type = media_type;
  part.data = data;
  return part;
}

PartView status_part(std::string_view token) {
  PartView part;
  part.type = PartType::kStatus;
  part.text = token;
  return part;
}

}  // namespace quipu::dialect
