#include "context/selection.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/try.h"
#include "dialect/lift.h"

namespace quipu::context {
namespace {

std::string text_member(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  if (!member || member->kind != json::Kind::kString) return {};
  return json::decode_string(member->value);
}

bool is_system_message(const PathEntry& entry) {
  if (entry.type == "system") return true;
  if (entry.code != EntryType::kMessage) return false;
  return text_member(entry.payload, "role") == "system";
}

bool is_setting(EntryType code) {
  return code == EntryType::kRuntimeInit || code == EntryType::kSystemPromptOverride ||
         code == EntryType::kModelChange || code == EntryType::kThinkingLevelChange;
}

class Selector {
 public:
  Selector(const Lineage& lineage, bool full) : lineage_(lineage), full_(full) {}

  Result<Selection> run(Ordinal head) {
    // No more than the path has, most of it untouched when there is a compaction.
    // Growing would leave holes as large as the list behind it.
    TRY_ASSIGN(const StoredEntry last, lineage_.entry(head));
    result_.entries.reserve(last.place.depth + 1);
    TRY_ASSIGN(const Ordinal before, walk_conversation(head));
    std::reverse(result_.entries.begin(), result_.entries.end());
    if (before != kNone) {
      TRY_ASSIGN(const StoredEntry covered, lineage_.entry(before));
      result_.covered = covered.place.depth + 1;
      if (!has_checkpoint_) TRY(walk_settings(before));
    }
    return std::move(result_);
  }

 private:
  // Collects, newest first, and returns the first node that is not looked at.
  Result<Ordinal> walk_conversation(Ordinal head) {
    Ordinal at = head;
    while (at != kNone) {
      TRY_ASSIGN(const StoredEntry stored, lineage_.entry(at));
      TRY_ASSIGN(const PathEntry entry, read(at, stored));
      const Ordinal parent = stored.place.parent;
      if (entry.code == EntryType::kContextEdit) TRY(take_edit(entry));
      if (entry.code == EntryType::kContextReset) {
        result_.entries.push_back(entry);
        TRY(read_checkpoint(entry));
        return parent;
      }
      TRY_ASSIGN(const bool in_force, is_in_force(entry));
      if (in_force) {
        result_.compaction = entry;
        TRY(read_checkpoint(entry));
        return walk_kept(entry, parent);
      }
      result_.entries.push_back(entry);
      at = parent;
    }
    return kNone;
  }

  // From a compaction towards the entry that it keeps; all or nothing.
  Result<Ordinal> walk_kept(const PathEntry& compaction, Ordinal from) {
    const std::string first_id = text_member(compaction.payload, "firstKeptEntryId");
    TRY_ASSIGN(const auto first, lineage_.find(first_id));
    const bool keeps = first && first->is_node && first->depth < compaction.depth;
    if (!keeps) return from;
    const std::size_t mark = result_.entries.size();
    for (Ordinal at = from; at != kNone;) {
      TRY_ASSIGN(const StoredEntry stored, lineage_.entry(at));
      if (stored.place.depth < first->depth) break;  // passed it: not on this path
      TRY_ASSIGN(const PathEntry entry, read(at, stored));
      if (entry.code == EntryType::kContextEdit) TRY(take_edit(entry));
      result_.entries.push_back(entry);
      if (at == first->ordinal || entry.code == EntryType::kContextReset) {
        return stored.place.parent;
      }
      at = stored.place.parent;
    }
    result_.entries.resize(mark);
    return from;
  }

  Result<bool> is_in_force(const PathEntry& entry) {
    if (entry.code != EntryType::kCompactionSummary || full_ || entry.redacted) return false;
    TRY_ASSIGN(const bool taken_back, is_taken_back(entry));
    return !taken_back;
  }

  // An edit that puts nothing in the place of a compaction or of another edit:
  // what that covered counts again.
  Result<bool> is_taken_back(const PathEntry& entry) {
    if (result_.edits.empty()) return false;
    TRY_ASSIGN(const std::string id, lineage_.id(entry.ordinal));
    const auto edit = result_.edits.find(id);
    return edit != result_.edits.end() &&
           json::find_member(edit->second.payload, "replacement")->kind == json::Kind::kNull;
  }

