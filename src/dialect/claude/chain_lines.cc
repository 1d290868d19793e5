#include "dialect/claude/chain_lines.h"

#include "base/json_scan.h"

namespace quipu::dialect::claude {
namespace {

using json::Kind;

std::string_view token(const json::Member& member) {
  return member.kind == Kind::kString ? member.value : std::string_view();
}

// uuids are plain ASCII nearly always: then the token stands for its text.
std::string text_of(std::string_view token) {
  return token.empty() ? std::string() : json::decode_string(token);
}

struct Read {
  ChainLine line;
  std::string uuid;
};

Read read(const StoredRecord& record) {
  Read read;
  ChainLine& line = read.line;
  line.type = line_type(record.kind);
  line.speaks = speaks(record.kind);
  json::MemberWalk walk(record.payload);
  while (const auto member = walk.next()) {
    const std::string_view key = member->key;
    if (key == "uuid") read.uuid = text_of(token(*member));
    if (key == "parentUuid") line.parent_uuid = token(*member);
    if (key == "isSidechain") line.is_aside = member->value == "true";
    if (key == "teamName") line.is_team = token(*member).size() > 2;
    if (key == "isMeta") line.is_meta = member->value == "true";
    if (key == "timestamp") line.timestamp = token(*member);
    if (member->kind != Kind::kObject) continue;
    if (key == "compactMetadata") line.compaction = member->value;
    if (key == "attachment") {
      const auto type = json::find_member(member->value, "type");
      line.is_briefing = type && type->value == "\"fork_briefing\"";
    }
    if (key == "message") {
      if (const auto id = json::find_member(member->value, "id")) line.message_id = token(*id);
      if (const auto content = json::find_member(member->value, "content")) {
        line.content = content->value;
      }
    }
  }
  const auto subtype = json::find_member(record.payload, "subtype");
  const bool is_boundary =
      line.type == LineType::kSystem && subtype && subtype->value == "\"compact_boundary\"";
  if (!is_boundary) line.compaction = {};
  return read;
}

}  // namespace

ChainLines::ChainLines(std::span<const StoredRecord> records)
    : by_record_(records.size(), kNoLine) {
  for (std::uint32_t i = 0; i < records.size(); ++i) add(records, i);
}

void ChainLines::add(std::span<const StoredRecord> records, std::uint32_t record) {
  const StoredRecord& stored = records[record];
  if (line_type(stored.kind) == LineType::kOther) return;
  Read read_line = read(stored);
  read_line.line.record = record;
  std::string uuid = std::move(read_line.uuid);
  // What was redacted keeps its place.
  if (uuid.empty()) uuid = stored.id.substr(0, stored.id.find('~'));
  if (uuid.empty()) return;
  const auto [known, is_new] = by_uuid_.try_emplace(uuid, static_cast<std::uint32_t>(lines.size()));
  if (is_new) {
    lines.push_back(read_line.line);
  } else {
    lines[known->second] = read_line.line;
  }
  by_record_[record] = known->second;
}

std::uint32_t ChainLines::find(std::string_view uuid_token) const {
  if (uuid_token.empty()) return kNoLine;
  const auto found = by_uuid_.find(text_of(uuid_token));
  return found == by_uuid_.end() ? kNoLine : found->second;
}

std::uint32_t ChainLines::of_record(std::uint32_t record) const {
  return record < by_record_.size() ? by_record_[record] : kNoLine;
}

void ChainLines::link() {
  for (ChainLine& line : lines) line.parent = find(line.parent_uuid);
}

std::vector<std::string> calls_in(std::string_view content, std::string_view type,
                                  std::string_view id_key) {
  std::vector<std::string> ids;
  json::ElementWalk walk(content.starts_with('[') ? content : std::string_view());
  while (const auto block = walk.next()) {
    const auto block_type = json::find_member(block->value, "type");
    if (!block_type || json::decode_string(block_type->value) != type) continue;
    const auto id = json::find_member(block->value, id_key);
    if (id && id->kind == Kind::kString) ids.push_back(json::decode_string(id->value));
  }
  return ids;
}

}  // namespace quipu::dialect::claude
