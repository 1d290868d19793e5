#include "dialect/claude/conversation.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "dialect/claude/chain.h"
#include "dialect/claude/describe.h"

namespace quipu::dialect::claude {
namespace {

using json::Kind;
using json::Member;

// By the id of the call; the texts are tokens.
using Replacements = std::unordered_map<std::string, std::string_view>;

struct Flags {
  bool is_aside = false;
  bool is_team = false;
  bool is_error = false;
  bool is_virtual = false;
  bool is_boundary = false;
};

Flags flags_of(std::string_view payload) {
  Flags flags;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (member->key == "isSidechain") flags.is_aside = member->value == "true";
    if (member->key == "isApiErrorMessage") flags.is_error = member->value == "true";
    if (member->key == "isVirtual") flags.is_virtual = member->value == "true";
    if (member->key == "subtype") flags.is_boundary = member->value == "\"compact_boundary\"";
    if (member->key == "teamName") {
      flags.is_team = member->kind == Kind::kString && member->value.size() > 2;
    }
  }
  return flags;
}

void read_replacements(std::string_view payload, Replacements& into) {
  const auto list = json::find_member(payload, "replacements");
  json::ElementWalk walk(list ? list->value : std::string_view());
  while (const auto one = walk.next()) {
    const auto id = json::find_member(one->value, "toolUseId");
    const auto text = json::find_member(one->value, "replacement");
    if (!id || !text || id->kind != Kind::kString || text->kind != Kind::kString) continue;
    into[json::decode_string(id->value)] = text->value;
  }
}

void read_snips(std::string_view payload, std::unordered_set<std::string>& into) {
  const auto snip = json::find_member(payload, "snipMetadata");
  const auto uuids = snip ? json::find_member(snip->value, "removedUuids") : std::nullopt;
  json::ElementWalk walk(uuids ? uuids->value : std::string_view());
  while (const auto uuid = walk.next()) {
    if (uuid->kind == Kind::kString) into.insert(json::decode_string(uuid->value));
  }
}

std::string uuid_of(const StoredRecord& record) {
  return std::string(record.id.substr(0, record.id.find('~')));
}

// The text that stands for a block's content; empty: its own does.
std::string_view replacement_of(const Member& block, const Replacements& replacements) {
  if (block.kind != Kind::kObject) return {};
  const auto id = json::find_member(block.value, "tool_use_id");
  if (!id || id->kind != Kind::kString) return {};
  const auto found = replacements.find(json::decode_string(id->value));
  return found == replacements.end() ? std::string_view() : found->second;
}

// An object with one of its members put in another way.
template <class Put>
void rewrite(json::Writer& out, std::string_view object, std::string_view key, Put put) {
  out.begin_object();
  json::MemberWalk walk(object);
  while (const auto member = walk.next()) {
    out.key(member->key);
    if (member->key == key) {
      put(member->value);
    } else {
      out.raw(member->value);
    }
  }
  out.end_object();
}

// The line with its results replaced; empty when there is nothing to replace.
std::string replaced(std::string_view payload, const Replacements& replacements) {
  bool any = false;
  std::string text;
  json::Writer out(text);
  rewrite(out, payload, "message", [&](std::string_view message) {
    rewrite(out, message, "content", [&](std::string_view content) {
      if (!content.starts_with('[')) {
        out.raw(content);
        return;
      }
      out.begin_array();
      json::ElementWalk blocks(content);
      while (const auto block = blocks.next()) {
        const std::string_view instead = replacement_of(*block, replacements);
        if (instead.empty()) {
          out.raw(block->value);
          continue;
        }
        any = true;
        rewrite(out, block->value, "content", [&](std::string_view) { out.raw(instead); });
      }
      out.end_array();
    });
  });
  return any ? text : std::string();
}

}  // namespace

std::vector<Pick> picks_of(std::span<const StoredRecord> records, std::uint32_t at) {
  Replacements replacements;
  for (const StoredRecord& record : records) {
    if (record.kind == "content-replacement") read_replacements(record.payload, replacements);
  }
  const std::vector<std::uint32_t> chain = chain_of(records, at);
  if (chain.empty()) return {};
  std::unordered_set<std::string> snipped;
  for (const std::uint32_t i : chain) read_snips(records[i].payload, snipped);
  // Whoever asks for a sub-agent's line asks for the sub-agent.
  const Flags asked = flags_of(records[chain.back()].payload);
  std::vector<Pick> picks;
  for (const std::uint32_t i : chain) {
    const StoredRecord& record = records[i];
    const LineType type = line_type(record.kind);
    const Flags flags = flags_of(record.payload);
    if (type == LineType::kSystem && flags.is_boundary) picks.clear();
    const bool speaks =
        type == LineType::kUser || type == LineType::kAssistant || type == LineType::kAttachment;
    const bool is_others = (flags.is_aside && !asked.is_aside) || (flags.is_team && !asked.is_team);
    if (!speaks || is_others || flags.is_error || flags.is_virtual) continue;
    if (!snipped.empty() && snipped.contains(uuid_of(record))) continue;
    Pick pick{.record = i};
    if (type == LineType::kUser && !replacements.empty()) {
      pick.payload = replaced(record.payload, replacements);
    }
    picks.push_back(std::move(pick));
  }
  return picks;
}

}  // namespace quipu::dialect::claude
