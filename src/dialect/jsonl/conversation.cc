// What plain lines say, and which of them make up a conversation.
#include <algorithm>
#include <unordered_set>

#include "base/json_write.h"
#include "dialect/json_members.h"
#include "dialect/jsonl/flat_line.h"
#include "dialect/jsonl/jsonl.h"

namespace quipu::dialect::jsonl {
namespace {

bool is_flat(std::string_view kind, std::string_view line) {
  return is_flat_type(kind) && object_in(line, "payload").empty();
}

void lift_view(const MessageView& view, const std::vector<PartView>& parts, Lifted& into) {
  into.begin(view.role) = view;
  for (const PartView& part : parts) into.part(part);
}

std::string with_call(std::string_view line, const std::string& call) {
  std::string json;
  json::Writer out(json);
  out.begin_object().member("toolCallId", call);
  json::MemberWalk walk(line);
  while (const auto member = walk.next()) out.raw_member(member->key, member->value);
  out.end_object();
  return json;
}

class Selector {
 public:
  Selector(std::span<const StoredRecord> records, std::uint32_t at) : records_(records) {
    for (; at < records.size(); at = records[at].parent) path_.push_back(at);
    std::reverse(path_.begin(), path_.end());
    for (const StoredRecord& record : records) {
      if (record.kind != "redaction") continue;
      redacted_.insert(text_in(object_in(record.payload, "payload"), "targetEntryId"));
    }
  }

  std::vector<Pick> run() {
    std::size_t compaction = path_.size();
    for (std::size_t i = 0; i < path_.size(); ++i) {
      if (at(i).kind == "compaction_summary" && !is_redacted(at(i))) compaction = i;
    }
    std::size_t from = 0;
    if (compaction < path_.size()) {
      picks_.push_back({.record = path_[compaction]});
      from = first_kept(compaction);
    }
    for (std::size_t i = from; i < path_.size(); ++i) {
      if (at(i).kind != "compaction_summary" && !is_redacted(at(i))) take(path_[i]);
    }
    return std::move(picks_);
  }

 private:
  const StoredRecord& at(std::size_t i) const { return records_[path_[i]]; }

  bool is_redacted(const StoredRecord& record) const {
    return record.redacted || redacted_.contains(text_in(record.payload, "id"));
  }

  // Nothing is kept when it names an entry that is not on the path.
  std::size_t first_kept(std::size_t compaction) const {
    const std::string id =
        text_in(object_in(at(compaction).payload, "payload"), "firstKeptEntryId");
    for (std::size_t i = 0; i < compaction; ++i) {
      if (!id.empty() && text_in(at(i).payload, "id") == id) return i;
    }
    return compaction + 1;
  }

  void take(std::uint32_t number) {
    const StoredRecord& record = records_[number];
    if (!is_flat(record.kind, record.payload)) {
      if (record.kind == "message" || record.kind == "branch_summary") {
        picks_.push_back({.record = number});
      }
      return;
    }
    Pick pick{.record = number};
    if (record.kind == "assistant") {
      json::ElementWalk calls(array_in(record.payload, "toolCalls"));
      while (const auto call = calls.next()) {
        last_call_ = text_in(call->value, "id");
        called_.insert(last_call_);
      }
    } else if (record.kind == "tool" || record.kind == "tool_result") {
      if (!take_tool(record, pick)) return;
    }
    picks_.push_back(std::move(pick));
  }

  // A call that an answer made already is not made again. The smallest lines do not say which
  // call they are: a call has the id of its line, a result answers the last one.
  bool take_tool(const StoredRecord& record, Pick& pick) {
    const bool is_call = record.kind == "tool";
    const std::string call = text_in(record.payload, "toolCallId");
    if (call.empty()) {
      if (is_call) last_call_ = record.id;
      if (!last_call_.empty()) pick.payload = with_call(record.payload, last_call_);
      return true;
    }
    if (!is_call) return true;
    last_call_ = call;
    return called_.insert(call).second;
  }

