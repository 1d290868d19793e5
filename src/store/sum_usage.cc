#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "backend/backend.h"
#include "base/json_scan.h"
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/carry.h"
#include "dialect/dialect.h"
#include "dialect/lift.h"
#include "quipu/usage.h"
#include "store/guarded.h"

namespace quipu {
namespace {

constexpr std::size_t kDayChars = 10;  // of an RFC 3339 timestamp

// One request, as far as it is known.
struct Request {
  std::size_t session = 0;
  std::string day;
  std::string model;
  UsageSum used;
};

UsageSum used_of(const Usage& usage) {
  UsageSum used;
  used.requests = 1;
  used.tokens_in = usage.tokens_in.value_or(0);
  used.tokens_out = usage.tokens_out.value_or(0);
  used.cache_read = usage.cache_read.value_or(0);
  used.cache_write = usage.cache_write.value_or(0);
  used.reasoning = usage.reasoning.value_or(0);
  const double cost = usage.cost_usd.value_or(0);
  used.cost_nano_usd = std::abs(cost) < 1e9 ? std::llround(cost * 1e9) : 0;
  return used;
}

class Sums {
 public:
  Sums(Store& store, const UsageOptions& options) : store_(store), options_(options) {}

  Result<UsageTable> run() {
    TRY_ASSIGN(auto page, store_.sessions().list_sessions(
                              {.project = options_.project},
                              {.after = {}, .limit = std::numeric_limits<std::size_t>::max()}));
    sessions_ = std::move(page.items);
    // Copies come after what they are copies of.
    std::stable_sort(sessions_.begin(), sessions_.end(), [](const auto& a, const auto& b) {
      return a.created != b.created ? a.created < b.created : a.session_id < b.session_id;
    });
    std::set<std::string> ids;
    for (const SessionSummary& session : sessions_) ids.insert(session.session_id);
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      // The model's side of a conversation knows better what it took.
      const bool is_said_twice = ids.contains(sessions_[i].model_session);
      if (sessions_[i].problem.empty() && !is_said_twice) TRY(read(i));
    }
    return table();
  }

 private:
  Result<void> read(std::size_t session) {
    auto lineage = store_.sessions().lineage(sessions_[session].session_id);
    // Gone since it was listed.
    if (!lineage.ok() && lineage.error().code() == Code::kNotFound) return {};
    if (!lineage.ok()) return std::move(lineage).error();
    const LogView& log = (*lineage)->own();
    memory_.clear();
    for (Ordinal at = 0; at < log.fold().count; ++at) {
      TRY_ASSIGN(const StoredEntry stored, log.entry(at));
      Envelope envelope = read_envelope(stored.text);
      if (stored.adopted) adopt(envelope, stored.text);
      take(session, stored.place.type, envelope);
    }
    return {};
  }

  void take(std::size_t session, EntryType code, const Envelope& envelope) {
    const std::string_view type = envelope.type.view();
    if (const auto record = dialect::record_type(type); record.dialect != nullptr) {
      std::deque<std::string> owned;
      dialect::Note note;
      note.memory = std::move(memory_);
      record.dialect->note(record.kind, dialect::understood(envelope.payload, owned), note);
      memory_ = std::move(note.memory);
      for (const dialect::UsageNote& usage : note.usage) {
        add(session, envelope, usage.key, usage.model, used_of(usage.usage));
      }
    } else if (code == EntryType::kUsage) {
      const auto inner = json::find_member(envelope.payload, "usage");
      const bool is_inner = inner && inner->kind == json::Kind::kObject;
      add(session, envelope, text_in(envelope.payload, "requestId"),
          text_in(envelope.payload, "model"),
          used_of(read_usage(is_inner ? inner->value : envelope.payload)));
    } else if (dialect::carries_message(type)) {
      std::vector<PartView> parts;
      const MessageView message = dialect::lift(type, envelope.payload, parts);
      if (message.usage.empty()) return;
      add(session, envelope, text_of(message.request_id), text_of(message.model),
          used_of(read_usage(message.usage)));
    }
  }

  static std::string text_of(std::string_view token) {
    return token.empty() ? std::string() : json::decode_string(token);
  }
  static std::string text_in(std::string_view object, std::string_view key) {
    const auto member = json::find_member(object, key);
    return member && member->kind == json::Kind::kString ? text_of(member->value) : std::string();
  }

  void add(std::size_t session, const Envelope& envelope, std::string key, std::string model,
           UsageSum used) {
    const auto time = parse_timestamp(envelope.timestamp.view());
    if (options_.from_ms && (!time || *time < *options_.from_ms)) return;
    if (options_.to_ms && (!time || *time >= *options_.to_ms)) return;
    if (key.empty()) {
      key = sessions_[session].session_id + "\n" + std::string(envelope.id.view());
    }
    const auto [at, is_new] = requests_.try_emplace(std::move(key));
    Request& request = at->second;
    if (!is_new && request.session != session) return;
    request = {.session = session,
               .day = std::string(envelope.timestamp.view().substr(0, kDayChars)),
               .model = std::move(model),
               .used = std::move(used)};
  }

  const std::string& name_of(const Request& request) const {
    const SessionSummary& session = sessions_[request.session];
    switch (options_.by) {
      case UsageBy::kDay:
        return request.day;
      case UsageBy::kAgent:
        return session.agent_id;
      case UsageBy::kModel:
        return request.model.empty() ? session.model : request.model;
      case UsageBy::kProject:
        return session.project_id;
      case UsageBy::kSession:
        break;
    }
    return session.session_id;
  }

  UsageTable table() const {
    std::map<std::string, UsageSum> rows;
    UsageTable table;
    for (const auto& [key, request] : requests_) {
      rows[name_of(request)] += request.used;
      table.total += request.used;
    }
    for (auto& [name, sum] : rows) {
      sum.name = name;
      table.rows.push_back(std::move(sum));
    }
    return table;
  }

  Store& store_;
  const UsageOptions& options_;
  std::vector<SessionSummary> sessions_;
  std::string memory_;  // see dialect::Note
  std::unordered_map<std::string, Request> requests_;
};

}  // namespace

UsageSum& UsageSum::operator+=(const UsageSum& more) {
  requests += more.requests;
  tokens_in += more.tokens_in;
  tokens_out += more.tokens_out;
  cache_read += more.cache_read;
  cache_write += more.cache_write;
  reasoning += more.reasoning;
  cost_nano_usd += more.cost_nano_usd;
  return *this;
}

Result<UsageTable> sum_usage(Store& store, const UsageOptions& options) {
  return guarded([&] { return Sums(store, options).run(); });
}

}  // namespace quipu
