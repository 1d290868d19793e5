#include "model/session_info.h"

#include "base/json_scan.h"
#include "base/json_write.h"

namespace quipu {
namespace {

struct TextMember {
  std::string_view key;
  std::optional<std::string> SessionInfo::*field;
};
constexpr TextMember kTexts[] = {
    {"title", &SessionInfo::title},    {"projectId", &SessionInfo::project_id},
    {"status", &SessionInfo::status},  {"workingDirectory", &SessionInfo::working_directory},
    {"sdkCwd", &SessionInfo::sdk_cwd}, {"sdkSessionId", &SessionInfo::sdk_session_id},
};

void read_text(const json::Member& member, SessionInfo& info) {
  for (const TextMember& text : kTexts) {
    if (!json::key_equals(member.key, text.key)) continue;
    if (member.kind == json::Kind::kString) info.*text.field = json::decode_string(member.value);
    if (member.kind == json::Kind::kNull) info.*text.field = std::string();
  }
}

std::vector<std::string> read_tags(std::string_view array) {
  std::vector<std::string> tags;
  json::ElementWalk walk(array);
  while (const auto tag = walk.next()) {
    if (tag->kind == json::Kind::kString) tags.push_back(json::decode_string(tag->value));
  }
  return tags;
}

template <class T>
void replace(std::optional<T>& value, const std::optional<T>& newer) {
  if (newer) value = newer;
}

}  // namespace

void SessionInfo::apply(const SessionInfo& newer) {
  for (const TextMember& text : kTexts) replace(this->*text.field, newer.*text.field);
  replace(archived, newer.archived);
  replace(tags, newer.tags);
}

SessionInfo read_session_info(std::string_view payload) {
  SessionInfo info;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    read_text(*member, info);
    if (json::key_equals(member->key, "archived") && member->kind == json::Kind::kBool) {
      info.archived = member->value == "true";
    }
    if (json::key_equals(member->key, "tags") && member->kind == json::Kind::kArray) {
      info.tags = read_tags(member->value);
    }
  }
  return info;
}

std::string session_info_payload(const SessionInfo& info) {
  std::string payload;
  json::Writer out(payload);
  out.begin_object();
  for (const TextMember& text : kTexts) {
    if (info.*text.field) out.member(text.key, *(info.*text.field));
  }
  if (info.archived) out.member("archived", *info.archived);
  if (info.tags) {
    out.key("tags").begin_array();
    for (const std::string& tag : *info.tags) out.value(tag);
    out.end_array();
  }
  out.end_object();
  return payload;
}

}  // namespace quipu
