#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "measure.h"
#include "raw_log.h"
#include "rows.h"
#include "sqlite_log.h"

namespace quipu::bench {
namespace {

using Kind = Bar::Kind;

// Hands every contender of a round the same block, made before its clock runs.
class Blocks {
 public:
  Blocks(const Fixture& fixture, Workload& work, std::size_t count)
      : fixture_(fixture), work_(work), count_(count) {}

  const Block& at(std::size_t round) {
    if (round != round_) block_ = fixture_.block(work_, count_);
    round_ = round;
    return block_;
  }

 private:
  const Fixture& fixture_;
  Workload& work_;
  std::size_t count_;
  std::optional<std::size_t> round_;
  Block block_;
};

void append(Store& store, const std::string& session_id, std::span<const NewEntry> entries,
            Durability durability) {
  const auto result =
      store.sessions().append_session_entries(session_id, entries, with(durability));
  if (!result.ok() || result->appended_count != entries.size()) {
    throw CheckFailed(result.ok() ? "an append stored something else" : result.error().message());
  }
}

double append_each(Store& store, const std::string& session_id, const Block& block,
                   Durability durability) {
  return median_cost(block.entries.size(), [&](std::size_t i) {
    append(store, session_id, {&block.entries[i], 1}, durability);
  });
}

// The store's log must have grown by exactly what was written raw.
class SameBytes {
 public:
  SameBytes(const Fixture& fixture, const std::string& session_id, const RawLog& raw)
      : path_(fixture.log_path(session_id)),
        before_(std::filesystem::file_size(path_)),
        raw_(raw) {}
  void verify() const {
    check(std::filesystem::file_size(path_) - before_ == raw_.size(),
          "store and raw file hold different amounts");
  }

