#include "view/usage_fold.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/crc32c.h"
#include "base/json_scan.h"
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/carry.h"
#include "dialect/dialect.h"
#include "dialect/lift.h"
#include "view/kinship.h"

namespace quipu::view {
namespace {

std::string decoded(std::string_view token) {
  return token.empty() ? std::string() : json::decode_string(token);
}

std::string text_in(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->kind == json::Kind::kString ? decoded(member->value) : std::string();
}

// What an entry says of one request, in words.
struct Said {
  std::string key;  // empty: this entry's own
  std::string model;
  std::string provider;
  Usage usage;
};

class Fold {
 public:
  explicit Fold(UsageRow& row) : row_(row) {
    RequestWalk walk(row);
    for (Request request; walk.next(request);) {
      places_[request.key] = requests_.size();
      requests_.push_back(request);
    }
    for (std::size_t i = 0; i < row.names.size(); ++i) {
      names_.emplace(row.names[i], static_cast<Request::Name>(i));
    }
  }

  void finish() { row_.requests = pack_requests(requests_); }

  // What was used stays used when the text is redacted.
  void add(const StoredEntry& stored) {
    Envelope envelope = read_envelope(stored.text);
    if (stored.adopted) adopt(envelope, stored.text);
    const std::string_view type = envelope.type.view();
    if (const auto record = dialect::record_type(type); record.dialect != nullptr) {
      add_record(record, envelope);
    } else if (stored.place.type == EntryType::kUsage) {
      add_fact(envelope);
    } else if (dialect::carries_message(type)) {
      std::vector<PartView> parts;
      const MessageView message = dialect::lift(type, envelope.payload, parts);
      if (message.usage.empty()) return;
      add_request(envelope, {.key = decoded(message.request_id),
                             .model = decoded(message.model),
                             .provider = decoded(message.provider),
                             .usage = read_usage(message.usage)});
    }
  }

 private:
  void add_record(const dialect::RecordType& record, const Envelope& envelope) {
    std::deque<std::string> owned;
    dialect::Note note;
    note.memory = std::move(row_.note_memory);
    record.dialect->note(record.kind, dialect::understood(envelope.payload, owned), note);
    row_.note_memory = std::move(note.memory);
    for (dialect::UsageNote& usage : note.usage) {
      add_request(envelope, {.key = std::move(usage.key),
                             .model = std::move(usage.model),
                             .provider = std::move(usage.provider),
                             .usage = std::move(usage.usage)});
    }
  }

  // A `usage` fact is the usage itself, or has it in a member of that name.
  void add_fact(const Envelope& envelope) {
    const std::string_view fact = envelope.payload;
    const auto inner = json::find_member(fact, "usage");
    const bool is_inner = inner && inner->kind == json::Kind::kObject;
    Request& request = add_request(envelope, {.key = text_in(fact, "requestId"),
                                              .model = text_in(fact, "model"),
                                              .provider = text_in(fact, "provider"),
                                              .usage = read_usage(is_inner ? inner->value : fact)});
    if (row_.session_id != kUsageLog) return;
    request.agent = name(text_in(fact, "agentId"));
    request.project = name(text_in(fact, "projectId"));
    request.session = name(text_in(fact, "sessionId"));
  }

  // The last that a log says of a request counts.
  Request& add_request(const Envelope& envelope, Said said) {
    if (said.key.empty()) said.key = row_.session_id + "\n" + std::string(envelope.id.view());
    const RequestKey key = hash_key(said.key);
    const auto [place, is_new] = places_.try_emplace(key, requests_.size());
    if (is_new) requests_.emplace_back();
    Request& request = requests_[place->second];
    request = {.key = key};
    request.time_ms = parse_timestamp(envelope.timestamp.view());
    request.model = name(std::move(said.model));
    request.provider = name(std::move(said.provider));
    take_numbers(said.usage, request);
    return request;
  }

  Request::Name name(std::string text) {
    const auto [at, is_new] =
        names_.try_emplace(std::move(text), static_cast<Request::Name>(row_.names.size()));
    if (is_new) row_.names.push_back(at->first);
    return at->second;
  }

  UsageRow& row_;
  std::vector<Request> requests_;
  std::map<RequestKey, std::size_t> places_;
  std::map<std::string, Request::Name> names_;
};

}  // namespace

Result<UsageRow> fold_usage(Backend& backend, const SurveyedLog& log, const SessionSummary& said,
                            const UsageRow* known) {
  TRY_ASSIGN(const auto lineage, backend.lineage(log.session_id));
  const LogView& own = lineage->own();
  UsageRow row;
  if (known != nullptr) {
    TRY_ASSIGN(const bool grown, is_beginning(known->cursor, own, log));
    if (grown) row = *known;
  }
  row.session_id = log.session_id;
  Fold fold(row);
  std::uint32_t tail_crc = row.cursor.tail_crc;
  const Ordinal count = own.fold().count;
  for (Ordinal next = row.cursor.entries; next < count; ++next) {
    TRY_ASSIGN(const StoredEntry stored, own.entry(next));
    fold.add(stored);
    if (next + 1 == count) tail_crc = crc32c(stored.text);
  }
  fold.finish();
  row.cursor = cursor_at_end(log, own, tail_crc);
  row.created = said.created;
  row.agent_id = said.agent_id;
  row.project_id = said.project_id;
  row.model = said.model;
  row.model_session = model_session_of(said);
  return row;
}

}  // namespace quipu::view
