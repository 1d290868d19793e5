#include <algorithm>
#include <filesystem>
#include <optional>

#include "measure.h"
#include "rows.h"
#include "view/catalogue.h"

namespace quipu::bench {
namespace {

using Kind = Bar::Kind;

constexpr std::size_t kPage = 50;
constexpr std::size_t kAppendsPerList = 100;

NewEntry entry_of(std::string type, std::string payload) {
  NewEntry entry;
  entry.type = std::move(type);
  entry.payload = std::move(payload);
  return entry;
}

Store open_catalogue_store(const Fixture& fixture) {
  StoreOptions options;
  options.create = true;
  return must(Store::open(fixture.file("catalogue").string(), options), "open");
}

void fill(Store& store, std::size_t sessions) {
  for (std::size_t i = 0; i < sessions; ++i) {
    NewSession session;
    session.id = "s" + std::to_string(i);
    session.project_id = "project-" + std::to_string(i % 20);
    must(store.sessions().create_session(session), "create");
    const NewEntry entries[] = {
        entry_of("message",
                 R"({"role":"user","content":"What about number )" + std::to_string(i) + R"(?"})"),
        entry_of("message",
                 R"({"role":"assistant","content":"Nothing.","model":"m","requestId":"r",)"
                 R"("usage":{"tokensIn":1200,"tokensOut":80,"costUsd":0.004}})")};
    must(store.sessions().append_session_entries(session.id, entries, with(Durability::kRelaxed)),
         "append");
  }
}

double page_cost(view::Catalogue& catalogue, std::size_t sessions) {
  const Stopwatch watch;
  const auto page = catalogue.query({}, {.after = {}, .limit = kPage});
  const double cost = watch.nanoseconds();
  check(page.ok() && page->total == sessions && page->items.size() == std::min(kPage, sessions),
        "a page of another size");
  const SessionSummary& first = page->items.front();
  check(!first.title.empty() && !first.project_id.empty() && first.counts.tokens_in == 1200 &&
            first.counts.messages == 1,
        "a row that says nothing");
  return cost;
}

double list_cost(Store& store, std::size_t sessions) {
  const Stopwatch watch;
  const auto page = store.sessions().list_sessions({.project = ProjectScope::all()},
                                                   {.after = {}, .limit = kPage});
  const double cost = watch.nanoseconds();
  check(page.ok() && page->total == sessions, "a list of another size");
  return cost;
}

double cold_list_cost(const Fixture& fixture, std::size_t sessions) {
  Store store = open_catalogue_store(fixture);
  return list_cost(store, sessions);
}

}  // namespace

std::vector<Row> catalogue_rows(Fixture& fixture) {
  const std::size_t sessions = fixture.sizes().catalogue_sessions;
  const std::size_t rounds = fixture.sizes().catalogue_rounds;
  Store store = open_catalogue_store(fixture);
  fill(store, sessions);
  const double from_nothing = list_cost(store, sessions);
  view::Catalogue catalogue(store.backend(), nullptr);
  must(catalogue.refresh(), "refresh");
  const double query = median_cost(rounds, [&](std::size_t) { page_cost(catalogue, sessions); });
  const double fresh =
      median_cost(rounds, [&](std::size_t) { must(catalogue.refresh(), "refresh"); });
  const double warm = median_cost(rounds, [&](std::size_t) { list_cost(store, sessions); });
  const double cold = median_cost(std::max<std::size_t>(rounds / 5, 1),
                                  [&](std::size_t) { cold_list_cost(fixture, sessions); });
  must(store.close(), "close");
  const std::string of = " of " + std::to_string(sessions) + " sessions";
  const auto each = [&](double cost) { return cost / static_cast<double>(sessions); };
  return {{.name = "catalogue: newest 50" + of + ", warm",
           .ours = query,
           .bar = Bar{Kind::kOursAtMost, 2e6}},
          {.name = "catalogue: freshness check, per session" + of,
           .ours = each(fresh),
           .bar = Bar{Kind::kOursAtMost, 3e3}},
          {.name = "list_sessions, newest 50" + of + ", nothing new", .ours = warm},
          {.name = "list_sessions in a new process" + of, .ours = cold},
          {.name = "list_sessions without views.db, per session" + of, .ours = each(from_nothing)}};
}

std::vector<Row> listed_append_rows(Fixture& fixture) {
  Store listed = fixture.open_store();
  Store alone = fixture.open_store();
  Session first = fixture.make_session(listed, 100);
  Session second = fixture.make_session(alone, 100);
  std::size_t appended = 0;
  const auto append_each = [&](Store& store, Session& session, bool lists) {
    const Block block = fixture.block(session.work, fixture.sizes().durable_block);
    return median_cost(block.entries.size(), [&](std::size_t i) {
      must(store.sessions().append_session_entries(session.id, {&block.entries[i], 1},
                                                   with(Durability::kCommit)),
           "append");
      if (lists && ++appended % kAppendsPerList == 0) {
        must(store.sessions().list_sessions({.project = ProjectScope::all()}), "list");
      }
    });
  };
  must(listed.sessions().list_sessions({.project = ProjectScope::all()}), "list");
  fixture.scratch().settle();
  const Rounds turns = take_turns(fixture.sizes().durable_rounds,
                                  {[&](std::size_t) { return append_each(listed, first, true); },
                                   [&](std::size_t) { return append_each(alone, second, false); }});
  must(listed.close(), "close");
  must(alone.close(), "close");
  return {{.name = "durable append, listed every 100, p50 / never listed",
           .ours = turns.cost(0),
           .other = turns.cost(1),
           .ratio = turns.ratio(0, 1),
           .bar = Bar{Kind::kRatioAtMost, 1.05}}};
}

}  // namespace quipu::bench
