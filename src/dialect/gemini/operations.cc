// What the operations of a log come to.
#include <unordered_map>

#include "dialect/gemini/gemini.h"
#include "dialect/gemini/messages.h"
#include "dialect/json_members.h"

namespace quipu::dialect::gemini {
namespace {

// The list of a `messages` record.
std::string_view list_of(std::string_view payload) {
  return array_in(object_in(payload, "$set"), "messages");
}

struct Listed {
  std::string id;
  Pick pick;
  std::string_view message;
};

class Replay {
 public:
  void take(std::uint32_t number, const StoredRecord& record) {
    if (record.kind == "message") {
      put({.id = text_in(record.payload, "id"),
           .pick = {.record = number},
           .message = record.payload});
    } else if (record.kind == "messages") {
      cut(0);
      std::uint32_t at = 0;
      json::ElementWalk walk(list_of(record.payload));
      while (const auto message = walk.next()) {
        put({.id = text_in(message->value, "id"),
             .pick = {.record = number, .message = at++},
             .message = message->value});
      }
    } else if (record.kind == "rewind") {
      const auto found = places_.find(text_in(record.payload, "$rewindTo"));
      cut(found == places_.end() ? 0 : found->second);
    }
  }

  std::vector<Pick> sent() const {
    std::vector<Pick> picks;
    for (const Listed& listed : list_) {
      if (is_sent(listed.message)) picks.push_back(listed.pick);
    }
    return picks;
  }

 private:
  // The same id again takes the place of the first; what has none is no message.
  void put(Listed listed) {
    if (listed.id.empty()) return;
    const auto [found, is_new] = places_.try_emplace(listed.id, list_.size());
    if (is_new) {
      list_.push_back(std::move(listed));
    } else {
      list_[found->second] = std::move(listed);
    }
  }

  void cut(std::size_t from) {
    for (; list_.size() > from; list_.pop_back()) places_.erase(list_.back().id);
  }

  std::vector<Listed> list_;
  std::unordered_map<std::string, std::size_t> places_;  // in the list, by id
};

}  // namespace

void Gemini::lift(std::string_view kind, std::string_view payload, Lifted& into) const {
  if (kind == "message") return lift_message(payload, into);
  if (kind == "content") return lift_content(payload, into);
  if (kind != "messages") return;
  json::ElementWalk walk(list_of(payload));
  while (const auto message = walk.next()) lift_message(message->value, into);
}

void Gemini::note(std::string_view kind, std::string_view payload, Note& into) const {
  if (kind == "message") {
    note_usage(payload, into);
    into.prompt = prompt_in(payload);
    if (const std::string model = text_in(payload, "model"); !model.empty()) {
      into.model = model;
      into.provider = "google";
    }
  }
  // A list of messages repeats what they used when they were written.
  std::string_view said;
  if (kind == "header" || kind == "head" || kind == "tail") said = payload;
  if (kind == "set") said = object_in(payload, "$set");
  if (const std::string summary = text_in(said, "summary"); !summary.empty()) {
    into.title = summary;
  }
}

std::vector<Pick> Gemini::conversation(std::span<const StoredRecord> records,
                                       std::uint32_t at) const {
  std::vector<Pick> contents;
  Replay replay;
  for (const std::uint32_t number : in_order(records, at)) {
    if (records[number].redacted) continue;
    if (records[number].kind == "content") contents.push_back({.record = number});
    replay.take(number, records[number]);
  }
  return contents.empty() ? replay.sent() : contents;
}

}  // namespace quipu::dialect::gemini
