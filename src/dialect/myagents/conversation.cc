// What the records of MyAgents say, and which of them make up a conversation.
#include <unordered_map>
#include <unordered_set>

#include "dialect/json_members.h"
#include "dialect/myagents/messages.h"
#include "dialect/myagents/myagents.h"

namespace quipu::dialect::myagents {
namespace {

// A conversation of lines, and the document that it was made from, as far as it is not in
// the lines.
class Completion {
 public:
  Completion(std::span<const StoredRecord> records, const std::vector<Pick>& said)
      : records_(records), said_(said) {
    for (const StoredRecord& record : records) {
      if (record.kind == "message") lines_.insert(text_in(record.payload, "id"));
    }
  }

  std::vector<Pick> with(std::uint32_t legacy) {
    // What only the document has follows the message before it that the lines have, too.
    std::unordered_map<std::string, std::vector<Pick>> behind;
    std::string anchor;
    std::uint32_t number = 0;
    json::ElementWalk walk(array_in(records_[legacy].payload, "messages"));
    while (const auto message = walk.next()) {
      const std::string id = text_in(message->value, "id");
      if (lines_.contains(id)) {
        anchor = id;
      } else {
        behind[anchor].push_back({.record = legacy, .message = number});
      }
      ++number;
    }
    std::vector<Pick> all = std::move(behind[""]);
    for (const Pick& pick : said_) {
      all.push_back(pick);
      const auto found = behind.find(text_in(records_[pick.record].payload, "id"));
      if (found == behind.end()) continue;
      all.insert(all.end(), found->second.begin(), found->second.end());
      behind.erase(found);
    }
    return all;
  }

 private:
  std::span<const StoredRecord> records_;
  const std::vector<Pick>& said_;
  std::unordered_set<std::string> lines_;  // ids, also of what is behind the conversation's end
};

void note_session(std::string_view index, Note& into) {
  json::ElementWalk walk(index);
  const auto session = walk.next();
  if (!session || session->kind != json::Kind::kObject) return;
  const std::string_view entry = session->value;
  if (std::string title = text_in(entry, "title"); !title.empty() && title != "New Chat") {
    into.title = std::move(title);
    into.title_is_given = text_in(entry, "titleSource") == "user";
  }
  if (std::string directory = text_in(entry, "agentDir"); !directory.empty()) {
    into.cwd = std::move(directory);
  }
  if (std::string sdk = text_in(entry, "sdkSessionId"); !sdk.empty()) {
    into.sdk_session_id = std::move(sdk);
  }
  const std::string_view fork = object_in(entry, "forkFrom");
  if (std::string source = text_in(fork, "sourceSessionId"); !source.empty()) {
    into.kin.push_back({.relation = Relation::kForkedFrom,
                        .session = std::move(source),
                        .entry = text_in(fork, "messageUuid")});
  }
}

}  // namespace

void MyAgents::lift(std::string_view kind, std::string_view payload, Lifted& into) const {
  if (kind == "message") return lift_message(payload, into);
  if (kind != "legacy") return;
  json::ElementWalk walk(array_in(payload, "messages"));
  while (const auto message = walk.next()) lift_message(message->value, into);
}

void MyAgents::note(std::string_view kind, std::string_view payload, Note& into) const {
  if (kind == "session") return note_session(payload, into);
  if (kind == "message") {
    note_usage(payload, into);
    into.prompt = prompt_in(payload);
  }
  if (kind != "legacy") return;
  // The lines have most of it: what was used has the same key there.
  json::ElementWalk walk(array_in(payload, "messages"));
  while (const auto message = walk.next()) note_usage(message->value, into);
}

std::vector<Pick> MyAgents::conversation(std::span<const StoredRecord> records,
                                         std::uint32_t at) const {
  std::vector<Pick> said;
  std::uint32_t legacy = kNoRecord;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (records[i].kind == "legacy" && !records[i].redacted) legacy = i;
  }
  for (const std::uint32_t i : in_order(records, at)) {
    if (records[i].kind == "message" && !records[i].redacted) said.push_back({.record = i});
  }
  return legacy == kNoRecord ? said : Completion(records, said).with(legacy);
}

}  // namespace quipu::dialect::myagents
