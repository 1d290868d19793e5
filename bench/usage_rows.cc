#include <algorithm>
#include <filesystem>

#include "measure.h"
#include "quipu/usage.h"
#include "rows.h"

namespace quipu::bench {
namespace {

using Kind = Bar::Kind;

constexpr std::size_t kRequestsEach = 20;

Store open_usage_store(const Fixture& fixture) {
  StoreOptions options;
  options.create = true;
  return must(Store::open(fixture.file("usage").string(), options), "open");
}

// Requests of a few models on many days. Every tenth session is a copy of the one before.
void fill(Store& store, std::size_t sessions) {
  for (std::size_t i = 0; i < sessions; ++i) {
    NewSession session;
    session.id = "s" + std::to_string(i);
    session.project_id = "project-" + std::to_string(i % 20);
    session.agent_id = "agent-" + std::to_string(i % 3);
    must(store.sessions().create_session(session), "create");
    const std::size_t from = i % 10 == 9 ? i - 1 : i;
    std::vector<NewEntry> entries;
    for (std::size_t n = 0; n < kRequestsEach; ++n) {
      NewEntry entry;
      entry.type = "message";
      entry.timestamp = "2026-0" + std::to_string(1 + i % 9) + "-" + std::to_string(10 + i % 19) +
                        "T09:30:00.000Z";
      entry.payload = R"({"role":"assistant","content":"Nothing.","model":"some-model-)" +
                      std::to_string(n % 4) + R"(","provider":"acme","requestId":"r)" +
                      std::to_string(from) + "." + std::to_string(n) +
                      R"(","usage":{"tokensIn":1200,"tokensOut":80,"cacheRead":43000,)" +
                      (n % 2 == 0 ? R"("costUsd":0.004,)" : "") + R"("latencyMs":)" +
                      std::to_string(900 + n) + "}}";
      entries.push_back(std::move(entry));
    }
    must(store.sessions().append_session_entries(session.id, entries, with(Durability::kRelaxed)),
         "append");
  }
}

const PriceList& prices() {
  static const PriceList kPrices =
      must(PriceList::parse(R"({"version":1,"updated":"2026-01-01","currency":"USD","models":[)"
                            R"({"match":"some-*","inputPerMTok":1,"outputPerMTok":2,)"
                            R"("cacheReadPerMTok":0.1}]})"),
           "prices");
  return kPrices;
}

double report_cost(Store& store, std::size_t sessions) {
  const Stopwatch watch;
  const auto report = UsageStore(store).aggregate(
      {.by = UsageBy::kDay, .project = ProjectScope::all(), .prices = &prices()});
  const double cost = watch.nanoseconds();
  const std::size_t copies = sessions / 10;
  check(report.ok() && report->total.requests == (sessions - copies) * kRequestsEach &&
            report->total.unpriced == 0,
        "another number of requests");
  return cost;
}

double new_process_cost(const Fixture& fixture, std::size_t sessions) {
  const Stopwatch watch;
  Store store = open_usage_store(fixture);
  report_cost(store, sessions);
  return watch.nanoseconds();
}

}  // namespace

std::vector<Row> usage_rows(Fixture& fixture) {
  const std::size_t sessions = fixture.sizes().catalogue_sessions;
  const std::size_t rounds = std::max<std::size_t>(fixture.sizes().catalogue_rounds / 4, 1);
  Store store = open_usage_store(fixture);
  fill(store, sessions);
  const double from_nothing = report_cost(store, sessions);
  const double warm = median_cost(rounds, [&](std::size_t) { report_cost(store, sessions); });
  const double cold =
      median_cost(rounds, [&](std::size_t) { new_process_cost(fixture, sessions); });
  must(store.close(), "close");
  const double bytes =
      static_cast<double>(std::filesystem::file_size(fixture.file("usage") / "usage.db"));
  const std::string of = " of " + std::to_string(sessions) + " sessions, " +
                         std::to_string(kRequestsEach) + " requests each";
  return {{.name = "usage by day" + of + ", nothing new",
           .ours = warm,
           .bar = Bar{Kind::kOursAtMost, 100e6}},
          {.name = "usage by day in a new process" + of,
           .ours = cold,
           .bar = Bar{Kind::kOursAtMost, 100e6}},
          {.name = "usage without usage.db and views.db" + of, .ours = from_nothing},
          {.name = "usage.db, bytes a request" + of,
           .unit = Unit::kBytes,
           .ours = bytes / static_cast<double>(sessions * kRequestsEach)}};
}

}  // namespace quipu::bench
