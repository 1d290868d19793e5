#include "dialect/pi/harness.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "dialect/json_members.h"
#include "dialect/pi/messages.h"
#include "dialect/unix_time.h"

namespace quipu::dialect::pi {
namespace {

using json::Kind;

void each_write(std::string_view payload, const std::function<void(std::string_view)>& see) {
  if (payload.starts_with('{')) return see(payload);
  json::ElementWalk walk(payload);
  while (const auto write = walk.next()) {
    if (write->kind == Kind::kObject) see(write->value);
  }
}

void each_entry(std::string_view payload, const std::function<void(std::string_view)>& see) {
  each_write(payload, [&](std::string_view write) {
    if (token_in(write, "kind") == "\"entry\"") see(write);
  });
}

// What an entry of the tree holds stands in it, or in its `payload`.
std::string_view content_of(std::string_view entry) {
  const std::string_view payload = object_in(entry, "payload");
  return payload.empty() ? entry : payload;
}

void lift_entry(std::string_view entry, Lifted& into) {
  const std::string type = text_in(entry, "type");
  const std::string_view content = content_of(entry);
  if (type == "message") {
    const std::string_view message = object_in(content, "message");
    return lift_message(message.empty() ? content : message, into);
  }
  if (type == "compaction") {
    into.summary(token_in(content, "summary"));
    json::ElementWalk kept(array_in(content, "retainedTail"));
    while (const auto message = kept.next()) lift_message(message->value, into);
    return;
  }
  if (type == "branch_summary") return into.branch_summary(token_in(content, "summary"));
  into.begin(Role::kUser);
}

// As many as `lift_entry` adds.
std::uint32_t count_messages(std::string_view entry) {
  std::uint32_t count = 1;
  if (text_in(entry, "type") != "compaction") return count;
  json::ElementWalk kept(array_in(content_of(entry), "retainedTail"));
  while (kept.next()) ++count;
  return count;
}

bool is_entry_sent(std::string_view entry) {
  const std::string type = text_in(entry, "type");
  const std::string_view content = content_of(entry);
  if (type == "message") {
    const std::string_view message = object_in(content, "message");
    const std::string_view said = message.empty() ? content : message;
    return is_sent(said) && text_in(said, "stopReason") != "deferred";
  }
  return type == "compaction" || type == "branch_summary";
}

bool has_entry(const StoredRecord& record) {
  bool found = false;
  if (record.kind == kTransaction) {
    each_entry(record.payload, [&](std::string_view) { found = true; });
  }
  return found;
}

// The records that say where the session was at `at`. Its tip may be moved back by a line
// without entries, which is no node and lies behind the last one: that holds for whoever goes
// on from the session's end. Who looks at what was said before does not see it.
std::span<const StoredRecord> until(std::span<const StoredRecord> records, std::uint32_t at) {
  if (at >= records.size()) return records;
  const auto behind = records.subspan(at + 1);
  const bool is_end = std::none_of(behind.begin(), behind.end(), has_entry);
  return is_end ? records : records.first(at + 1);
}

struct Node {
  std::uint32_t record = 0;
  std::uint32_t first = 0;  // of its messages
  std::uint32_t count = 0;
  std::string parent;
  std::string_view entry;
};

}  // namespace

bool describe_transaction(const Fields& fields, Record& record) {
  const std::string kind = fields.text("kind");
  const bool is_list = record.bytes.starts_with('[');
  if (!is_list && kind != "header" && kind != "entry" && kind != "usage" && kind != "value" &&
      kind != "list") {
    return false;
  }
  record.kind = kTransaction;
  record.is_fact = true;
  if (kind == "header") record.kind = "session";
  each_entry(record.bytes, [&](std::string_view entry) {
    record.is_fact = false;
    if (const auto time = json::find_member(entry, "timestamp")) {
      record.timestamp = time_of(time->value);
    }
  });
  return true;
}

void lift_transaction(std::string_view payload, Lifted& into) {
  each_entry(payload, [&](std::string_view entry) { lift_entry(entry, into); });
}

void note_transaction(std::string_view payload, Note& into) {
  each_write(payload, [&](std::string_view write) {
    const std::string kind = text_in(write, "kind");
    if (kind == "entry" && text_in(write, "type") == "message") {
      const std::string_view content = content_of(write);
      const std::string_view message = object_in(content, "message");
      Note note;
      note_message(message.empty() ? content : message, text_in(write, "id"), note);
      into.model = note.model ? note.model : into.model;
      into.provider = note.provider ? note.provider : into.provider;
      if (into.prompt && note.prompt) ++into.further_prompts;
      if (!into.prompt) into.prompt = std::move(note.prompt);
    }
    if (kind == "usage") {
      if (const auto usage = usage_in(object_in(write, "usage"))) {
        into.usage.push_back(
            {.key = "pi:" + text_in(write, "id"), .usage = *usage, .model = {}, .provider = {}});
      }
    }
    if (kind == "value" && text_in(write, "namespace") == "pi.session.name") {
      into.title = text_in(write, "value");
      into.title_is_given = true;
    }
  });
}

std::vector<Pick> harness_conversation(std::span<const StoredRecord> records, std::uint32_t at) {
  std::unordered_map<std::string, Node> nodes;
  std::string tip;
  records = until(records, at);
  for (std::uint32_t number = 0; number < records.size(); ++number) {
    const StoredRecord& record = records[number];
    if (record.kind != kTransaction || record.redacted) continue;
    std::uint32_t message = 0;
    each_write(record.payload, [&](std::string_view write) {
      if (token_in(write, "kind") == "\"entry\"") {
        tip = text_in(write, "id");
        const std::uint32_t count = count_messages(write);
        nodes[tip] = {.record = number,
                      .first = message,
                      .count = count,
                      .parent = text_in(write, "parentId"),
                      .entry = write};
        message += count;
      } else if (text_in(write, "namespace") == "pi.branch.tip") {
        const std::string named = text_in(write, "value");
        if (nodes.contains(named)) tip = named;
      }
    });
  }
  std::vector<Pick> picks;
  // As many steps as there are entries: parents may go in a circle.
  for (std::size_t steps = nodes.size(); steps > 0; --steps) {
    const auto node = nodes.find(tip);
    if (node == nodes.end()) break;
    if (is_entry_sent(node->second.entry)) {
      for (std::uint32_t i = node->second.count; i-- > 0;) {
        picks.push_back({.record = node->second.record, .message = node->second.first + i});
      }
    }
    if (text_in(node->second.entry, "type") == "compaction") break;
    tip = node->second.parent;
  }
  std::reverse(picks.begin(), picks.end());
  return picks;
}

}  // namespace quipu::dialect::pi
