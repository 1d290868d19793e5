#include "quipu/compact.h"

#include "backend/backend.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/try.h"
#include "context/budget.h"
#include "context/compaction.h"
#include "context/rules.h"
#include "context/users.h"
#include "quipu/store.h"
#include "store/guarded.h"

namespace quipu {
namespace {

using context::Conversation;
using context::PathEntry;

std::vector<std::string> text_list(std::string_view object, std::string_view key) {
  std::vector<std::string> texts;
  const auto member = json::find_member(object, key);
  if (!member) return texts;
  json::ElementWalk walk(member->value);
  while (const auto element = walk.next()) {
    if (element->kind == json::Kind::kString) texts.push_back(json::decode_string(element->value));
  }
  return texts;
}

void write_list(json::Writer& out, std::string_view key, const std::vector<std::string>& texts) {
  out.key(key).begin_array();
  for (const std::string& text : texts) out.value(text);
  out.end_array();
}

class Compaction {
 public:
  Compaction(Store& store, std::string session_id, const CompactOptions& options)
      : store_(store), session_id_(std::move(session_id)), options_(options) {}

  Result<CompactResult> run() {
    TRY_ASSIGN(lineage_, store_.sessions().lineage(session_id_));
    if (lineage_->head() == kNone) return CompactResult{};
    TRY_ASSIGN(head_, lineage_->id(lineage_->head()));
    TRY_ASSIGN(selection_, context::select(*lineage_, lineage_->head(), false));
    conversation_.emplace(context::converse(
        selection_, *lineage_, context::rules_of(Provider::kQuipu), {.open_ended = true}));
    result_.tokens_before = context::count_tokens(*conversation_);
    result_.tokens_after = result_.tokens_before;
    context::split_users(*conversation_);
    const auto cut = context::find_cut(*conversation_, options_.keep_tokens);
    if (!cut) return result_;
    auto written = options_.summarizer ? summarize(*cut) : prune(*cut);
    if (!written.ok()) return std::move(written).error();
    return std::move(result_);
  }

 private:
  Result<void> summarize(const context::Cut& cut) {
    CompactionInput input;
    input.session_id = session_id_;
    input.transcript = context::transcript(*conversation_, cut.first_kept);
    input.tokens = cut.covered_tokens;
    context::TouchedFiles files;
    if (selection_.compaction) {
      const std::string_view payload = selection_.compaction->payload;
      if (const auto summary = json::find_member(payload, "summary")) {
        input.previous_summary = json::decode_string(summary->value);
      }
      if (const auto details = json::find_member(payload, "details")) {
        files.read = text_list(details->value, "filesRead");
        files.changed = text_list(details->value, "filesChanged");
      }
    }
    context::collect_files(*conversation_, cut.first_kept, files);
    TRY_ASSIGN(result_.summary, options_.summarizer(input));
    if (!says_something(json::quoted(result_.summary))) {
      return Error(Code::kInvalidArgument, "the summarizer answered with nothing")
          .with_hint("Nothing was written: make it print a summary.");
    }
    result_.files_read = std::move(files.read);
    result_.files_changed = std::move(files.changed);
    TRY_ASSIGN(result_.first_kept_entry_id, lineage_->id(cut.first_entry.ordinal));
    result_.covered_entries = cut.first_entry.depth;
    result_.tokens_after = cut.kept_tokens + result_.summary.size() / 4 + 40;
    TRY_ASSIGN(const std::string payload, summary_payload());
    TRY_ASSIGN(result_.entry_id, append("compaction_summary", payload));
    return {};
  }

  Result<std::string> summary_payload() {
    std::string payload;
    json::Writer out(payload);
    out.begin_object()
        .member("summary", result_.summary)
        .member("firstKeptEntryId", result_.first_kept_entry_id)
        .member("tokensBefore", result_.tokens_before)
        .member("tokensAfter", result_.tokens_after)
        .member("trigger", options_.trigger);
    out.key("details").begin_object();
    write_list(out, "filesRead", result_.files_read);
    write_list(out, "filesChanged", result_.files_changed);
    out.end_object();
    TRY_ASSIGN(const auto checkpoint, checkpoint_ids());
    write_list(out, "checkpoint", checkpoint);
    out.end_object();
    return payload;
  }

  // What stays in force though its entry is covered: so that nobody has to look
  // for it on the whole path.
  Result<std::vector<std::string>> checkpoint_ids() {
    std::vector<PathEntry> settings;
    for (const context::Piece& piece : conversation_->system) {
      settings.push_back(*conversation_->notes[piece.note].entry);
    }
    for (const EntryType code : {EntryType::kModelChange, EntryType::kThinkingLevelChange}) {
      for (auto note = conversation_->notes.rbegin(); note != conversation_->notes.rend(); ++note) {
        if (note->entry->code != code) continue;
        settings.push_back(*note->entry);
        break;
      }
    }
    std::vector<std::string> ids;
    for (const PathEntry& entry : settings) {
      TRY_ASSIGN(std::string id, lineage_->id(entry.ordinal));
      ids.push_back(std::move(id));
    }
    return ids;
  }

