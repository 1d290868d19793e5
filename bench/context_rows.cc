#include <simdjson.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <iostream>

#include "measure.h"
#include "quipu/context.h"
#include "raw_log.h"
#include "rows.h"

namespace quipu::bench {
namespace {

constexpr std::uint32_t kAfterCompaction = 200;
constexpr std::uint32_t kKeptBefore = 20;
constexpr double kMilliseconds = 1e6;

using Kind = Bar::Kind;

ContextOptions options(bool full) {
  ContextOptions wanted;
  wanted.provider = Provider::kAnthropic;
  wanted.full = full;
  return wanted;
}

quipu::Context resume(const Fixture& fixture, const std::string& session, bool full) {
  Store store = fixture.open_store();
  return must(build_context(store, session, options(full)), "build_context");
}

double resume_cost(const Fixture& fixture, const std::string& session, bool full) {
  const Stopwatch watch;
  const quipu::Context context = resume(fixture, session, full);
  const double cost = watch.nanoseconds();
  check(context.messages > 0, "an empty context");
  return cost;
}

// Where the lines of the path are in the log.
std::vector<std::pair<std::size_t, std::size_t>> path_lines(const Fixture& fixture,
                                                            const std::string& session) {
  Store store = fixture.open_store();
  const auto tree = must(store.sessions().session_tree(session), "session_tree");
  const MappedFile file(fixture.log_path(session));
  std::vector<std::pair<std::size_t, std::size_t>> lines;
  for (std::size_t at = 0; at < file.text().size();) {
    const std::size_t feed = file.text().find('\n', at);
    lines.emplace_back(at, feed - at);
    at = feed + 1;
  }
  std::vector<std::pair<std::size_t, std::size_t>> path;
  for (const auto entry : tree.path(tree.head().value())) path.push_back(lines.at(entry));
  return path;
}

// The least that any reader must do: map the log, parse what the path consists of.
double parse_path(const Fixture& fixture, const std::string& session,
                  const std::vector<std::pair<std::size_t, std::size_t>>& path,
                  simdjson::dom::parser& parser) {
  const Stopwatch watch;
  const MappedFile file(fixture.log_path(session));
  std::size_t objects = 0;
  for (const auto& [offset, bytes] : path) {
    const bool is_padded = offset + bytes + simdjson::SIMDJSON_PADDING <= file.text().size();
    simdjson::dom::element element;
    const auto error = parser.parse(file.text().data() + offset, bytes, !is_padded).get(element);
    if (error == simdjson::SUCCESS && element.is_object()) ++objects;
  }
  const double cost = watch.nanoseconds();
  check(objects == path.size(), "simdjson found another number of objects");
  return cost;
}

// One compaction, then some more of the same work.
void compact_near_the_end(const Fixture& fixture, Session& session) {
  Store store = fixture.open_store();
  const auto tree = must(store.sessions().session_tree(session.id), "session_tree");
  const auto path = tree.path(tree.head().value());
  const std::string kept =
      must(tree.id(path.at(path.size() - std::min<std::size_t>(kKeptBefore, path.size()))), "id");
  NewEntry summary;
  summary.type = "compaction_summary";
  summary.payload =
      R"({"summary":"So far so good.","firstKeptEntryId":")" + kept + R"(","checkpoint":[]})";
  must(store.sessions().append_session_entries(session.id, {&summary, 1}), "append");
  for (std::uint32_t i = 0; i < kAfterCompaction; ++i) {
    NewEntry entry = session.work.next();
    entry.parent = Parent::head();
    must(store.sessions().append_session_entries(session.id, {&entry, 1},
                                                 with(Durability::kRelaxed)),
         "append");
  }
  must(store.close(), "close");
}

// Start of a program to the end of it: a small one, as an agent would be. What this one is linked
// with takes longer to load than a context to be made.
double process_cost(const Fixture& fixture, const std::string& session) {
  const std::string store = fixture.store_path().string();
  const char* const arguments[] = {"context_probe", store.c_str(), session.c_str(), nullptr};
  const Stopwatch watch;
  pid_t child = -1;
  // Not fork: it would copy the page tables of a benchmark that has mapped much.
  check(::posix_spawn(&child, CONTEXT_PROBE, nullptr, nullptr, const_cast<char* const*>(arguments),
                      environ) == 0,
        "posix_spawn");
  int status = 0;
  check(::waitpid(child, &status, 0) == child && status == 0, "the context probe failed");
  return watch.nanoseconds();
}

Row whole_path_row(Fixture& fixture) {
  const std::uint32_t entries = fixture.sizes().context_entries;
  const Session& session = fixture.session(entries);
  const auto path = path_lines(fixture, session.id);
  simdjson::dom::parser parser;
  const Rounds rounds =
      take_turns(fixture.sizes().rebuild_rounds,
                 {[&](std::size_t) { return resume_cost(fixture, session.id, true); },
                  [&](std::size_t) { return parse_path(fixture, session.id, path, parser); }});
  return {
      .name = "open and request, " + std::to_string(entries) + " entries / simdjson over the path",
      .ours = rounds.cost(0),
      .other = rounds.cost(1),
      .ratio = rounds.ratio(0, 1),
      .bar = Bar{Kind::kRatioAtMost, 1.5}};
}

}  // namespace

// Last of all rows: it adds to the sessions that others compare.
std::vector<Row> context_rows(Fixture& fixture) {
  std::vector<Row> rows = {whole_path_row(fixture)};
  Session& small = fixture.session(fixture.sizes().context_entries);
  Session& big = fixture.biggest();
  compact_near_the_end(fixture, small);
  if (&small != &big) compact_near_the_end(fixture, big);
  const Rounds rounds =
      take_turns(fixture.sizes().open_rounds,
                 {[&](std::size_t) { return resume_cost(fixture, big.id, false); },
                  [&](std::size_t) { return resume_cost(fixture, small.id, false); },
                  [&](std::size_t) { return process_cost(fixture, big.id); }});
  const std::string size = std::to_string(big.work.count());
  rows.push_back({.name = "open and request, " + size + " entries, compacted",
                  .ours = rounds.cost(0),
                  .bar = Bar{Kind::kOursAtMost, 1.5 * kMilliseconds}});
  rows.push_back({.name = "the same / at " + std::to_string(small.work.count()),
                  .ours = rounds.cost(0),
                  .other = rounds.cost(1),
                  .ratio = rounds.ratio(0, 1),
                  .bar = Bar{Kind::kRatioAtMost, 1.2}});
  rows.push_back({.name = "the same, a whole process",
                  .ours = rounds.cost(2),
                  .bar = Bar{Kind::kOursAtMost, 6 * kMilliseconds}});
  return rows;
}

}  // namespace quipu::bench