  std::span<const StoredRecord> records_;
  std::vector<std::uint32_t> path_;
  std::unordered_set<std::string> redacted_;
  std::unordered_set<std::string> called_;
  std::string last_call_;
  std::vector<Pick> picks_;
};

void note_header(std::string_view header, Note& into) {
  if (std::string title = text_in(header, "title"); !title.empty()) into.title = std::move(title);
  if (std::string cwd = text_in(header, "cwd"); !cwd.empty()) into.cwd = std::move(cwd);
  std::string parent = text_in(header, "parentSession");
  const std::string_view place = object_in(header, "parentSession");
  if (parent.empty()) parent = text_in(place, "sessionId");
  if (parent.empty()) return;
  into.kin.push_back({.relation = Relation::kForkedFrom,
                      .session = std::move(parent),
                      .entry = text_in(place, "entryId")});
}

void note_info(std::string_view info, Note& into) {
  if (json::find_member(info, "title")) {
    into.title = text_in(info, "title");
    into.title_is_given = !into.title->empty();
  }
  if (json::find_member(info, "archived")) into.archived = is_true_in(info, "archived");
}

void note_message(std::string_view payload, Note& into) {
  std::vector<PartView> parts;
  const MessageView view = read_message(payload, parts);
  if (!view.model.empty()) into.model = json::decode_string(view.model);
  if (!view.provider.empty()) into.provider = json::decode_string(view.provider);
  if (!view.usage.empty()) {
    const std::string request = json::decode_string(view.request_id);
    into.usage.push_back({.key = request.empty() ? "" : "jsonl:" + request,
                          .usage = read_usage(view.usage),
                          .model = into.model.value_or(""),
                          .provider = into.provider.value_or("")});
  }
}

void note_usage(std::string_view fact, Note& into) {
  const std::string_view usage = object_in(fact, "usage");
  const std::string request = text_in(fact, "requestId");
  into.usage.push_back({.key = request.empty() ? "" : "jsonl:" + request,
                        .usage = read_usage(usage.empty() ? fact : usage),
                        .model = text_in(fact, "model"),
                        .provider = text_in(fact, "provider")});
}

// The first words of a message of the user's.
std::optional<std::string> prompt_in(const Dialect& dialect, std::string_view kind,
                                     std::string_view line) {
  Lifted lifted;
  dialect.lift(kind, line, lifted);
  if (lifted.messages().empty()) return std::nullopt;
  const LiftedMessage& message = lifted.messages().front();
  if (message.view.role != Role::kUser) return std::nullopt;
  for (const PartView& part : lifted.parts(message)) {
    if (part.type == PartType::kText) return json::decode_string(part.text);
  }
  return std::nullopt;
}

}  // namespace

void Jsonl::lift(std::string_view kind, std::string_view payload, Lifted& into) const {
  std::vector<PartView> parts;
  if (is_flat(kind, payload)) {
    const MessageView view = read_flat_line(kind, payload, parts);
    return lift_view(view, parts, into);
  }
  const std::string_view inner = object_in(payload, "payload");
  if (kind == "message") {
    const MessageView view = read_message(inner, parts);
    return lift_view(view, parts, into);
  }
  const std::string_view summary = token_in(inner, "summary");
  if (!says_something(summary)) return;
  if (kind == "compaction_summary") into.summary(summary);
  if (kind == "branch_summary") into.branch_summary(summary);
}

void Jsonl::note(std::string_view kind, std::string_view payload, Note& into) const {
  const std::string_view inner = object_in(payload, "payload");
  if (kind == "session_header") return note_header(inner, into);
  if (kind == "session_info") return note_info(inner, into);
  if (kind == "usage") return note_usage(inner, into);
  if (kind == "model_change") {
    if (std::string model = text_in(inner, "model"); !model.empty()) into.model = std::move(model);
    if (std::string by = text_in(inner, "provider"); !by.empty()) into.provider = std::move(by);
    return;
  }
  if (kind == "message") note_message(inner, into);
  if (kind == "message" || kind == "user") into.prompt = prompt_in(*this, kind, payload);
}

std::vector<Pick> Jsonl::conversation(std::span<const StoredRecord> records,
                                      std::uint32_t at) const {
  return Selector(records, at).run();
}

}  // namespace quipu::dialect::jsonl
