#include <sqlite3.h>

#include <numeric>
#include <optional>
#include <thread>

#include "measure.h"
#include "postgres_log.h"
#include "quipu/context.h"
#include "rows.h"
#include "sqlite_log.h"

namespace quipu::bench {
namespace {

using Kind = Bar::Kind;

Store open_at(const std::string& url) {
  StoreOptions options;
  options.create = true;
  return must(Store::open(url, options), "open");
}

std::string new_session(Store& store) {
  return must(store.sessions().create_session(), "create").session_id;
}

void append(Store& store, const std::string& session, std::span<const NewEntry> entries) {
  const auto added = store.sessions().append_session_entries(session, entries);
  check(added.ok() && added->appended_count == entries.size(),
        added.ok() ? "an append stored something else" : added.error().message());
}

// A conversation of messages as they are, with parts.
std::vector<NewEntry> messages(Workload& work, std::size_t count) {
  std::vector<NewEntry> entries = work.next(count);
  for (NewEntry& entry : entries) entry.parent = {};
  return entries;
}

// What a resume reads: the lines of one session, by plain SQL.
class PlainSelect {
 public:
  PlainSelect(const std::filesystem::path& file, std::string session)
      : session_(std::move(session)) {
    check(sqlite3_open(file.c_str(), &database_) == SQLITE_OK, "sqlite3_open");
    check(sqlite3_prepare_v2(database_,
                             "SELECT line FROM entries WHERE session_id = ?1 ORDER BY ordinal", -1,
                             &statement_, nullptr) == SQLITE_OK,
          "prepare");
  }
  ~PlainSelect() {
    sqlite3_finalize(statement_);
    sqlite3_close(database_);
  }
  PlainSelect(const PlainSelect&) = delete;
  PlainSelect& operator=(const PlainSelect&) = delete;

  std::vector<std::string> read() {
    std::vector<std::string> lines;
    sqlite3_bind_text(statement_, 1, session_.data(), static_cast<int>(session_.size()),
                      SQLITE_STATIC);
    while (sqlite3_step(statement_) == SQLITE_ROW) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, 0));
      lines.emplace_back(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, 0)));
    }
    sqlite3_reset(statement_);
    return lines;
  }

 private:
  std::string session_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

Row sqlite_append(Fixture& fixture) {
  Store store = open_at("sqlite:" + fixture.file("store.db").string());
  SqliteLog bare(fixture.file("bare.sqlite"));
  const std::string session = new_session(store);
  Workload work(77);
  std::vector<NewEntry> block;
  std::optional<std::size_t> made;
  const auto entries = [&](std::size_t round) -> const std::vector<NewEntry>& {
    if (made != round) block = messages(work, fixture.sizes().durable_block);
    made = round;
    return block;
  };
  const Rounds rounds =
      take_turns(fixture.sizes().durable_rounds,
                 {[&](std::size_t round) {
                    const auto& some = entries(round);
                    return median_cost(some.size(), [&](std::size_t i) {
                      append(store, session, {&some[i], 1});
                    });
                  },
                  [&](std::size_t round) {
                    const auto& some = entries(round);
                    return median_cost(some.size(), [&](std::size_t i) { bare.append(some[i]); });
                  }});
  must(store.close(), "close");
  return {.name = "sqlite: durable append, p50 / one-table INSERT",
          .ours = rounds.cost(0),
          .other = rounds.cost(1),
          .ratio = rounds.ratio(0, 1),
          .bar = Bar{Kind::kRatioAtMost, 1.4}};
}

std::vector<Row> sqlite_resume(Fixture& fixture) {
  const auto file = fixture.file("resume.db");
  std::string session;
  {
    Store store = open_at("sqlite:" + file.string());
    session = new_session(store);
    Workload work(78);
    for (std::uint32_t left = fixture.sizes().context_entries; left > 0;) {
      const std::uint32_t count = std::min<std::uint32_t>(left, 500);
      append(store, session, messages(work, count));
      left -= count;
    }
    must(store.close(), "close");
  }
  Store store = open_at("sqlite:" + file.string());
  PlainSelect plain(file, session);
  const Rounds rounds = take_turns(
      fixture.sizes().tree_rounds / 2,
      {[&](std::size_t) {
         const Stopwatch watch;
         auto reader = must(store.sessions().read_session(session), "read");
         std::size_t count = 0;
         while (const auto entry = must(reader.next(), "next")) {
           consume(entry->json.data());
           ++count;
         }
         check(count == fixture.sizes().context_entries + 1, "another number of entries");
         return watch.nanoseconds();
       },
       [&](std::size_t) {
         const Stopwatch watch;
         const auto context = must(build_context(store, session), "build_context");
         check(context.messages > 0, "an empty context");
         return watch.nanoseconds();
       },
       [&](std::size_t) {
         const Stopwatch watch;
         const auto lines = plain.read();
         check(lines.size() == fixture.sizes().context_entries + 1, "rows");
         return watch.nanoseconds();
       }});
  return {{.name = "sqlite: resume, the session's entries / plain SELECT of the rows",
           .ours = rounds.cost(0),
           .other = rounds.cost(2),
           .ratio = rounds.ratio(0, 2),
           .bar = Bar{Kind::kRatioAtMost, 1.2}},
          // A request is made from them, which no SELECT does.
          {.name = "sqlite: the same, and a request made / plain SELECT of the rows",
           .ours = rounds.cost(1),
           .other = rounds.cost(2),
           .ratio = rounds.ratio(1, 2)}};
}

