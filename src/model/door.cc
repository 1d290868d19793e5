#include "model/door.h"

#include <algorithm>
#include <unordered_map>

#include "base/json_scan.h"
#include "base/time_text.h"
#include "base/try.h"
#include "base/uuid.h"
#include "quipu/limits.h"

namespace quipu {
namespace {

Error invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

bool has_control_byte(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

Result<std::string> entry_id(const json::Member& member) {
  if (member.kind != json::Kind::kString) {
    return invalid(std::string(member.key) + " must be a string");
  }
  std::string id = json::decode_string(member.value);
  if (id.empty() || id.size() > kEntryIdBytesMax || has_control_byte(id)) {
    return invalid(std::string(member.key) + " must have 1 to 256 bytes and no control characters");
  }
  return id;
}

Result<void> require(const json::Member& member, json::Kind kind, std::string_view what) {
  if (member.kind == kind) return {};
  return invalid(std::string(member.key) + " must be " + std::string(what));
}

Result<void> take_member(const json::Member& member, Draft& draft, std::string_view& payload) {
  if (json::key_equals(member.key, "id")) {
    TRY_ASSIGN(draft.id, entry_id(member));
    draft.id_given = true;
  } else if (json::key_equals(member.key, "parentId")) {
    draft.parent_link = ParentLink::kNull;
    if (member.kind == json::Kind::kNull) return {};
    draft.parent_link = ParentLink::kEntry;
    TRY_ASSIGN(draft.parent, entry_id(member));
  } else if (json::key_equals(member.key, "type")) {
    TRY(require(member, json::Kind::kString, "a string"));
    const Text type = Text::of_token(member.value);
    if (type.empty()) return invalid("type must not be empty");
    draft.type = entry_type(type.view());
  } else if (json::key_equals(member.key, "timestamp")) {
    TRY(require(member, json::Kind::kString, "a string"));
    if (!parse_timestamp(Text::of_token(member.value).view())) {
      return invalid("timestamp must be RFC 3339 in UTC, such as 2026-03-01T09:30:00.000Z");
    }
    draft.timestamp_given = true;
  } else if (json::key_equals(member.key, "runId")) {
    TRY(require(member, json::Kind::kString, "a string"));
  } else if (json::key_equals(member.key, "payload")) {
    TRY(require(member, json::Kind::kObject, "a JSON object"));
    payload = member.value;
  } else if (json::key_equals(member.key, "meta")) {
    TRY(require(member, json::Kind::kObject, "a JSON object"));
  } else if (!member.key.empty() && (member.key[0] == '_' || member.key[0] == '\\') &&
             json::decode_string(member.key).starts_with('_')) {
    return invalid("members that begin with _ belong to the store");
  }
  return {};
}

bool has_member(const std::vector<json::Member>& members, std::string_view key) {
  return std::any_of(members.begin(), members.end(),
                     [key](const auto& member) { return json::key_equals(member.key, key); });
}

Result<void> check_envelope(const Draft& draft, const std::vector<json::Member>& members,
                            std::string_view payload) {
  if (members.size() > 1) {
    if (const auto twice = json::find_duplicate_key(members)) {
      return invalid("member \"" + *twice + "\" occurs twice");
    }
  }
  if (!has_member(members, "type")) return invalid("type is missing");
  if (payload.empty()) return invalid("payload is missing; it must be a JSON object");
  if (draft.type == EntryType::kSessionHeader) {
    return invalid("a session has one session_header, made with the session");
  }
  if (is_fact(draft.type) && draft.parent_link == ParentLink::kEntry) {
    return invalid("this type is a fact beside the tree and has no parentId");
  }
  return {};
}

Result<Draft> admit_line(std::string_view line, std::vector<json::Member>& members) {
  if (line.size() > kLineBytesMax) {
    return Error(Code::kTooLarge, "an entry may have at most 16 MiB, this one has " +
                                      std::to_string(line.size()) + " bytes");
  }
  TRY(json::scan_object(line, members));
  const auto first = line.find('{');
  const auto last = line.rfind('}');
  line = line.substr(first, last - first + 1);
  // Inside strings they are refused by the scanner, so these are between tokens.
  if (line.find('\n') != std::string_view::npos || line.find('\r') != std::string_view::npos) {
    return invalid("an entry must be one line: carriage return or line feed between members");
  }
  Draft draft;
  std::string_view payload;
  for (const auto& member : members) TRY(take_member(member, draft, payload));
  TRY(check_envelope(draft, members, payload));
  if (const auto target = fact_target(draft.type, payload)) {
    draft.target = std::string(target->view());
  }
  if (draft.target.empty() && draft.type == EntryType::kHead) {
    return invalid("the payload of head must name an entryId");
  }
  if (draft.target.empty() && draft.type == EntryType::kRedaction) {
    return invalid("the payload of redaction must name a targetEntryId");
  }
  draft.fill_id = "{";
  draft.rest = line.substr(1, line.size() - 2);
  return draft;
}

void fill_in(Draft& draft, Filler filler) {
  const std::int64_t now = filler.clock.unix_ms();
  if (!draft.timestamp_given) {
    draft.fill_time = "\"timestamp\":\"" + format_timestamp(now) + "\",";
  }
  if (!draft.id_given) {
    draft.id = uuid_v7(now, filler.random);
    draft.fill_id += "\"id\":\"" + draft.id + "\",";
  }
}

// An encoded entry is split after its id, so that the parent can go in there.
Result<Draft> admit_entry(const NewEntry& entry, Filler filler,
                          std::vector<json::Member>& members) {
  const std::int64_t now = filler.clock.unix_ms();
  const std::string id = entry.id.empty() ? uuid_v7(now, filler.random) : entry.id;
  const std::string timestamp = entry.timestamp.empty() ? format_timestamp(now) : entry.timestamp;
  EntryParts parts{.id = id,
                   .parent = std::nullopt,
                   .type = entry.type,
                   .timestamp = timestamp,
                   .run_id = entry.run_id,
                   .payload = entry.payload,
                   .meta = entry.meta};
  if (!entry.parent.is_head()) parts.parent = entry.parent.id();
  std::string own;
  own.reserve(entry.payload.size() + entry.meta.size() + 256);
  append_entry_json(own, parts);
  TRY_ASSIGN(Draft draft, admit_line(own, members));
  // A payload such as `{},"x":{}` would smuggle members into the envelope.
  const std::size_t expected =
      4 + (parts.parent ? 1 : 0) + (entry.run_id.empty() ? 0 : 1) + (entry.meta.empty() ? 0 : 1);
  if (members.size() != expected) return invalid("payload and meta must each be one JSON object");
  const auto differs = [&members](std::string_view key, const std::string& text) {
    const auto member =
        std::find_if(members.begin(), members.end(), [key](const auto& m) { return m.key == key; });
    return member != members.end() && Text::of_token(member->value).view() != text;
  };
  if (draft.id != id || draft.parent != entry.parent.id() || differs("type", entry.type) ||
      differs("runId", entry.run_id)) {
    return invalid("id, parent, type and run_id must be UTF-8");
  }
  draft.id_given = !entry.id.empty();
  draft.timestamp_given = !entry.timestamp.empty();
  draft.own = std::move(own);
  const std::size_t split = std::string_view("{\"id\":,").size() + json::quoted(id).size();
  draft.fill_id = draft.own.substr(0, split);
  draft.rest = std::string_view(draft.own).substr(split, draft.own.size() - split - 1);
  return draft;
}

Result<void> check_batch(const std::vector<Draft>& drafts) {
  if (drafts.size() == 1 && drafts[0].parent_link != ParentLink::kEntry) return {};
  std::unordered_map<std::string_view, std::size_t> position;
  position.reserve(drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (!position.emplace(drafts[i].id, i).second) {
      return Error(Code::kBadBatch, "two entries of the batch have the id " + drafts[i].id);
    }
  }
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (drafts[i].parent_link != ParentLink::kEntry) continue;
    const auto parent = position.find(drafts[i].parent);
    if (parent == position.end() || parent->second < i) continue;
    return Error(Code::kBadBatch, parent->second == i
                                      ? "entry " + drafts[i].id + " names itself as its parent"
                                      : "entry " + drafts[i].id + " stands before its parent");
  }
  return {};
}

template <class Item, class Admit>
Result<Batch> admit(std::span<const Item> items, Admit&& admit_one) {
  if (items.empty()) return invalid("a batch needs at least one entry");
  if (items.size() > kBatchEntriesMax) {
    return Error(Code::kTooLarge, "a batch may have at most 65536 entries");
  }
  Batch batch;
  batch.drafts.reserve(items.size());
  for (const auto& item : items) {
    auto draft = admit_one(item);
    if (!draft.ok()) {
      auto place = "entry " + std::to_string(batch.drafts.size() + 1);
      return std::move(draft).error().in(place);
    }
    batch.bytes += draft->fill_id.size() + draft->fill_time.size() + draft->rest.size();
    if (batch.bytes > kBatchBytesMax) {
      return Error(Code::kTooLarge, "a batch may have at most 64 MiB");
    }
    batch.drafts.push_back(std::move(draft).value());
  }
  TRY(check_batch(batch.drafts));
  return batch;
}

}  // namespace

std::vector<std::string> Batch::ids() const {
  std::vector<std::string> ids;
  ids.reserve(drafts.size());
  for (const auto& draft : drafts) ids.push_back(draft.id);
  return ids;
}

Result<Batch> admit_lines(std::span<const std::string_view> lines, Filler filler) {
  std::vector<json::Member> members;
  return admit(lines, [&](std::string_view line) -> Result<Draft> {
    TRY_ASSIGN(Draft draft, admit_line(line, members));
    fill_in(draft, filler);
    return draft;
  });
}

Result<Batch> admit_entries(std::span<const NewEntry> entries, Filler filler) {
  std::vector<json::Member> members;
  return admit(entries, [&](const NewEntry& entry) { return admit_entry(entry, filler, members); });
}

bool same_as_stored(const Draft& draft, std::string_view stored) {
  std::string given = "{";
  given += draft.rest;
  given += '}';
  json::MemberWalk walk(given);
  while (const auto member = walk.next()) {
    if (!draft.timestamp_given && json::key_equals(member->key, "timestamp")) continue;
    const auto other = json::find_member(stored, json::decode_string(member->key));
    if (!other || other->value != member->value) return false;
  }
  return true;
}

}  // namespace quipu