 private:
  std::filesystem::path path_;
  std::uint64_t before_;
  const RawLog& raw_;
};

}  // namespace

std::vector<Row> durable_rows(Fixture& fixture) {
  Store store = fixture.open_store();
  Session session = fixture.make_session(store, 100);
  RawLog raw(fixture.file("durable.raw"));
  SqliteLog sqlite(fixture.file("durable.sqlite"));
  const SameBytes same(fixture, session.id, raw);
  Blocks blocks(fixture, session.work, fixture.sizes().durable_block);
  fixture.scratch().settle();
  const Rounds rounds = take_turns(
      fixture.sizes().durable_rounds,
      {[&](std::size_t round) {
         return append_each(store, session.id, blocks.at(round), Durability::kCommit);
       },
       [&](std::size_t round) {
         const auto& lines = blocks.at(round).lines;
         return median_cost(lines.size(), [&](std::size_t i) {
           raw.append(lines[i]);
           raw.sync();
         });
       },
       [&](std::size_t round) {
         const auto& entries = blocks.at(round).entries;
         return median_cost(entries.size(), [&](std::size_t i) { sqlite.append(entries[i]); });
       }});
  same.verify();
  check(sqlite.count() + 100 == session.work.count(), "SQLite holds another number of entries");
  must(store.close(), "close");
  return {{.name = "durable append, p50 / raw write+fdatasync",
           .ours = rounds.cost(0),
           .other = rounds.cost(1),
           .ratio = rounds.ratio(0, 1),
           .bar = Bar{Kind::kRatioAtMost, 1.10}},
          {.name = "durable append, p50 / SQLite WAL FULL",
           .ours = rounds.cost(0),
           .other = rounds.cost(2),
           .ratio = rounds.ratio(0, 2),
           .bar = Bar{Kind::kRatioAtMost, 1.0}},
          // Where this is above 1, no log that grows by its appends can be below SQLite.
          {.name = "raw write+fdatasync, p50 / SQLite WAL FULL",
           .ours = rounds.cost(1),
           .other = rounds.cost(2),
           .ratio = rounds.ratio(1, 2)}};
}

std::vector<Row> batch_rows(Fixture& fixture) {
  Store store = fixture.open_store();
  Session session = fixture.make_session(store, 100);
  RawLog raw(fixture.file("batch.raw"));
  const SameBytes same(fixture, session.id, raw);
  const std::size_t count = fixture.sizes().batch_entries;
  Blocks blocks(fixture, session.work, count);
  fixture.scratch().settle();
  const auto per_entry = [&](const std::function<void()>& work) {
    const Stopwatch watch;
    work();
    return watch.nanoseconds() / static_cast<double>(count);
  };
  const Rounds rounds = take_turns(
      fixture.sizes().batch_rounds,
      {[&](std::size_t round) {
         const auto& entries = blocks.at(round).entries;
         return per_entry([&] { append(store, session.id, entries, Durability::kCommit); });
       },
       [&](std::size_t round) {
         std::string all;
         for (const auto& line : blocks.at(round).lines) all += line;
         return per_entry([&] {
           raw.append(all);
           raw.sync();
         });
       }});
  same.verify();
  must(store.close(), "close");
  return {{.name = "durable batch of " + std::to_string(count) + ", per entry / raw",
           .ours = rounds.cost(0),
           .other = rounds.cost(1),
           .ratio = rounds.ratio(0, 1),
           .bar = Bar{Kind::kRatioAtMost, 1.3}}};
}

std::vector<Row> relaxed_rows(Fixture& fixture) {
  Store store = fixture.open_store();
  Session session = fixture.make_session(store, 100);
  Session by_line = fixture.make_session(store, 100);
  RawLog raw(fixture.file("relaxed.raw"));
  SharedRawLog shared(fixture.file("relaxed-shared.raw"));
  const SameBytes same(fixture, session.id, raw);
  Blocks blocks(fixture, session.work, fixture.sizes().relaxed_block);
  fixture.scratch().settle();
  const auto append_line = [&](const NewEntry& entry, const std::string& json) {
    const std::string_view line(json);
    const auto result =
        store.sessions().append_session_lines(by_line.id, {&line, 1}, with(Durability::kRelaxed));
    if (!result.ok()) throw CheckFailed(entry.id + ": " + result.error().message());
  };
  const Rounds rounds = take_turns(
      fixture.sizes().relaxed_rounds,
      {[&](std::size_t round) {
         return append_each(store, session.id, blocks.at(round), Durability::kRelaxed);
       },
       [&](std::size_t round) {
         const auto& lines = blocks.at(round).lines;
         return median_cost(lines.size(), [&](std::size_t i) { raw.append(lines[i]); });
       },
       [&](std::size_t round) {
         const auto& entries = blocks.at(round).entries;
         std::vector<std::string> lines;
         for (const NewEntry& entry : entries) {
           lines.push_back("{\"id\":\"" + entry.id +
                           "\",\"type\":\"message\",\"payload\":" + entry.payload + "}");
         }
         return median_cost(entries.size(),
                            [&](std::size_t i) { append_line(entries[i], lines[i]); });
       },
       [&](std::size_t round) {
         const auto& lines = blocks.at(round).lines;
         return median_cost(lines.size(), [&](std::size_t i) { shared.append(lines[i], false); });
       }});
  same.verify();
  must(store.close(), "close");
  return {{.name = "append without sync, p50 / raw write",
           .ours = rounds.cost(0),
           .other = rounds.cost(1),
           .ratio = rounds.ratio(0, 1),
           .bar = Bar{Kind::kRatioAtMost, 2.0}},
          {.name = "append of a JSON line without sync, p50 / raw write",
           .ours = rounds.cost(2),
           .other = rounds.cost(1),
           .ratio = rounds.ratio(2, 1),
           .bar = Bar{Kind::kRatioAtMost, 2.0}},
          // What the four calls of an append cost, without a store around them.
          {.name = "lock, stat, write, unlock, p50 / raw write",
           .ours = rounds.cost(3),
           .other = rounds.cost(1),
           .ratio = rounds.ratio(3, 1)},
          {.name = "append without sync, p50 / lock, stat, write, unlock",
           .ours = rounds.cost(0),
           .other = rounds.cost(3),
           .ratio = rounds.ratio(0, 3)}};
}

// The smallest session is a new one every round: it would not stay small. Its
// making warms the caches, so the others get as many appends before the clock runs.
std::vector<Row> growth_rows(Fixture& fixture) {
  const auto& sizes = fixture.sizes().sessions;
  for (const std::uint32_t entries : sizes) fixture.session(entries);
  Store store = fixture.open_store();
  // Payloads are the same for all contenders, ids are not: they belong to the session.
  Workload payloads(0xffff);
  Blocks blocks(fixture, payloads, fixture.sizes().relaxed_block / 2);
  const auto append_payloads = [&](Session& session, std::size_t round) {
    Block block;
    for (const NewEntry& source : blocks.at(round).entries) {
      NewEntry& entry = block.entries.emplace_back();
      entry.id = session.id + source.id.substr(session.id.size());
      entry.type = source.type;
      entry.payload = source.payload;
    }
    return append_each(store, session.id, block, Durability::kRelaxed);
  };
  std::vector<Turn> contenders{[&](std::size_t round) {
    Session small = fixture.make_session(store, sizes.front());
    return append_payloads(small, round);
  }};
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    contenders.push_back([&, i](std::size_t round) {
      Session& large = fixture.session(sizes[i]);
      NewEntry filler = message("{}");
      for (std::uint32_t warm = 0; warm < sizes.front(); ++warm) {
        filler.id = "warm-" + std::to_string(round) + "-" + std::to_string(warm);
        append(store, large.id, {&filler, 1}, Durability::kRelaxed);
      }
      return append_payloads(large, round);
    });
  }
  const Rounds rounds = take_turns(fixture.sizes().relaxed_rounds, contenders);
  must(store.close(), "close");
  std::vector<Row> rows;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    rows.push_back({.name = "append at " + std::to_string(sizes[i]) + " entries / at " +
                            std::to_string(sizes.front()),
                    .ours = rounds.cost(i),
                    .other = rounds.cost(0),
                    .ratio = rounds.ratio(i, 0),
                    .bar = Bar{Kind::kRatioAtMost, 1.05}});
  }
  return rows;
}

// All that a new process does before its first append is stored, beside
// starting: nothing is subtracted.
std::vector<Row> open_rows(Fixture& fixture) {
  Session& session = fixture.biggest();
  { RawLog raw(fixture.file("open.raw")); }
  const NewEntry entry = message(R"({"role":"user","content":"go on"})");
  const std::string line(256, ' ');
  const Rounds rounds = take_turns(fixture.sizes().open_rounds,
                                   {[&](std::size_t) {
                                      const Stopwatch watch;
                                      Store store = fixture.open_store();
                                      append(store, session.id, {&entry, 1}, Durability::kRelaxed);
                                      return watch.nanoseconds();
                                    },
                                    [&](std::size_t) {
                                      const Stopwatch watch;
                                      RawLog raw(fixture.file("open.raw"));
                                      raw.append(line);
                                      return watch.nanoseconds();
                                    }});
  return {{.name = "open store and " + std::to_string(session.work.count()) +
                   "-entry session, first append",
           .ours = rounds.cost(0),
           .other = rounds.cost(1),
           .ratio = rounds.ratio(0, 1),
           .bar = Bar{Kind::kOursAtMost, 1e6}}};
}

}  // namespace quipu::bench
