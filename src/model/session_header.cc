#include "model/session_header.h"

#include <charconv>

#include "base/json_scan.h"

namespace quipu {
namespace {

std::string text_member(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  if (!member || member->kind != json::Kind::kString) return {};
  return json::decode_string(member->value);
}

// Version may be a number or a string that holds one.
int version_member(std::string_view object) {
  const auto member = json::find_member(object, "version");
  if (!member) return 0;
  std::string text(member->value);
  if (member->kind == json::Kind::kString) text = json::decode_string(member->value);
  int version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

void append_text(std::string& out, std::string_view key, const std::string& value) {
  if (value.empty()) return;
  out += ',';
  json::append_quoted(out, key);
  out += ':';
  json::append_quoted(out, value);
}

void append_place(std::string& out, std::string_view key, const std::string& session,
                  const std::string& entry) {
  if (session.empty()) return;
  out += ',';
  json::append_quoted(out, key);
  out += ":{\"sessionId\":";
  json::append_quoted(out, session);
  append_text(out, "entryId", entry);
  out += '}';
}

}  // namespace

SessionHeader read_session_header(std::string_view payload) {
  SessionHeader header;
  header.version = version_member(payload);
  header.session_id = text_member(payload, "sessionId");
  header.cwd = text_member(payload, "cwd");
  header.title = text_member(payload, "title");
  header.agent_id = text_member(payload, "agentId");
  header.preset_id = text_member(payload, "presetId");
  header.project_id = text_member(payload, "projectId");
  const auto parent = json::find_member(payload, "parentSession");
  if (parent && parent->kind == json::Kind::kObject) {
    header.parent_session = text_member(parent->value, "sessionId");
    header.parent_entry = text_member(parent->value, "entryId");
  }
  const auto detached = json::find_member(payload, "detachedFrom");
  if (detached && detached->kind == json::Kind::kObject) {
    header.detached_session = text_member(detached->value, "sessionId");
    header.detached_entry = text_member(detached->value, "entryId");
  }
  return header;
}

std::string session_header_payload(const SessionHeader& header) {
  std::string out = "{\"version\":" + std::to_string(header.version);
  append_text(out, "sessionId", header.session_id);
  append_text(out, "cwd", header.cwd);
  append_text(out, "title", header.title);
  append_text(out, "agentId", header.agent_id);
  append_text(out, "presetId", header.preset_id);
  append_text(out, "projectId", header.project_id);
  append_place(out, "parentSession", header.parent_session, header.parent_entry);
  append_place(out, "detachedFrom", header.detached_session, header.detached_entry);
  out += '}';
  return out;
}

}  // namespace quipu
