#include "dialect/opencode/shape.h"

#include "dialect/json_members.h"

namespace quipu::dialect::opencode {

std::string_view object_or_text(std::string_view object, std::string_view key,
                                std::deque<std::string>& kept) {
  const auto member = json::find_member(object, key);
  if (!member) return {};
  if (member->kind == json::Kind::kObject) return member->value;
  if (member->kind != json::Kind::kString) return {};
  std::string text = json::decode_string(member->value);
  if (!json::is_object(text)) return {};
  text = json::scrubbed(text);
  if (!json::validate(text).ok()) return {};
  return kept.emplace_back(std::move(text));
}

bool is_element(std::string_view record) { return !object_in(record, "info").empty(); }

std::string_view body_of(std::string_view record, std::deque<std::string>& kept) {
  if (const std::string_view info = object_in(record, "info"); !info.empty()) return info;
  if (json::find_member(record, "data")) return object_or_text(record, "data", kept);
  return record;
}

std::string_view parts_of(std::string_view record) {
  return is_element(record) ? array_in(record, "parts") : std::string_view("[]");
}

std::string message_of(std::string_view part) {
  std::string id = text_in(part, "message_id");
  return id.empty() ? text_in(part, "messageID") : id;
}

std::optional<std::uint64_t> created_of(std::string_view record) {
  std::deque<std::string> kept;
  const auto own = number_in(object_in(body_of(record, kept), "time"), "created");
  return own ? own : number_in(record, "time_created");
}

Revert revert_of(std::string_view session) {
  std::deque<std::string> kept;
  const std::string_view revert = object_or_text(session, "revert", kept);
  return {.message = text_in(revert, "messageID"), .part = text_in(revert, "partID")};
}

}  // namespace quipu::dialect::opencode
