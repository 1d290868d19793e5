#include "view/session_fold.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>

#include "base/crc32c.h"
#include "base/json_scan.h"
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/carry.h"
#include "dialect/dialect.h"
#include "dialect/lift.h"

namespace quipu::view {
namespace {

using json::Kind;

// One request is written as a few entries next to each other; more than a few
// ids would make every row long for nothing.
constexpr std::size_t kRequestsKept = 8;
constexpr std::size_t kTitleBytesMax = 100;
// The first line of a long message is near its beginning or not worth looking for.
constexpr std::size_t kTitleSearchBytes = 4096;

SessionCounts counts_of(const Usage& usage) {
  SessionCounts counts;
  counts.tokens_in = usage.tokens_in.value_or(0);
  counts.tokens_out = usage.tokens_out.value_or(0);
  counts.cache_read = usage.cache_read.value_or(0);
  counts.cache_write = usage.cache_write.value_or(0);
  const double cost = usage.cost_usd.value_or(0);
  counts.cost_nano_usd = std::abs(cost) < 1e9 ? std::llround(cost * 1e9) : 0;
  return counts;
}

std::string text_of(std::string_view token) {
  return token.empty() ? std::string() : json::decode_string(token);
}

std::string text_member(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->kind == Kind::kString ? json::decode_string(member->value)
                                                 : std::string();
}

std::uint64_t number_member(std::string_view object, std::string_view key) {
  std::uint64_t number = 0;
  if (const auto member = json::find_member(object, key)) {
    std::from_chars(member->value.data(), member->value.data() + member->value.size(), number);
  }
  return number;
}

bool is_only_tool_results(const std::vector<PartView>& parts) {
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const PartView& part) {
    return part.type == PartType::kToolResult;
  });
}

// The first line that is not blank, cut between characters.
std::string first_line(std::string_view token) {
  if (token.starts_with('"')) token.remove_prefix(1);
  if (token.size() <= kTitleSearchBytes && token.ends_with('"')) token.remove_suffix(1);
  const std::string text = json::decode_string(token.substr(0, kTitleSearchBytes));
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  std::size_t from = 0;
  while (from < text.size() && is_blank(text[from])) ++from;
  std::size_t to = std::min(text.find_first_of("\r\n", from), text.size());
  while (to > from && is_blank(text[to - 1])) --to;
  if (to - from <= kTitleBytesMax) return text.substr(from, to - from);
  to = from + kTitleBytesMax;
  while (to > from && (static_cast<unsigned char>(text[to]) & 0xc0u) == 0x80) --to;
  return text.substr(from, to - from) + "…";
}

std::string first_words(const std::vector<PartView>& parts) {
  for (const PartView& part : parts) {
    if (part.type != PartType::kText) continue;
    if (std::string line = first_line(part.text); !line.empty()) return line;
  }
  return {};
}

void take_back(SessionCounts& from, const SessionCounts& counted) {
  from.tokens_in -= counted.tokens_in;
  from.tokens_out -= counted.tokens_out;
  from.cache_read -= counted.cache_read;
  from.cache_write -= counted.cache_write;
  from.cost_nano_usd -= counted.cost_nano_usd;
}

void count_usage(SessionRow& row, const std::string& request_id, const SessionCounts& used) {
  if (!request_id.empty()) {
    auto& requests = row.requests;
    const auto repeated = std::find_if(requests.begin(), requests.end(), [&](const auto& request) {
      return request.id == request_id;
    });
    if (repeated != requests.end()) {
      take_back(row.summary.totals, repeated->counted);
      if (!repeated->before_reset) take_back(row.summary.counts, repeated->counted);
      requests.erase(repeated);
    }
    if (requests.size() == kRequestsKept) requests.erase(requests.begin());
    requests.push_back({.id = request_id, .counted = used, .before_reset = false});
  }
  row.summary.counts += used;
  row.summary.totals += used;
}

void add_header(SessionRow& row, const Envelope& envelope) {
  const SessionHeader header = read_session_header(envelope.payload);
  row.header_title = header.title;
  row.header_project = header.project_id;
  row.summary.cwd = header.cwd;
  row.summary.agent_id = header.agent_id;
  row.summary.preset_id = header.preset_id;
  row.summary.parent_session = header.parent_session;
  row.summary.schema_version = header.version;
  row.summary.created = envelope.timestamp.view();
}

void note_model(SessionRow& row, const std::string& model, const std::string& provider) {
  if (!model.empty()) row.summary.model = model;
  if (!provider.empty()) row.summary.provider = provider;
}

