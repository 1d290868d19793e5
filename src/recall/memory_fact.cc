#include "recall/memory_fact.h"

#include <array>
#include <cmath>

#include "base/time_text.h"
#include "base/try.h"
#include "recall/fact_json.h"

namespace quipu {
namespace {

using json::Kind;
using json::Member;

constexpr std::array<std::string_view, 3> kKinds{"short", "agent", "long"};

Error wrong(std::string_view key, const char* why) {
  return {Code::kInvalidArgument, std::string(key) + " " + why};
}

Result<double> read_number(const Member& member) {
  double number = 0;
  const char* const end = member.value.data() + member.value.size();
  const auto [at, error] = std::from_chars(member.value.data(), end, number);
  if (member.kind != Kind::kNumber || at != end || error != std::errc()) {
    return wrong(member.key, "is no number");
  }
  return number;
}

Result<void> read_plain_member(const Member& member, MemoryNode& node) {
  if (member.key == "kind") {
    TRY_ASSIGN(const std::string kind, recall::read_text(member));
    const auto known = memory_kind(kind);
    if (!known) return wrong(member.key, "is none of short, long and agent");
    node.kind = *known;
  } else if (member.key == "importance") {
    TRY_ASSIGN(node.importance, read_number(member));
  } else if (member.key == "pinned") {
    if (member.kind != Kind::kBool) return wrong(member.key, "is neither true nor false");
    node.pinned = member.value == "true";
  } else if (member.key == "expires") {
    TRY_ASSIGN(const std::string time, recall::read_text(member));
    node.expires_ms = parse_timestamp(time);
    if (!node.expires_ms) return wrong(member.key, "is no time such as 2027-01-31T12:00:00Z");
  } else if (member.key == "sources") {
    if (member.kind != Kind::kArray) return wrong(member.key, "is no array");
    node.sources = recall::read_sources(member.value);
  } else if (member.key == "embedding") {
    TRY_ASSIGN(node.embedding, recall::read_embedding(member));
  } else if (member.key == "meta") {
    if (member.kind == Kind::kNull) return {};
    if (member.kind != Kind::kObject) return wrong(member.key, "is no object");
    node.meta = member.value;
  }
  return {};
}

std::string* text_of(MemoryNode& node, std::string_view key) {
  if (key == "id") return &node.id;
  if (key == "text") return &node.text;
  if (key == "context") return &node.context;
  if (key == "agentId") return &node.agent_id;
  if (key == "projectId") return &node.project_id;
  return nullptr;
}

bool is_plain_member(std::string_view key) {
  constexpr std::array<std::string_view, 7> kKeys{"kind",    "importance", "pinned", "expires",
                                                  "sources", "embedding",  "meta"};
  for (const std::string_view known : kKeys) {
    if (key == known) return true;
  }
  return false;
}

}  // namespace

std::string_view name(MemoryKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::optional<MemoryKind> memory_kind(std::string_view name) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i] == name) return static_cast<MemoryKind>(i);
  }
  return std::nullopt;
}

Result<MemoryNode> read_memory_node(std::string_view json) {
  TRY_ASSIGN(const std::vector<Member> members, recall::read_members(json));
  MemoryNode node;
  std::vector<Member> others;
  for (const Member& member : members) {
    if (std::string* text = text_of(node, member.key)) {
      TRY_ASSIGN(*text, recall::read_text(member));
    } else if (is_plain_member(member.key)) {
      TRY(read_plain_member(member, node));
    } else {
      others.push_back(member);
    }
  }
  TRY(recall::check_has(members, "text"));
  TRY_ASSIGN(node.meta, recall::meta_with(node.meta, others));
  TRY(recall::check(node));
  return node;
}

std::string memory_node_json(const MemoryNode& node) {
  std::string text;
  json::Writer out(text);
  out.begin_object().text_member("id", node.id).member("kind", name(node.kind));
  out.member("text", node.text)
      .text_member("context", node.context)
      .text_member("agentId", node.agent_id)
      .text_member("projectId", node.project_id);
  recall::optional_raw(out, "meta", node.meta);
  if (!node.sources.empty()) out.raw_member("sources", recall::sources_json(node.sources));
  if (node.importance != 0) out.member("importance", node.importance);
  if (node.pinned) out.member("pinned", true);
  if (node.expires_ms) out.member("expires", format_timestamp(*node.expires_ms));
  recall::optional_embedding(out, node.embedding);
  out.end_object();
  return text;
}

}  // namespace quipu

namespace quipu::recall {

Result<void> check(const MemoryNode& node) {
  if (!node.id.empty()) TRY(check_id(node.id, "id"));
  TRY(check_text(node.text, "text"));
  TRY(check_text(node.context, "context"));
  if (!node.agent_id.empty()) TRY(check_id(node.agent_id, "agentId"));
  if (!node.project_id.empty()) TRY(check_id(node.project_id, "projectId"));
  TRY(check_meta(node.meta));
  if (!(node.importance >= 0 && node.importance <= 1)) {
    return Error(Code::kInvalidArgument, "importance is not between 0 and 1");
  }
  for (const MemorySource& source : node.sources) {
    TRY(check_text(source.session_id, "sources"));
    TRY(check_text(source.entry_id, "sources"));
  }
  return check_embedding(node.embedding);
}

std::string forget_payload(std::span<const std::string> ids, std::string_view reason) {
  std::string text;
  json::Writer out(text);
  out.begin_object().key("ids").begin_array();
  for (const std::string& id : ids) out.value(id);
  out.end_array().text_member("reason", reason).end_object();
  return text;
}

std::vector<std::string> read_ids(std::string_view payload) {
  std::vector<std::string> ids;
  const auto member = json::find_member(payload, "ids");
  if (!member || member->kind != json::Kind::kArray) return ids;
  json::ElementWalk walk(member->value);
  while (const auto element = walk.next()) {
    if (element->kind == json::Kind::kString) ids.push_back(json::decode_string(element->value));
  }
  return ids;
}

std::string sources_json(std::span<const MemorySource> sources) {
  std::string text;
  json::Writer out(text);
  out.begin_array();
  for (const MemorySource& source : sources) {
    out.begin_object()
        .text_member("sessionId", source.session_id)
        .text_member("entryId", source.entry_id)
        .end_object();
  }
  out.end_array();
  return text;
}

std::vector<MemorySource> read_sources(std::string_view array) {
  std::vector<MemorySource> sources;
  json::ElementWalk walk(array);
  while (const auto element = walk.next()) {
    MemorySource source;
    json::MemberWalk members(element->value);
    while (const auto member = members.next()) {
      if (member->kind != json::Kind::kString) continue;
      if (member->key == "sessionId") source.session_id = json::decode_string(member->value);
      if (member->key == "entryId") source.entry_id = json::decode_string(member->value);
    }
    if (source != MemorySource{}) sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace quipu::recall
