// What the operations of a log come to.
#include <algorithm>

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
      list_.clear();
      std::uint32_t at = 0;
      json::ElementWalk walk(list_of(record.payload));
      while (const auto message = walk.next()) {
        list_.push_back({.id = text_in(message->value, "id"),
                         .pick = {.record = number, .message = at++},
                         .message = message->value});
      }
    } else if (record.kind == "rewind") {
      const std::string to = text_in(record.payload, "$rewindTo");
      const auto at = find(to);
      list_.erase(at == list_.end() ? list_.begin() : at, list_.end());
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
  std::vector<Listed>::iterator find(const std::string& id) {
    return std::find_if(list_.begin(), list_.end(),
                        [&](const Listed& listed) { return listed.id == id; });
  }

  void put(Listed listed) {
    const auto at = find(listed.id);
    if (at == list_.end()) {
      list_.push_back(std::move(listed));
    } else {
      *at = std::move(listed);
    }
  }

  std::vector<Listed> list_;
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
  if (kind == "header") said = payload;
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

Result<Written> Gemini::write(const Transcript&) const {
  return Error(Code::kUnsupported, "sessions of gemini-cli can only be read");
}

}  // namespace quipu::dialect::gemini