void add_message(SessionRow& row, const Envelope& envelope, bool redacted) {
  std::vector<PartView> parts;
  const MessageView message = dialect::lift(envelope.type.view(), envelope.payload, parts);
  note_model(row, text_of(message.model), text_of(message.provider));
  // What was used stays used when the text is redacted.
  if (!message.usage.empty()) {
    count_usage(row, text_of(message.request_id), counts_of(read_usage(message.usage)));
  }
  if (message.role != Role::kUser || is_only_tool_results(parts)) return;
  ++row.summary.counts.messages;
  ++row.summary.totals.messages;
  if (row.first_words.empty() && !redacted) row.first_words = first_words(parts);
}

void add_kin(SessionRow& row, const dialect::Dialect& dialect, const dialect::Kinship& kin) {
  if (kin.session.empty()) return;
  const std::string id = dialect::session_id_of(dialect.name(), kin.session);
  if (id == row.session_id) return;
  switch (kin.relation) {
    case dialect::Relation::kForkedFrom:
      if (row.summary.parent_session.empty()) row.summary.parent_session = id;
      break;
    case dialect::Relation::kSpawnedBy:
      row.summary.spawned_by = id;
      break;
    case dialect::Relation::kContinuedIn:
      row.summary.continued_in = id;
      break;
  }
}

// A record of another agent: what it says of the session.
void add_record(SessionRow& row, const dialect::RecordType& type, const Envelope& envelope,
                bool redacted, const Lineage& lineage) {
  std::deque<std::string> owned;
  dialect::Note note;
  note.memory = std::move(row.note_memory);
  type.dialect->note(type.kind, dialect::understood(envelope.payload, owned), note);
  row.note_memory = std::move(note.memory);
  note_model(row, note.model.value_or(""), note.provider.value_or(""));
  for (const dialect::UsageNote& usage : note.usage) {
    count_usage(row, usage.key, counts_of(usage.usage));
  }
  if (note.cwd && row.summary.cwd.empty()) row.summary.cwd = *note.cwd;
  if (note.archived) row.foreign_archived = note.archived;
  if (note.tags) row.foreign_tags = *note.tags;
  if (note.sdk_session_id) row.foreign_sdk_session = *note.sdk_session_id;
  for (const dialect::Kinship& kin : note.kin) add_kin(row, *type.dialect, kin);
  if (redacted) return;
  const auto is_ours = [&](const std::string& entry) {
    if (entry.empty()) return true;
    const auto found = lineage.find(entry);
    return found.ok() && found->has_value();
  };
  if (note.title && is_ours(note.title_at)) {
    (note.title_is_given ? row.given_title : row.made_title) =
        first_line(json::quoted(*note.title));
  }
  if (!note.prompt) return;
  row.summary.counts.messages += 1 + note.further_prompts;
  row.summary.totals.messages += 1 + note.further_prompts;
  if (row.first_words.empty()) row.first_words = first_line(json::quoted(*note.prompt));
}

// Where an imported session came from, and how far that was read.
void add_import(SessionRow& row, const Envelope& envelope) {
  const std::string_view type = envelope.type.view();
  if (type == "fact.quipu.source") {
    row.summary.source = text_member(envelope.payload, "path");
    const std::string part = text_member(envelope.payload, "part");
    if (!part.empty()) row.summary.source += "#" + part;
    const std::string parent = text_member(envelope.payload, "spawnedBy");
    if (!parent.empty()) {
      row.summary.spawned_by = dialect::session_id_of(row.summary.agent_id, parent);
    }
  }
  if (type == "fact.quipu.import") {
    row.summary.import_mark = envelope.payload;
    // Where it lies by now.
    if (auto moved = text_member(envelope.payload, "source"); !moved.empty()) {
      row.summary.source = std::move(moved);
    }
  }
}

// A `usage` fact is the usage itself, or has it in a member of that name.
void add_usage_fact(SessionRow& row, const Envelope& envelope) {
  const auto inner = json::find_member(envelope.payload, "usage");
  const bool is_inner = inner && inner->kind == Kind::kObject;
  note_model(row, text_member(envelope.payload, "model"),
             text_member(envelope.payload, "provider"));
  count_usage(row, text_member(envelope.payload, "requestId"),
              counts_of(read_usage(is_inner ? inner->value : envelope.payload)));
}

void forget(std::vector<std::string>& ids, const std::string& id) {
  ids.erase(std::remove(ids.begin(), ids.end(), id), ids.end());
}

