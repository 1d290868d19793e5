#include "dialect/transcript.h"

#include <algorithm>

#include "base/json_write.h"
#include "model/message_view.h"

namespace quipu::dialect {
namespace {

bool is_said_everywhere(const Part& part) {
  if (part.type == PartType::kText) {
    return says_something(json::quoted(part.text));
  }
  return part.type == PartType::kToolUse || part.type == PartType::kToolResult;
}

}  // namespace

std::size_t last_said(const Transcript& transcript) {
  for (std::size_t place = transcript.messages.size(); place-- > 0;) {
    const Message& message = transcript.messages[place].message;
    const bool is_any = std::ranges::any_of(message.parts, is_said_everywhere);
    if (message.role != Role::kSystem && is_any) return place;
  }
  return 0;
}

}  // namespace quipu::dialect
