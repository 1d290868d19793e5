#include "dialect/claude/describe.h"

#include <algorithm>
#include <array>
#include <utility>

namespace quipu::dialect::claude {
namespace {

constexpr std::string_view kMetadata[] = {
    "summary",
    "custom-title",
    "ai-title",
    "last-prompt",
    "tag",
    "agent-name",
    "agent-color",
    "agent-setting",
    "mode",
    "permission-mode",
    "worktree-state",
    "pr-link",
    "task-summary",
    "file-history-snapshot",
    "attribution-snapshot",
    "speculation-accept",
    "queue-operation",
    "content-replacement",
    "bridge-session",
    "relocated",
    "continued-in",
    "history-suppression",
    "atis-latch",
    "tools-used",
    "data-flow-records",
    "data-flow-incomplete",
    "derived-from",
    "cost-state",
};

// Those of them that a file may hold for another session.
constexpr std::string_view kNamesItsSession[] = {"custom-title", "ai-title", "tag", "relocated",
                                                 "continued-in"};

bool is_among(std::string_view text, std::span<const std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// A type becomes a part of an entry's type.
bool can_be_kind(std::string_view type) {
  return !type.empty() && type.size() <= 64 && std::all_of(type.begin(), type.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

}  // namespace

LineType line_type(std::string_view kind) {
  if (kind == "user") return LineType::kUser;
  if (kind == "assistant") return LineType::kAssistant;
  if (kind == "system") return LineType::kSystem;
  if (kind == "attachment" || kind == kQueuedPrompt) return LineType::kAttachment;
  if (kind == "progress") return LineType::kProgress;
  return LineType::kOther;
}

bool speaks(std::string_view kind) {
  return kind == "user" || kind == "assistant" || kind == kQueuedPrompt;
}

bool is_metadata(std::string_view type) { return is_among(type, kMetadata); }

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (is_dash ? c != '-' : !is_hex) return false;
  }
  return true;
}

std::size_t HashSet::slot_of(std::size_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at] != 0 && slots_[at] != hash) at = (at + 1) & mask;
  return at;
}

void HashSet::insert(std::size_t hash) {
  if (2 * (count_ + 1) > slots_.size()) {
    const std::vector<std::size_t> before =
        std::exchange(slots_, std::vector<std::size_t>(std::max<std::size_t>(128, 4 * count_)));
    for (const std::size_t one : before) {
      if (one != 0) slots_[slot_of(one)] = one;
    }
  }
  hash = std::max<std::size_t>(hash, 1);
  std::size_t& slot = slots_[slot_of(hash)];
  count_ += slot == 0 ? 1 : 0;
  slot = hash;
}

bool HashSet::contains(std::size_t hash) const {
  return !slots_.empty() && slots_[slot_of(std::max<std::size_t>(hash, 1))] != 0;
}

void Describer::operator()(const Fields& fields, Record& record) {
  fields.read("type", record.kind);
  if (!can_be_kind(record.kind)) record.kind = "raw";
  fields.read("timestamp", record.timestamp);
  fields.read("uuid", record.id);
  record.is_fact = record.id.empty() || is_metadata(record.kind);
  if (!record.is_fact) return describe_node(fields, record);
  record.id.clear();
  // What it says holds for the session that it names.
  if (!session_.empty() && is_among(record.kind, kNamesItsSession)) {
    const std::string named = fields.text("sessionId");
    if (!named.empty() && named != session_) record.kind = "elsewhere";
  }
}

void Describer::describe_node(const Fields& fields, Record& record) {
  fields.read("parentUuid", record.parent);
  const LineType type = line_type(record.kind);
  const std::string_view attachment = fields.object("attachment");
  const auto attached = json::find_member(attachment, "type");
  const bool is_attachment = record.kind == "attachment" && attached;
  const bool is_briefing = is_attachment && attached->value == "\"fork_briefing\"";
  if (is_attachment && attached->value == "\"queued_command\"") record.kind = kQueuedPrompt;
  const bool is_aside =
      !is_agent_ && (fields.is_true("isSidechain") || !fields.text("teamName").empty());
  const bool is_main =
      !is_aside && !is_briefing && type != LineType::kProgress && type != LineType::kOther;
  const std::hash<std::string_view> hash;
  const bool speaks = claude::speaks(record.kind);
  record.leads = !is_main || parents_.contains(hash(record.id)) ? Record::Leads::kNot
                 : speaks                                       ? Record::Leads::kHere
                                                                : Record::Leads::kAbove;
  if (is_main && !record.parent.empty()) parents_.insert(hash(record.parent));
  // A compaction cuts the chain; the tree goes on.
  if (record.parent.empty()) fields.read("logicalParentUuid", record.parent);
  record.link = record.parent.empty() ? Record::Link::kRoot : Record::Link::kParent;
}

}  // namespace quipu::dialect::claude
