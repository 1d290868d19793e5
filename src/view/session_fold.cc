#include "view/session_fold.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/crc32c.h"
#include "base/json_scan.h"
#include "base/time_text.h"
#include "base/try.h"

namespace quipu::view {
namespace {

using json::Kind;
using json::Member;

// One request is written as a few entries next to each other; more than a few
// ids would make every row long for nothing.
constexpr std::size_t kRequestsKept = 8;
constexpr std::size_t kTitleBytesMax = 100;
// The first line of a long message is near its beginning or not worth looking for.
constexpr std::size_t kTitleSearchBytes = 4096;

std::uint64_t count_of(const Member& member) {
  // Counts may be written as 12.0 or 1e3; negative ones are nonsense.
  double number = 0;
  const char* end = member.value.data() + member.value.size();
  if (member.kind != Kind::kNumber) return 0;
  std::from_chars(member.value.data(), end, number);
  return number >= 0 && number < 1e15 ? static_cast<std::uint64_t>(number) : 0;
}

std::int64_t nano_usd_of(const Member& member) {
  double number = 0;
  const char* end = member.value.data() + member.value.size();
  if (member.kind != Kind::kNumber) return 0;
  std::from_chars(member.value.data(), end, number);
  return std::abs(number) < 1e9 ? std::llround(number * 1e9) : 0;
}

SessionCounts read_usage(std::string_view object) {
  SessionCounts counts;
  json::MemberWalk walk(object);
  while (const auto member = walk.next()) {
    if (json::key_equals(member->key, "tokensIn")) counts.tokens_in = count_of(*member);
    if (json::key_equals(member->key, "tokensOut")) counts.tokens_out = count_of(*member);
    if (json::key_equals(member->key, "cacheRead")) counts.cache_read = count_of(*member);
    if (json::key_equals(member->key, "cacheWrite")) counts.cache_write = count_of(*member);
    if (json::key_equals(member->key, "costUsd")) counts.cost_nano_usd = nano_usd_of(*member);
  }
  return counts;
}

/// What the catalogue wants of a message, as views into its payload.
struct MessageParts {
  std::string_view role;
  Member content{};
  std::string_view usage;  // an object; empty: none
  std::string request_id;
  std::string model;
  std::string provider;
};

MessageParts read_message(std::string_view payload) {
  MessageParts parts;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (json::key_equals(member->key, "content")) parts.content = *member;
    if (json::key_equals(member->key, "usage") && member->kind == Kind::kObject) {
      parts.usage = member->value;
    }
    if (member->kind != Kind::kString) continue;
    if (json::key_equals(member->key, "role")) parts.role = member->value;
    if (json::key_equals(member->key, "requestId")) {
      parts.request_id = json::decode_string(member->value);
    }
    if (json::key_equals(member->key, "model")) parts.model = json::decode_string(member->value);
    if (json::key_equals(member->key, "provider")) {
      parts.provider = json::decode_string(member->value);
    }
  }
  return parts;
}

bool is_type(const Member& part, std::string_view type) {
  const auto found = json::find_member(part.value, "type");
  return found && found->kind == Kind::kString && json::decode_string(found->value) == type;
}

bool is_only_tool_results(const Member& content) {
  if (content.kind != Kind::kArray) return false;
  json::ElementWalk walk(content.value);
  bool any = false;
  while (const auto part = walk.next()) {
    if (!is_type(*part, "tool_result")) return false;
    any = true;
  }
  return any;
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

std::string first_words(const Member& content) {
  if (content.kind == Kind::kString) return first_line(content.value);
  if (content.kind != Kind::kArray) return {};
  json::ElementWalk walk(content.value);
  while (const auto part = walk.next()) {
    if (!is_type(*part, "text")) continue;
    const auto text = json::find_member(part->value, "text");
    if (!text || text->kind != Kind::kString) continue;
    if (std::string line = first_line(text->value); !line.empty()) return line;
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

void add_message(SessionRow& row, const Envelope& envelope, bool redacted) {
  const MessageParts parts = read_message(envelope.payload);
  if (!parts.model.empty()) row.summary.model = parts.model;
  if (!parts.provider.empty()) row.summary.provider = parts.provider;
  // What was used stays used when the text is redacted.
  if (!parts.usage.empty()) count_usage(row, parts.request_id, read_usage(parts.usage));
  if (parts.role != "\"user\"" || is_only_tool_results(parts.content)) return;
  ++row.summary.counts.messages;
  ++row.summary.totals.messages;
  if (row.first_words.empty() && !redacted) row.first_words = first_words(parts.content);
}

// A `usage` fact is the usage itself, or has it in a member of that name.
void add_usage_fact(SessionRow& row, const Envelope& envelope) {
  const MessageParts parts = read_message(envelope.payload);
  if (!parts.model.empty()) row.summary.model = parts.model;
  if (!parts.provider.empty()) row.summary.provider = parts.provider;
  count_usage(row, parts.request_id,
              read_usage(parts.usage.empty() ? envelope.payload : parts.usage));
}

void add_entry(SessionRow& row, const StoredEntry& stored, bool first, bool redacted) {
  Envelope envelope = read_envelope(stored.text);
  if (stored.adopted) adopt(envelope, stored.text);
  if (const auto time = parse_timestamp(envelope.timestamp.view())) {
    row.newest_ms = *time;
  }
  switch (stored.place.type) {
    case EntryType::kSessionHeader:
      if (first) add_header(row, envelope);
      break;
    case EntryType::kSessionInfo:
      if (!redacted) row.info.apply(read_session_info(envelope.payload));
      break;
    case EntryType::kMessage:
      add_message(row, envelope, redacted);
      break;
    case EntryType::kUsage:
      add_usage_fact(row, envelope);
      break;
    case EntryType::kModelChange: {
      const MessageParts parts = read_message(envelope.payload);
      if (!parts.model.empty()) row.summary.model = parts.model;
      if (!parts.provider.empty()) row.summary.provider = parts.provider;
      break;
    }
    case EntryType::kContextReset:
      row.summary.counts = {};
      for (CountedRequest& request : row.requests) request.before_reset = true;
      break;
    default:
      break;
  }
}

// The row's entries are the first of this log, and nothing that was added since
// changes what they said.
Result<bool> goes_on(const SessionRow& known, const LogView& own, const LogFacts& facts) {
  const LogCursor& cursor = known.cursor;
  const FoldState& fold = own.fold();
  if (cursor.entries == 0 || cursor.entries > fold.count) return false;
  // The same size at another time: whatever it was, it was no append.
  if (cursor.entries == fold.count && cursor.modified_ms != facts.modified_ms) return false;
  TRY_ASSIGN(const StoredEntry last, own.entry(cursor.entries - 1));
  if (crc32c(last.text) != cursor.tail_crc) return false;
  const Ordinal redaction = fold.last_fact[static_cast<std::size_t>(EntryType::kRedaction)];
  return redaction == kNone || redaction - fold.base < cursor.entries;
}

}  // namespace

bool is_fresh(const LogCursor& cursor, const SurveyedLog& log) {
  return cursor.device == log.device && cursor.inode == log.inode &&
         cursor.settled_bytes == log.bytes && cursor.modified_ms == log.modified_ms;
}

Result<SessionRow> fold_session(Backend& backend, const SurveyedLog& log, const SessionRow* known) {
  // Before the log is looked at: a change in between is then found the next time.
  TRY_ASSIGN(const LogFacts facts, backend.facts(log.session_id));
  TRY_ASSIGN(const auto lineage, backend.lineage(log.session_id));
  const LogView& own = lineage->own();
  const Ordinal base = lineage->base();

  SessionRow row;
  if (known != nullptr && known->cursor.device == log.device && known->cursor.inode == log.inode) {
    TRY_ASSIGN(const bool grown, goes_on(*known, own, facts));
    if (grown) row = *known;
  }
  row.session_id = log.session_id;
  const Ordinal count = own.fold().count;
  for (Ordinal next = row.cursor.entries; next < count; ++next) {
    TRY_ASSIGN(const StoredEntry stored, own.entry(next));
    add_entry(row, stored, next == 0, lineage->is_redacted(base + next));
    if (next + 1 == count) row.cursor.tail_crc = crc32c(stored.text);
  }
  row.cursor.device = log.device;
  row.cursor.inode = log.inode;
  row.cursor.settled_bytes = own.settled_bytes();
  row.cursor.modified_ms = facts.modified_ms;
  row.cursor.entries = count;
  row.summary.log_bytes = facts.bytes;
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
