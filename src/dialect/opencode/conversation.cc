// opencode's own rules for what a model sees of a session.
#include <algorithm>
#include <unordered_map>

#include "dialect/json_members.h"
#include "dialect/opencode/messages.h"
#include "dialect/opencode/opencode.h"
#include "dialect/opencode/shape.h"

namespace quipu::dialect::opencode {
namespace {

// A record that took the place of another has its id, and a number.
std::string_view plain_id(std::string_view id) { return id.substr(0, id.find('~')); }

struct Part {
  std::string_view id;
  std::string_view body;
};

struct Message {
  std::uint32_t record = 0;
  std::string id;
  std::string_view info;
  std::vector<Part> parts;
  bool is_element = false;  // its record has its parts

  bool answers() const { return text_in(info, "role") == "assistant"; }
};

class SessionPath {
 public:
  SessionPath(std::span<const StoredRecord> records, std::uint32_t at) : records_(records) {
    if (at >= records.size()) return;
    const bool is_whole = std::any_of(records.begin(), records.end(),
                                      [](const auto& record) { return record.place != kNoRecord; });
    for (std::uint32_t i = 0; i < records.size(); ++i) {
      if (!is_whole || records[i].place != kNoRecord) order_.push_back(i);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return records[a].place < records[b].place;
    });
    is_next_ = records[at].kind == "session_message";
    read();
    cut_after(plain_id(records[at].id));
  }

  std::vector<Pick> run() {
    if (is_next_) return next_picks();
    std::vector<Pick> picks;
    for (Message* message : in_context()) {
      const std::string parts = array_of(message->parts);
      if (!is_sent(message->info, parts)) continue;
      Pick pick{.record = message->record};
      if (!message->is_element || hides_part_of(*message)) {
        pick.payload = "{\"info\":" + std::string(message->info) + ",\"parts\":" + parts + "}";
      }
      picks.push_back(std::move(pick));
    }
    return picks;
  }

 private:
  void read() {
    std::unordered_map<std::string, std::size_t> known;
    for (const std::uint32_t number : order_) {
      const StoredRecord& record = records_[number];
      if (record.redacted) continue;
      if (record.kind == "session") revert_ = revert_of(record.payload);
      if (record.kind == "session_message") nexts_.push_back(number);
      if (record.kind == "message") read_message(number, known);
      if (record.kind == "part") {
        const auto message = known.find(message_of(record.payload));
        if (message == known.end()) continue;
        messages_[message->second].parts.push_back(
            {.id = plain_id(record.id), .body = body_of(record.payload, kept_)});
      }
    }
  }

  void read_message(std::uint32_t number, std::unordered_map<std::string, std::size_t>& known) {
    const StoredRecord& record = records_[number];
    Message message{.record = number,
                    .id = std::string(plain_id(record.id)),
                    .info = body_of(record.payload, kept_),
                    .parts = {},
                    .is_element = is_element(record.payload)};
    json::ElementWalk walk(parts_of(record.payload));
    while (const auto part = walk.next()) {
      message.parts.push_back({.id = token_in(part->value, "id"), .body = part->value});
    }
    if (message.info.empty()) message.info = "{}";
    known[message.id] = messages_.size();
    messages_.push_back(std::move(message));
  }

  // What stands behind the message that was asked for, and what was taken back.
  void cut_after(std::string_view id) {
    const auto last = std::find_if(messages_.begin(), messages_.end(),
                                   [&](const Message& message) { return message.id == id; });
    if (last != messages_.end()) messages_.erase(last + 1, messages_.end());
    const auto next = std::find_if(nexts_.begin(), nexts_.end(), [&](std::uint32_t number) {
      return plain_id(records_[number].id) == id;
    });
    if (next != nexts_.end()) nexts_.erase(next + 1, nexts_.end());
    std::erase_if(messages_, [&](const Message& message) { return revert_.hides(message.id); });
    for (Message& message : messages_) {
      if (!hides_part_of(message)) continue;
      const auto hidden =
          std::find_if(message.parts.begin(), message.parts.end(),
                       [&](const Part& part) { return is_part(part, revert_.part); });
      message.parts.erase(hidden, message.parts.end());
    }
  }

  bool hides_part_of(const Message& message) const {
    return !revert_.part.empty() && message.id == revert_.message;
  }

  // An element has the id as a token, a row as it is.
  static bool is_part(const Part& part, std::string_view id) {
    return part.id == id || (part.id.starts_with('"') && json::decode_string(part.id) == id);
  }

  static std::string array_of(const std::vector<Part>& parts) {
    std::string array = "[";
    for (const Part& part : parts) {
      if (part.body.empty()) continue;
      if (array.size() > 1) array += ',';
      array += part.body;
    }
    return array + "]";
  }

  static std::string_view compaction_in(const Message& message) {
    for (const Part& part : message.parts) {
      if (text_in(part.body, "type") == "compaction") return part.body;
    }
    return {};
  }

  // The messages from the last compaction on that has its summary: the request for it, the
  // summary, the tail that was kept, and what came after.
  std::vector<Message*> in_context() {
    std::vector<Message*> all;
    for (Message& message : messages_) all.push_back(&message);
    std::unordered_map<std::string, std::size_t> summaries;  // by the message they answer
    std::size_t compaction = all.size();
    std::string_view found;
    for (std::size_t i = all.size(); i-- > 0;) {
      const Message& message = *all[i];
      if (message.answers()) {
        if (is_summary(message)) summaries[text_in(message.info, "parentID")] = i;
      } else if (summaries.contains(message.id)) {
        found = compaction_in(message);
        compaction = i;
        if (!found.empty()) break;
      }
    }
    if (found.empty()) return all;
    const std::size_t summary = summaries[all[compaction]->id];
    const std::string tail = text_in(found, "tail_start_id");
    std::size_t first = compaction;
    for (std::size_t i = compaction; !tail.empty() && i-- > 0;) {
      first = i;
      if (all[i]->id == tail) break;
    }
    std::vector<Message*> context(all.begin() + at(compaction), all.begin() + at(summary + 1));
    context.insert(context.end(), all.begin() + at(first), all.begin() + at(compaction));
    context.insert(context.end(), all.begin() + at(summary + 1), all.end());
    return context;
  }

  static std::ptrdiff_t at(std::size_t index) { return static_cast<std::ptrdiff_t>(index); }

  static bool is_summary(const Message& message) {
    const auto finish = json::find_member(message.info, "finish");
    return is_true_in(message.info, "summary") && finish && finish->value != "\"\"" &&
           finish->kind == json::Kind::kString && object_in(message.info, "error").empty();
  }

  // Of the event-sourced tables: from the last compaction on.
  std::vector<Pick> next_picks() const {
    std::vector<Pick> picks;
    for (const std::uint32_t number : nexts_) {
      if (token_in(records_[number].payload, "type") == "\"compaction\"") picks.clear();
      picks.push_back({.record = number});
    }
    return picks;
  }

  std::span<const StoredRecord> records_;
  std::vector<std::uint32_t> order_;
  bool is_next_ = false;
  Revert revert_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> nexts_;
  std::deque<std::string> kept_;
};

}  // namespace

void Opencode::lift(std::string_view kind, std::string_view payload, Lifted& into) const {
  if (kind == "session_message") return lift_next(payload, into);
  // A row has no parts in it.
  if (kind == "message" && is_element(payload)) {
    lift_element(object_in(payload, "info"), parts_of(payload), into);
  }
}

std::vector<Pick> Opencode::conversation(std::span<const StoredRecord> records,
                                         std::uint32_t at) const {
  return SessionPath(records, at).run();
}

}  // namespace quipu::dialect::opencode
