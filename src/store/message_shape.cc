#include "store/message_shape.h"

#include "base/json_scan.h"
#include "dialect/lift.h"

namespace quipu {
namespace {

std::string text_of(std::string_view token) {
  return token.empty() ? std::string() : json::decode_string(token);
}

}  // namespace

MessageShape read_message_shape(std::string_view type, std::string_view payload) {
  MessageShape shape;
  if (!dialect::carries_message(type)) return shape;
  shape.is_message = true;
  std::vector<PartView> parts;
  const MessageView message = dialect::lift(type, payload, parts);
  bool has_text = false;
  for (const PartView& part : parts) {
    if (part.type == PartType::kToolUse) {
      shape.calls.push_back(
          {.id = text_of(part.tool_use_id),
           .tool = text_of(part.name),
           .input = part.input.empty() ? text_of(part.raw_input) : std::string(part.input)});
    } else if (part.type == PartType::kToolResult) {
      shape.answered.push_back(text_of(part.tool_use_id));
    } else if (part.type != PartType::kStatus && part.type != PartType::kThinking) {
      has_text = true;
    }
  }
  shape.is_user_text = message.role == Role::kUser && (has_text || shape.answered.empty());
  return shape;
}

}  // namespace quipu