// Runtime state: what runtime.h reads from the same facts, as ids.
void add_runtime_fact(SessionRow& row, EntryType type, const Envelope& envelope) {
  // What a fact is about; facts that begin something may be it themselves.
  const auto id_in = [&](std::string_view key) { return text_member(envelope.payload, key); };
  const auto own_or = [&](std::string_view key) {
    std::string id = id_in(key);
    return id.empty() ? std::string(envelope.id.view()) : id;
  };
  switch (type) {
    case EntryType::kRunStart:
      row.run_id = envelope.id.view();
      row.summary.processing = true;
      row.summary.generation = number_member(envelope.payload, "generation");
      break;
    case EntryType::kRunEnd:
      if (id_in("runId") == row.run_id) row.summary.processing = false;
      break;
    case EntryType::kQueueAdd:
      row.queued.push_back(own_or("queueId"));
      break;
    case EntryType::kQueueRemove:
      forget(row.queued, id_in("queueId"));
      break;
    case EntryType::kPermissionRequest:
      row.pending.push_back(own_or("requestId"));
      break;
    case EntryType::kPermissionResolve:
      forget(row.pending, id_in("requestId"));
      break;
    default:
      break;
  }
}

// What people say about a session is no work in it: a list must not change its
// order because somebody tidied up.
bool is_activity(EntryType type) {
  return type != EntryType::kSessionInfo && type != EntryType::kLabel &&
         type != EntryType::kRedaction;
}

void add_entry(SessionRow& row, const StoredEntry& stored, bool first, bool redacted,
               const Lineage& lineage) {
  Envelope envelope = read_envelope(stored.text);
  if (stored.adopted) adopt(envelope, stored.text);
  if (const auto time = parse_timestamp(envelope.timestamp.view());
      time && is_activity(stored.place.type)) {
    row.newest_ms = *time;
  }
  switch (stored.place.type) {
    case EntryType::kSessionHeader:
      if (first) add_header(row, envelope);
      break;
    case EntryType::kSessionInfo:
      if (!redacted) row.info.apply(read_session_info(envelope.payload));
      break;
    case EntryType::kUsage:
      add_usage_fact(row, envelope);
      break;
    case EntryType::kModelChange:
      note_model(row, text_member(envelope.payload, "model"),
                 text_member(envelope.payload, "provider"));
      break;
    case EntryType::kContextReset:
      row.summary.counts = {};
      for (CountedRequest& request : row.requests) request.before_reset = true;
      break;
    case EntryType::kOther:
    case EntryType::kOtherFact:
      if (const auto type = dialect::record_type(envelope.type.view()); type.dialect != nullptr) {
        add_record(row, type, envelope, redacted, lineage);
      } else if (stored.place.type == EntryType::kOtherFact) {
        add_import(row, envelope);
      } else if (dialect::carries_message(envelope.type.view())) {
        add_message(row, envelope, redacted);
      }
      break;
    default:
      if (dialect::carries_message(envelope.type.view())) add_message(row, envelope, redacted);
      add_runtime_fact(row, stored.place.type, envelope);
      break;
  }
}

// The row's entries are the first of this log, and nothing that was added since
// changes what they said.
Result<bool> goes_on(const SessionRow& known, const LogView& own, const SurveyedLog& log) {
  TRY_ASSIGN(const bool grown, is_beginning(known.cursor, own, log));
  const FoldState& fold = own.fold();
  const Ordinal redaction = fold.last_fact[static_cast<std::size_t>(EntryType::kRedaction)];
  return grown && (redaction == kNone || redaction - fold.base < known.cursor.entries);
}

}  // namespace

Result<SessionRow> fold_session(Backend& backend, const std::string& session_id,
                                const SessionRow* known) {
  // Before the log is looked at: a change in between is then found the next time.
  TRY_ASSIGN(const SurveyedLog log, backend.survey(session_id));
  TRY_ASSIGN(const auto lineage, backend.lineage(session_id));
  const LogView& own = lineage->own();
  const Ordinal base = lineage->base();

  SessionRow row;
  if (known != nullptr) {
    TRY_ASSIGN(const bool grown, goes_on(*known, own, log));
    if (grown) row = *known;
  }
  row.session_id = session_id;
  const Ordinal count = own.fold().count;
  for (Ordinal next = row.cursor.entries; next < count; ++next) {
    TRY_ASSIGN(const StoredEntry stored, own.entry(next));
    add_entry(row, stored, next == 0, lineage->is_redacted(base + next), *lineage);
    if (next + 1 == count) row.cursor.tail_crc = crc32c(stored.text);
  }
  row.cursor = cursor_at_end(log, own, row.cursor.tail_crc);
  // It may have grown since it was looked at, within the millisecond.
  row.summary.log_bytes = std::max(log.bytes, own.settled_bytes());
  row.summary.damaged = own.damaged();
  row.summary.head.clear();
  row.summary.tail.clear();
  if (lineage->head() != kNone) {
    TRY_ASSIGN(row.summary.head, lineage->id(lineage->head()));
  }
  if (count > 0) {
    TRY_ASSIGN(row.summary.tail, own.id(count - 1));
  }
  row.finish();
  return row;
}

}  // namespace quipu::view