std::vector<Row> postgres_appends(Fixture& fixture, const PostgresServer& server) {
  Store store = open_at(server.url());
  PostgresLog bare(server.url());
  const std::string session = new_session(store);
  Workload work(79);
  std::vector<NewEntry> block;
  std::optional<std::size_t> made;
  std::size_t size = fixture.sizes().durable_block;
  const auto entries = [&](std::size_t round) -> const std::vector<NewEntry>& {
    if (made != round) block = messages(work, size);
    made = round;
    return block;
  };
  const Rounds single =
      take_turns(fixture.sizes().durable_rounds,
                 {[&](std::size_t round) {
                    const auto& some = entries(round);
                    return median_cost(some.size(), [&](std::size_t i) {
                      append(store, session, {&some[i], 1});
                    });
                  },
                  [&](std::size_t round) {
                    const auto& some = entries(round);
                    return median_cost(some.size(), [&](std::size_t i) { bare.append(some[i]); });
                  }});
  size = fixture.sizes().batch_entries;
  made.reset();
  const Rounds batch = take_turns(fixture.sizes().batch_rounds / 2,
                                  {[&](std::size_t round) {
                                     const auto& some = entries(round);
                                     const Stopwatch watch;
                                     append(store, session, some);
                                     return watch.nanoseconds() / static_cast<double>(some.size());
                                   },
                                   [&](std::size_t round) {
                                     const auto& some = entries(round);
                                     const Stopwatch watch;
                                     bare.append_all(some);
                                     return watch.nanoseconds() / static_cast<double>(some.size());
                                   }});
  must(store.close(), "close");
  return {{.name = "postgres: durable append, p50 / one-row INSERT",
           .ours = single.cost(0),
           .other = single.cost(1),
           .ratio = single.ratio(0, 1),
           .bar = Bar{Kind::kRatioAtMost, 1.8}},
          {.name = "postgres: batch of " + std::to_string(size) + ", an entry / pipelined INSERTs",
           .ours = batch.cost(0),
           .other = batch.cost(1),
           .ratio = batch.ratio(0, 1),
           .bar = Bar{Kind::kRatioAtMost, 1.5}}};
}

Row postgres_sessions(Fixture& fixture, const PostgresServer& server) {
  constexpr std::size_t kSessions = 8;
  const std::size_t appends = fixture.sizes().process_appends * 2;
  Store store = open_at(server.url());
  std::vector<std::string> sessions;
  std::vector<std::vector<NewEntry>> work;
  for (std::size_t i = 0; i < kSessions; ++i) {
    sessions.push_back(new_session(store));
    Workload one(static_cast<std::uint32_t>(90 + i));
    work.push_back(messages(one, appends * (fixture.sizes().process_rounds / 5 + 2)));
  }
  std::vector<std::string> payloads;
  for (std::size_t i = 0; i < std::min<std::size_t>(64, work[0].size()); ++i)
    payloads.push_back(work[0][i].payload);
  std::size_t next = 0;
  const Rounds rounds =
      take_turns(fixture.sizes().process_rounds / 5 + 1,
                 {[&](std::size_t) {
                    const Stopwatch watch;
                    std::vector<std::thread> threads;
                    for (std::size_t s = 0; s < kSessions; ++s) {
                      threads.emplace_back([&, s] {
                        for (std::size_t i = 0; i < appends; ++i) {
                          append(store, sessions[s], {&work[s][(next + i) % work[s].size()], 1});
                        }
                      });
                    }
                    for (auto& thread : threads) thread.join();
                    next += appends;
                    return static_cast<double>(kSessions * appends) * 1e9 / watch.nanoseconds();
                  },
                  [&](std::size_t) { return server.pgbench(kSessions, appends, payloads); }});
  return {.name = "postgres: 8 sessions at once / pgbench with the bare INSERT",
          .unit = Unit::kPerSecond,
          .ours = rounds.cost(0),
          .other = rounds.cost(1),
          .ratio = rounds.ratio(0, 1),
          .bar = Bar{Kind::kRatioAtLeast, 0.5}};
}

}  // namespace

std::vector<Row> sqlite_rows(Fixture& fixture) {
  std::vector<Row> rows = sqlite_resume(fixture);
  rows.insert(rows.begin(), sqlite_append(fixture));
  return rows;
}

std::vector<Row> postgres_rows(Fixture& fixture) {
  const PostgresServer server(fixture.file("postgres"));
  std::vector<Row> rows = postgres_appends(fixture, server);
  rows.push_back(postgres_sessions(fixture, server));
  return rows;
}

}  // namespace quipu::bench
