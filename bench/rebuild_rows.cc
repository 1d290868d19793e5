#include <simdjson.h>

#include <cstring>
#include <fstream>

#include "measure.h"
#include "raw_log.h"
#include "rows.h"

namespace quipu::bench {
namespace {

// Nanoseconds for each byte of the log.
double per_byte(const Fixture& fixture, const std::string& session_id, double cost) {
  return cost / static_cast<double>(std::filesystem::file_size(fixture.log_path(session_id)));
}

// A writer that finds no index makes one and writes it down.
double rebuild_by_append(const Fixture& fixture, const std::string& session_id) {
  std::filesystem::remove(fixture.index_path(session_id));
  Store store = fixture.open_store();
  const NewEntry entry = message("{}");
  const Stopwatch watch;
  const auto result =
      store.sessions().append_session_entries(session_id, {&entry, 1}, with(Durability::kRelaxed));
  const double cost = watch.nanoseconds();
  check(result.ok() && std::filesystem::exists(fixture.index_path(session_id)),
        "an append made no index");
  return per_byte(fixture, session_id, cost);
}

// A reader makes one in memory: it never writes.
double rebuild_by_read(const Fixture& fixture, const std::string& session_id,
                       std::uint32_t entries_min) {
  std::filesystem::remove(fixture.index_path(session_id));
  Store store = fixture.open_store();
  const Stopwatch watch;
  const auto summary = store.sessions().session_ends(session_id);
  const double cost = watch.nanoseconds();
  check(summary.ok() && summary->entries >= entries_min && summary->damaged == 0,
        "a rebuilt index misses entries");
  return per_byte(fixture, session_id, cost);
}

double scan_for_lines(const Fixture& fixture, const std::string& session_id) {
  const Stopwatch watch;
  const MappedFile file(fixture.log_path(session_id));
  std::size_t lines = 0;
  const std::string_view text = file.text();
  for (const char* at = text.data(); at != nullptr; ++lines) {
    const auto left = static_cast<std::size_t>(text.data() + text.size() - at);
    at = static_cast<const char*>(std::memchr(at, '\n', left));
    if (at != nullptr) ++at;
  }
  consume(&lines);
  return per_byte(fixture, session_id, watch.nanoseconds());
}

double parse_with_simdjson(simdjson::dom::parser& parser, const simdjson::padded_string& text,
                           std::uint32_t entries) {
  const Stopwatch watch;
  std::uint32_t objects = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const auto* feed = static_cast<const char*>(std::memchr(at, '\n', end - at));
    simdjson::dom::element element;
    const auto error = parser.parse(at, static_cast<std::size_t>(feed - at), false).get(element);
    if (error == simdjson::SUCCESS && element.is_object()) ++objects;
    at = feed + 1;
  }
  const double cost = watch.nanoseconds();
  check(objects == entries, "simdjson found another number of objects");
  return cost / static_cast<double>(text.size());
}

// A session as another program leaves it: no header, no seals, members in an order of its own.
void write_foreign_session(const std::filesystem::path& path, Workload& work,
                           std::uint32_t entries) {
  std::ofstream out(path, std::ios::binary);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const NewEntry entry = work.next();
    const std::uint32_t parent = work.parents().back();
    out << "{\"type\":\"message\",\"id\":\"" << entry.id << "\",\"parentId\":";
    if (parent == kNoParent) {
      out << "null";
    } else {
      out << '"' << work.id(parent) << '"';
    }
    out << ",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":" << entry.payload << "}\n";
  }
  out.flush();
  check(out.good(), "cannot write " + path.string());
}

}  // namespace

std::vector<Row> rebuild_rows(Fixture& fixture) {
  const Session& session = fixture.biggest();
  const Rounds rounds = take_turns(
      fixture.sizes().rebuild_rounds,
      {[&](std::size_t) { return rebuild_by_append(fixture, session.id); },
       [&](std::size_t) { return rebuild_by_read(fixture, session.id, session.work.count() + 1); },
       [&](std::size_t) { return scan_for_lines(fixture, session.id); }});
  // The rounds end without an index or with one; the next rows want it.
  rebuild_by_append(fixture, session.id);
  const auto row = [&](std::string name, std::size_t contender) {
    return Row{.name = std::move(name),
               .unit = Unit::kBytesPerSecond,
               .ours = 1e9 / rounds.cost(contender),
               .other = 1e9 / rounds.cost(2),
               .ratio = rounds.ratio(2, contender),
               .bar = Bar{Bar::Kind::kOursAtLeast, 2e9}};
  };
  return {row("index rebuild by a writer, own lines / newline scan", 0),
          row("index rebuild by a reader, own lines / newline scan", 1)};
}

std::vector<Row> foreign_rows(Fixture& fixture) {
  const std::string id = "foreign";
  const std::uint32_t entries = fixture.sizes().foreign_entries;
  Workload work(0xfffe);
  write_foreign_session(fixture.log_path(id), work, entries);
  fixture.count_work(work);
  fixture.scratch().settle();
  const auto text = simdjson::padded_string::load(fixture.log_path(id).string());
  check(text.error() == simdjson::SUCCESS, "cannot read the foreign log");
  simdjson::dom::parser parser;
  const Rounds rounds = take_turns(
      fixture.sizes().rebuild_rounds,
      {[&](std::size_t) { return rebuild_by_read(fixture, id, entries); },
       [&](std::size_t) { return parse_with_simdjson(parser, text.value_unsafe(), entries); }});
  return {{.name = "index rebuild, foreign lines / simdjson DOM",
           .unit = Unit::kBytesPerSecond,
           .ours = 1e9 / rounds.cost(0),
           .other = 1e9 / rounds.cost(1),
           .ratio = rounds.ratio(1, 0),
           .bar = Bar{Bar::Kind::kRatioAtLeast, 0.7}}};
}

}  // namespace quipu::bench
