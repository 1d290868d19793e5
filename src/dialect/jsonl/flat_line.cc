#include "dialect/jsonl/flat_line.h"

#include "base/json_scan.h"

namespace quipu::dialect::jsonl {
namespace {

using json::Kind;

struct FlatLine {
  std::string_view content;
  std::string_view thinking;
  std::string_view tool_calls;  // array
  PartView tool;                // `tool` and `tool_result`: the part that the line is
};

FlatLine read_members(std::string_view payload) {
  FlatLine line;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    const bool is_text = member->kind == Kind::kString;
    if (member->key == "content") line.content = member->value;
    if (member->key == "thinking" && is_text) line.thinking = member->value;
    if (member->key == "toolCalls" && member->kind == Kind::kArray) line.tool_calls = member->value;
    if (member->key == "toolCallId" && is_text) line.tool.tool_use_id = member->value;
    if (member->key == "name" && is_text) line.tool.name = member->value;
    if (member->key == "params" && member->kind == Kind::kObject) line.tool.input = member->value;
    if (member->key == "output" && (is_text || member->kind == Kind::kArray)) {
      line.tool.content = member->value;
    }
    if (member->key == "details") line.tool.details = member->value;
    if (member->key == "success") line.tool.is_error = member->value == "false";
  }
  return line;
}

void read_tool_calls(std::string_view array, std::vector<PartView>& parts) {
  json::ElementWalk walk(array);
  while (const auto element = walk.next()) {
    PartView part;
    part.type = PartType::kToolUse;
    part.whole = element->value;
    json::MemberWalk members(element->value);
    while (const auto member = members.next()) {
      const bool is_text = member->kind == Kind::kString;
      if (member->key == "id" && is_text) part.tool_use_id = member->value;
      if (member->key == "name" && is_text) part.name = member->value;
      if (member->key == "params" && member->kind == Kind::kObject) part.input = member->value;
    }
    if (!part.name.empty()) parts.push_back(part);
  }
}

}  // namespace

bool is_flat_type(std::string_view type) {
  return type == "user" || type == "assistant" || type == "tool" || type == "tool_result" ||
         type == "system";
}

MessageView read_flat_line(std::string_view type, std::string_view payload,
                           std::vector<PartView>& parts) {
  MessageView message;
  FlatLine line = read_members(payload);
  line.tool.whole = payload;
  if (type == "tool") {
    message.role = Role::kAssistant;
    line.tool.type = PartType::kToolUse;
    if (!line.tool.name.empty()) parts.push_back(line.tool);
    return message;
  }
  if (type == "tool_result") {
    message.role = Role::kTool;
    line.tool.type = PartType::kToolResult;
    if (!line.tool.tool_use_id.empty()) parts.push_back(line.tool);
    return message;
  }
  if (type == "assistant") message.role = Role::kAssistant;
  if (type == "system") message.role = Role::kSystem;
  if (!line.thinking.empty()) {
    PartView thinking;
    thinking.type = PartType::kThinking;
    thinking.text = line.thinking;
    parts.push_back(thinking);
  }
  read_content(line.content, parts);
  read_tool_calls(line.tool_calls, parts);
  return message;
}

}  // namespace quipu::dialect::jsonl
