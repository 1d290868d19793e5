#include "store/message_shape.h"

#include <algorithm>
#include <array>

#include "base/json_scan.h"
#include "store/fact_walk.h"

namespace quipu {
namespace {

constexpr std::array<std::string_view, 5> kFlatTypes = {"user", "assistant", "system", "tool",
                                                        "tool_result"};

// The arguments under whichever name: JSON as it stands, text decoded.
std::string input_of(std::string_view part) {
  for (const std::string_view key : {"input", "rawInput", "params", "arguments"}) {
    const auto member = json::find_member(part, key);
    if (!member) continue;
    return member->kind == json::Kind::kString ? json::decode_string(member->value)
                                               : std::string(member->value);
  }
  return {};
}

void read_part(std::string_view part, MessageShape& shape, bool& has_text) {
  const std::string type = text_member(part, "type");
  if (type == "tool_use") {
    shape.calls.push_back({.id = text_member(part, "id"),
                           .tool = text_member(part, "name"),
                           .input = input_of(part)});
  } else if (type == "tool_result") {
    std::string id = text_member(part, "toolUseId");
    if (id.empty()) id = text_member(part, "tool_use_id");
    shape.answered.push_back(std::move(id));
  } else if (type != "status" && type != "thinking") {
    has_text = true;
  }
}

void read_flat(std::string_view type, std::string_view payload, MessageShape& shape) {
  if (type == "tool_result") shape.answered.push_back(text_member(payload, "toolCallId"));
  if (type == "tool") {
    shape.calls.push_back({.id = text_member(payload, "toolCallId"),
                           .tool = text_member(payload, "name"),
                           .input = input_of(payload)});
  }
  const auto calls = json::find_member(payload, "toolCalls");
  if (!calls || calls->kind != json::Kind::kArray) return;
  json::ElementWalk walk(calls->value);
  while (const auto call = walk.next()) {
    shape.calls.push_back({.id = text_member(call->value, "id"),
                           .tool = text_member(call->value, "name"),
                           .input = input_of(call->value)});
  }
}

}  // namespace

bool is_message_type(std::string_view type) {
  return type == "message" ||
         std::find(kFlatTypes.begin(), kFlatTypes.end(), type) != kFlatTypes.end();
}

MessageShape read_message_shape(std::string_view type, std::string_view payload) {
  MessageShape shape;
  if (!is_message_type(type)) return shape;
  shape.is_message = true;
  bool has_text = false;
  if (const auto content = json::find_member(payload, "content")) {
    if (content->kind == json::Kind::kArray) {
      json::ElementWalk walk(content->value);
      while (const auto part = walk.next()) read_part(part->value, shape, has_text);
    } else {
      has_text = true;
    }
  }
  const bool is_user = type == "message" ? text_member(payload, "role") == "user" : type == "user";
  shape.is_user_text = is_user && (has_text || shape.answered.empty());
  if (type != "message") read_flat(type, payload, shape);
  return shape;
}

}  // namespace quipu
