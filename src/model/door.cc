#include "model/door.h"

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "base/try.h"
#include "base/uuid.h"
#include "quipu/limits.h"

namespace quipu {
namespace {

constexpr std::string_view kMetaMember = ",\"meta\":";

// What entries of one batch are given where they bring nothing of their own.
struct Given {
  std::int64_t unix_ms;
  std::string timestamp;
  Random& random;

  explicit Given(Filler filler)
      : unix_ms(filler.clock.unix_ms()),
        timestamp(format_timestamp(unix_ms)),
        random(filler.random) {}
  Text id() const { return Text::of(uuid_v7(unix_ms, random)); }
};

Error invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

bool has_control_byte(std::string_view text) {
  if (json::is_plain_ascii(text)) return false;
  unsigned before = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // U+0080 to U+009F are two bytes in UTF-8.
    if (byte < 0x20 || byte == 0x7f || (before == 0xc2 && byte < 0xa0)) return true;
    before = byte;
  }
  return false;
}

Result<void> check_id(std::string_view name, std::string_view id) {
  if (id.empty() || id.size() > kEntryIdBytesMax || has_control_byte(id)) {
    return invalid(std::string(name) + " must have 1 to 256 bytes and no control characters");
  }
  return {};
}

Result<Text> entry_id(const json::Member& member) {
  if (member.kind != json::Kind::kString) {
    return invalid(std::string(member.key) + " must be a string");
  }
  Text id = Text::of_token(member.value);
  TRY(check_id(member.key, id.view()));
  return id;
}

Result<void> require(const json::Member& member, json::Kind kind, std::string_view what) {
  if (member.kind == kind) return {};
  return invalid(std::string(member.key) + " must be " + std::string(what));
}

constexpr std::string_view kTimestampShape =
    "timestamp must be RFC 3339 in UTC, such as 2026-03-01T09:30:00.000Z";

Result<void> take_member(const json::Member& member, Draft& draft, Envelope& envelope) {
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
    envelope.type = Text::of_token(member.value);
  } else if (json::key_equals(member.key, "timestamp")) {
    TRY(require(member, json::Kind::kString, "a string"));
    if (!parse_timestamp(Text::of_token(member.value).view())) {
      return invalid(std::string(kTimestampShape));
    }
    draft.timestamp_given = true;
  } else if (json::key_equals(member.key, "runId")) {
    TRY(require(member, json::Kind::kString, "a string"));
  } else if (json::key_equals(member.key, "payload")) {
    TRY(require(member, json::Kind::kObject, "a JSON object"));
    envelope.payload = member.value;
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

// What the type demands, the same for both doors.
Result<void> take_type(Draft& draft, std::string_view type, std::string_view payload) {
  if (type.empty()) return invalid("type must not be empty");
  draft.type = entry_type(type);
  if (draft.type == EntryType::kSessionHeader) {
    return invalid("a session has one session_header, made with the session");
  }
  if (is_fact(draft.type) && draft.parent_link == ParentLink::kEntry) {
    return invalid("this type is a fact beside the tree and has no parentId");
  }
  if (auto target = fact_target(draft.type, payload)) draft.target = std::move(*target);
  if (draft.target.empty() && draft.type == EntryType::kHead) {
    return invalid("the payload of head must name an entryId");
  }
  if (draft.target.empty() && draft.type == EntryType::kRedaction) {
    return invalid("the payload of redaction must name a targetEntryId");
  }
  return {};
}

Result<void> check_size(std::size_t bytes) {
  if (bytes <= kLineBytesMax) return {};
  return Error(Code::kTooLarge, "an entry may have at most 16 MiB, this one has " +
                                    std::to_string(bytes) + " bytes");
}

Result<void> admit_line(std::string_view line, const Given& given,
                        std::vector<json::Member>& members, Draft& draft) {
  TRY(check_size(line.size()));
  TRY(json::scan_line(line, members));
  const auto first = line.find('{');
  const auto last = line.rfind('}');
  line = line.substr(first, last - first + 1);
  Envelope envelope;
  for (const auto& member : members) TRY(take_member(member, draft, envelope));
  if (members.size() > 1) {
    if (const auto twice = json::find_duplicate_key(members)) {
      return invalid("member \"" + *twice + "\" occurs twice");
    }
  }
  if (!has_member(members, "type")) return invalid("type is missing");
  if (envelope.payload.empty()) return invalid("payload is missing; it must be a JSON object");
  TRY(take_type(draft, envelope.type.view(), envelope.payload));
  draft.rest = line.substr(1, line.size() - 2);
  draft.start = "{";
  if (!draft.id_given) {
    draft.id = given.id();
    draft.start += "\"id\":\"";
    draft.start += draft.id.view();
    draft.start += "\",";
  }
  draft.parent_at = draft.start.size();
  if (!draft.timestamp_given) {
    draft.start += "\"timestamp\":\"";
    draft.start += given.timestamp;
    draft.start += "\",";
  }
  return {};
}

Result<void> check_object(std::string_view name, std::string_view text) {
  auto valid = json::validate_inner_object(text);
  return valid.ok() ? valid : std::move(valid).error().in(std::string(name));
}

Result<void> check_texts(const NewEntry& entry) {
  if (!entry.id.empty()) TRY(check_id("id", entry.id));
  if (!entry.parent.is_head() && !entry.parent.is_root()) {
    TRY(check_id("parent", entry.parent.id()));
  }
  for (const std::string* text : {&entry.id, &entry.parent.id(), &entry.type, &entry.run_id}) {
    if (!json::is_utf8(*text)) return invalid("id, parent, type and run_id must be UTF-8");
  }
  if (!entry.timestamp.empty() && !parse_timestamp(entry.timestamp)) {
    return invalid(std::string(kTimestampShape));
  }
  TRY(check_object("payload", entry.payload));
  return entry.meta.empty() ? Result<void>() : check_object("meta", entry.meta);
}

Result<void> admit_entry(const NewEntry& entry, const Given& given, Draft& draft) {
  TRY(check_texts(entry));
  draft.id_given = !entry.id.empty();
  draft.id = draft.id_given ? Text::viewing(entry.id) : given.id();
  draft.timestamp_given = !entry.timestamp.empty();
  EntryParts parts{.id = draft.id.view(),
                   .parent = std::nullopt,
                   .type = entry.type,
                   .timestamp = draft.timestamp_given ? entry.timestamp : given.timestamp,
                   .run_id = entry.run_id,
                   .payload = {},
                   .meta = {}};
  if (!entry.parent.is_head()) {
    draft.parent_link = entry.parent.is_root() ? ParentLink::kNull : ParentLink::kEntry;
    draft.parent = Text::viewing(entry.parent.id());
    parts.parent = entry.parent.id();
  }
  TRY(take_type(draft, entry.type, entry.payload));
  constexpr std::size_t kMembersBytes = 96;  // names and punctuation, and the timestamp
  draft.start.reserve(kMembersBytes + parts.id.size() + entry.parent.id().size() +
                      entry.type.size() + entry.run_id.size());
  draft.parent_at = append_entry_start(draft.start, parts);
  draft.rest = entry.payload;
  draft.meta = entry.meta;
  return check_size(draft.bytes());
}

Result<void> check_batch(Batch& batch) {
  const std::vector<Draft>& drafts = batch.drafts;
  if (drafts.size() == 1 && drafts[0].parent_link != ParentLink::kEntry) return {};
  batch.places = IdTable(drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const std::string_view id = drafts[i].id.view();
    if (!batch.places.insert(id, i)) {
      return Error(Code::kBadBatch, "two entries of the batch have the id " + std::string(id));
    }
  }
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (drafts[i].parent_link != ParentLink::kEntry) continue;
    const auto parent = batch.places.find(drafts[i].parent.view());
    if (!parent || *parent < i) continue;
    return Error(Code::kBadBatch,
                 "entry " + std::string(drafts[i].id.view()) +
                     (*parent == i ? " names itself as its parent" : " stands before its parent"));
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
    Draft& draft = batch.drafts.emplace_back();
    if (auto admitted = admit_one(item, draft); !admitted.ok()) {
      return std::move(admitted).error().in("entry " + std::to_string(batch.drafts.size()));
    }
    batch.bytes += draft.bytes();
    if (batch.bytes > kBatchBytesMax) {
      return Error(Code::kTooLarge, "a batch may have at most 64 MiB");
    }
  }
  TRY(check_batch(batch));
  return batch;
}

}  // namespace

