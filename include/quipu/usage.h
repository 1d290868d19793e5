// Usage: what the requests to models took, each counted once.
//
// Agents write down what a request used more than once: line by line while it is
// answered, again in copies of a session, again in what a sub-agent is told. A request
// has a key that is the same everywhere; the last that a session says of it counts, and
// of several sessions the oldest. So every request has one place, one time and one
// model, whatever is asked: the sums of all days, of all models and of all projects are
// the same sum.
//
//   quipu::UsageStore usage(store);
//   auto report = usage.aggregate({.by = UsageBy::kModel, .project = ProjectScope::all()});
//
// Usage that is in no session (of a proxy, of a program without one) is added here. It is
// kept in a log of its own, `system/usage`, as durably as everything else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/catalogue.h"
#include "quipu/message.h"
#include "quipu/prices.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

/// Days, weeks (ISO 8601, from Monday on) and months are those of the query's time zone.
enum class UsageBy : unsigned char { kDay, kWeek, kMonth, kAgent, kModel, kProject, kSession };

/// Which requests, and how they are put together. All that is given must hold.
struct UsageQuery {
  UsageBy by = UsageBy::kDay;
  /// Divides each group once more.
  std::optional<UsageBy> then_by{};
  ProjectScope project;
  std::optional<std::string> agent{};
  /// A name; `*` in it stands for any text.
  std::optional<std::string> model{};
  /// At or after, and before. A request without a time is in no range.
  std::optional<std::int64_t> from_ms{};
  std::optional<std::int64_t> to_ms{};
  /// For requests whose cost nobody recorded. Null: they have none.
  const PriceList* prices = nullptr;
  /// How far local time is ahead of UTC at that moment. Null: UTC.
  std::function<std::int64_t(std::int64_t unix_ms)> utc_offset_ms{};
};

/// How long answers took, where somebody measured. Percentiles by nearest rank: at least
/// that share of them took at most so long.
struct UsageLatency {
  std::uint64_t requests = 0;  // that have one
  std::uint64_t p50_ms = 0;
  std::uint64_t p90_ms = 0;
  std::uint64_t p99_ms = 0;

  bool operator==(const UsageLatency&) const = default;
};

struct UsageSum {
  std::uint64_t requests = 0;
  std::uint64_t tokens_in = 0;  // neither from the cache nor into it
  std::uint64_t tokens_out = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_write = 0;
  std::uint64_t reasoning = 0;  // part of tokens_out
  /// Billionths of a US dollar: what was recorded, and what prices make of the rest. A
  /// recorded 0 beside tokens is what agents write when they do not know, and counts as
  /// nothing recorded.
  std::int64_t cost_recorded_nano_usd = 0;
  std::int64_t cost_computed_nano_usd = 0;
  /// Requests that have no cost of either kind. While there are some, the cost is a lower
  /// bound; when these are all, it is not known.
  std::uint64_t unpriced = 0;
  UsageLatency latency{};

  bool operator==(const UsageSum&) const = default;
  bool has_cost() const { return unpriced < requests; }
  std::int64_t cost_nano_usd() const { return cost_recorded_nano_usd + cost_computed_nano_usd; }
};

struct UsageGroup {
  /// "2026-03-01", "2026-W09", "2026-03"; an agent, a model; the id of a project or a
  /// session. Empty: not said.
  std::string name{};
  UsageSum sum{};
  std::vector<UsageGroup> parts{};  // by `then_by`

  bool operator==(const UsageGroup&) const = default;
};

struct UsageReport {
  std::vector<UsageGroup> groups{};  // by name
  UsageSum total{};
  /// Requests without a cost, by model.
  std::vector<UsageGroup> unpriced{};
  /// Sessions that could not be read, and why. They are not counted.
  struct Unread {
    std::string session_id;
    std::string problem;
  };
  std::vector<Unread> unread{};
};

/// A request that no session speaks of, or not of all of it.
struct UsageRecord {
  /// Required. What sessions call the same request: `requestId` of a message.
  std::string request_id{};
  std::string timestamp{};  // RFC 3339, UTC; empty: now
  std::string model{};
  std::string provider{};
  /// Empty: those of the session, if it is there.
  std::string agent_id{};
  std::string project_id{};
  std::string session_id{};
  Usage usage{};
};

/// Reads one from a JSON object with members as above in camelCase (`requestId`, `model`,
/// `usage`: {`tokensIn`, `costUsd`, `latencyMs` …}). `invalid_argument` for what is not
/// understood: nothing is left out in silence.
Result<UsageRecord> read_usage_record(std::string_view json);

struct UsageAdded {
  std::uint64_t added = 0;
  /// Recorded before, or twice in the call, with the same content.
  std::uint64_t present = 0;
};

/// Thread-safety: every call from every thread. The store must outlive it.
class UsageStore {
 public:
  explicit UsageStore(Store& store) : store_(store) {}

  /// Records requests, all of them or none. Durable on return. A request is recorded once:
  /// again with the same content it is passed over, with another the answer is `id_conflict`
  /// and nothing is stored. Where a session speaks of the same request, the session counts, and of
  /// the record only the cost and the latency that the session does not say.
  /// `invalid_argument` for a record without `request_id`, with a time that is none or a negative
  /// cost; `too_large` for more than kBatchEntriesMax at once; and the errors of an append.
  Result<UsageAdded> add(std::span<const UsageRecord> records);

  /// Reads what was appended to the store's logs since somebody asked; what was read before
  /// is kept beside the catalogue (`usage.db`), which may be deleted at any moment. Fails only
  /// when the logs cannot be listed.
  Result<UsageReport> aggregate(const UsageQuery& query);

 private:
  Store& store_;
};

}  // namespace quipu