  // Newest first: the first edit met of an entry is its last.
  Result<void> take_edit(const PathEntry& edit) {
    if (edit.redacted || !json::find_member(edit.payload, "replacement")) return {};
    TRY_ASSIGN(const bool taken_back, is_taken_back(edit));
    if (!taken_back) {
      result_.edits.try_emplace(text_member(edit.payload, "targetEntryId"), edit);
    }
    return {};
  }

  Result<void> read_checkpoint(const PathEntry& entry) {
    const auto checkpoint = json::find_member(entry.payload, "checkpoint");
    if (!checkpoint || checkpoint->kind != json::Kind::kArray) return {};
    has_checkpoint_ = true;
    json::ElementWalk walk(checkpoint->value);
    while (const auto id = walk.next()) {
      if (id->kind != json::Kind::kString) continue;
      TRY_ASSIGN(const auto found, lineage_.find(json::decode_string(id->value)));
      if (!found || !found->is_node || found->depth >= entry.depth) continue;
      TRY_ASSIGN(const StoredEntry stored, lineage_.entry(found->ordinal));
      TRY_ASSIGN(const PathEntry setting, read(found->ordinal, stored));
      result_.before.push_back(setting);
    }
    return {};
  }

  // Everything before the conversation, by the index; only what sets something
  // is read, and the system messages that the path begins with.
  Result<void> walk_settings(Ordinal from) {
    std::vector<Ordinal> path;
    for (Ordinal at = from; at != kNone;) {
      path.push_back(at);
      TRY_ASSIGN(const StoredEntry stored, lineage_.entry(at));
      at = stored.place.parent;
    }
    bool leading = true;
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      TRY_ASSIGN(const StoredEntry stored, lineage_.entry(*at));
      const EntryType code = stored.place.type;
      if (!is_setting(code) && !leading) continue;
      TRY_ASSIGN(const PathEntry entry, read(*at, stored));
      const bool is_system = is_system_message(entry);
      if (is_setting(code) || (leading && is_system)) result_.before.push_back(entry);
      if (dialect::carries_message(entry.type) && !is_system) leading = false;
    }
    return {};
  }

  Result<PathEntry> read(Ordinal ordinal, const StoredEntry& stored) {
    PathEntry entry;
    entry.ordinal = ordinal;
    entry.depth = stored.place.depth;
    entry.code = stored.place.type;
    entry.redacted = lineage_.is_redacted(ordinal);
    if (!stored.adopted) {
      const Envelope envelope = read_envelope_prefix(stored.text);
      entry.type = view_of(envelope.type);
      entry.payload = json::value_onward(stored.text, "payload");
      return entry;
    }
    // Lines of other programs: in any order, and they may hold what no request may,
    // bytes that are no UTF-8, halves of surrogate pairs.
    Envelope envelope = read_envelope(stored.text);
    adopt(envelope, stored.text);
    entry.type = view_of(envelope.type);
    entry.payload = envelope.payload;
    if (!json::validate(entry.payload).ok()) {
      entry.payload = keep(json::scrubbed(entry.payload));
      if (!json::validate(entry.payload).ok()) entry.payload = "{}";
    }
    return entry;
  }

  std::string_view view_of(const Text& text) {
    return text.is_copy() ? keep(std::string(text.view())) : text.view();
  }

  std::string_view keep(std::string text) {
    result_.owned.push_back(std::make_unique<std::string>(std::move(text)));
    return *result_.owned.back();
  }

  const Lineage& lineage_;
  bool full_;
  bool has_checkpoint_ = false;
  Selection result_;
};

}  // namespace

Result<Selection> select(const Lineage& lineage, Ordinal head, bool full) {
  return Selector(lineage, full).run(head);
}

}  // namespace quipu::context