std::size_t Draft::bytes() const {
  return start.size() + rest.size() + (meta.empty() ? 0 : kMetaMember.size() + meta.size());
}

void Draft::append_body(std::string& out, std::string_view parent_member) const {
  const std::string_view all(start);
  out += all.substr(0, parent_at);
  out += parent_member;
  out += all.substr(parent_at);
  out += rest;
  if (meta.empty()) return;
  out += kMetaMember;
  out += meta;
}

std::vector<std::string> Batch::ids() const {
  std::vector<std::string> ids;
  ids.reserve(drafts.size());
  for (const auto& draft : drafts) ids.emplace_back(draft.id.view());
  return ids;
}

Result<Batch> admit_lines(std::span<const std::string_view> lines, Filler filler) {
  const Given given(filler);
  std::vector<json::Member> members;
  return admit(lines, [&](std::string_view line, Draft& draft) {
    return admit_line(line, given, members, draft);
  });
}

Result<Batch> admit_entries(std::span<const NewEntry> entries, Filler filler) {
  const Given given(filler);
  return admit(entries, [&](const NewEntry& entry, Draft& draft) {
    return admit_entry(entry, given, draft);
  });
}

bool same_as_stored(const Draft& draft, std::string_view stored) {
  std::string given;
  draft.append_body(given, {});
  given += '}';
  json::MemberWalk walk(given);
  while (const auto member = walk.next()) {
    if (json::key_equals(member->key, "id")) continue;  // how it was found
    if (!draft.timestamp_given && json::key_equals(member->key, "timestamp")) continue;
    const auto other = json::find_member(stored, json::decode_string(member->key));
    if (!other || other->value != member->value) return false;
  }
  return true;
}

}  // namespace quipu