  Result<void> prune(const context::Cut& cut) {
    std::vector<NewEntry> edits;
    for (const auto& output : context::shorter_outputs(*conversation_, cut.first_kept)) {
      TRY_ASSIGN(const std::string target, lineage_->id(output.entry.ordinal));
      NewEntry edit;
      edit.type = "context_edit";
      edit.payload.clear();
      json::Writer(edit.payload)
          .begin_object()
          .member("targetEntryId", target)
          .raw_member("replacement", output.replacement)
          .member("trigger", options_.trigger)
          .end_object();
      edits.push_back(std::move(edit));
    }
    if (edits.empty()) return {};
    TRY_ASSIGN(const auto appended, store_.sessions().append_session_entries(
                                        session_id_, edits, {.expected_head = head_}));
    result_.pruned_outputs = appended.appended_count;
    TRY_ASSIGN(const auto lineage, store_.sessions().lineage(session_id_));
    TRY_ASSIGN(const auto after, context::select(*lineage, lineage->head(), false));
    Conversation shorter = context::converse(after, *lineage, context::rules_of(Provider::kQuipu),
                                             {.open_ended = true});
    result_.tokens_after = context::count_tokens(shorter);
    return {};
  }

  Result<std::string> append(std::string type, std::string payload) {
    NewEntry entry;
    entry.type = std::move(type);
    entry.payload = std::move(payload);
    TRY_ASSIGN(auto appended, store_.sessions().append_session_entries(session_id_, {&entry, 1},
                                                                       {.expected_head = head_}));
    return std::move(appended.last_appended_entry_id);
  }

  Store& store_;
  std::string session_id_;
  const CompactOptions& options_;
  std::shared_ptr<const Lineage> lineage_;
  std::string head_;
  context::Selection selection_;
  std::optional<Conversation> conversation_;
  CompactResult result_;
};

Result<std::string> append_edit(Store& store, const std::string& session_id,
                                std::string_view target, std::string_view replacement) {
  NewEntry edit;
  edit.type = "context_edit";
  edit.payload.clear();
  json::Writer(edit.payload)
      .begin_object()
      .member("targetEntryId", target)
      .raw_member("replacement", replacement)
      .end_object();
  TRY_ASSIGN(auto appended, store.sessions().append_session_entries(session_id, {&edit, 1}));
  return std::move(appended.last_appended_entry_id);
}

Result<void> check_node(const Lineage& lineage, std::string_view id) {
  TRY_ASSIGN(const auto found, lineage.find(id));
  if (!found) return Error(Code::kNotFound, "no entry " + std::string(id) + " in the session");
  if (!found->is_node) {
    return Error(Code::kInvalidArgument, std::string(id) + " is a fact: no model sees it");
  }
  return {};
}

}  // namespace

Result<CompactResult> compact(Store& store, std::string_view session_id,
                              const CompactOptions& options) {
  return guarded([&]() -> Result<CompactResult> {
    TRY_ASSIGN(std::string id, checked_session_id(session_id));
    return Compaction(store, std::move(id), options).run();
  });
}

Result<std::string> lift_compaction(Store& store, std::string_view session_id,
                                    std::string_view entry_id) {
  return guarded([&]() -> Result<std::string> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    TRY_ASSIGN(const auto lineage, store.sessions().lineage(id));
    std::string target(entry_id);
    if (target.empty() && lineage->head() != kNone) {
      TRY_ASSIGN(const auto selection, context::select(*lineage, lineage->head(), false));
      if (selection.compaction) {
        TRY_ASSIGN(target, lineage->id(selection.compaction->ordinal));
      }
    }
    if (target.empty()) {
      return Error(Code::kNotFound, "no compaction is in force")
          .with_hint("There is nothing to take back; --entry names an edit.");
    }
    TRY_ASSIGN(const auto found, lineage->find(target));
    if (!found) return Error(Code::kNotFound, "no entry " + target + " in the session");
    TRY_ASSIGN(const StoredEntry stored, lineage->entry(found->ordinal));
    if (stored.place.type != EntryType::kCompactionSummary &&
        stored.place.type != EntryType::kContextEdit) {
      return Error(Code::kInvalidArgument, target + " is neither a compaction nor an edit");
    }
    return append_edit(store, id, target, "null");
  });
}

Result<std::string> edit_context(Store& store, std::string_view session_id,
                                 std::string_view entry_id, std::string_view replacement) {
  return guarded([&]() -> Result<std::string> {
    TRY_ASSIGN(const std::string id, checked_session_id(session_id));
    TRY(json::validate(replacement));
    const char first = replacement.empty() ? ' ' : replacement.front();
    if (first != '"' && first != '[' && replacement != "null") {
      return Error(Code::kInvalidArgument,
                   "a replacement is a JSON string, an array of parts, or null");
    }
    TRY_ASSIGN(const auto lineage, store.sessions().lineage(id));
    TRY(check_node(*lineage, entry_id));
    return append_edit(store, id, entry_id, replacement);
  });
}

}  // namespace quipu
