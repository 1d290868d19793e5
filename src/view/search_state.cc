#include "view/search_state.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "base/crc32c.h"
#include "base/try.h"
#include "view/said.h"

namespace quipu::view {
namespace {

// Each time somebody has committed meanwhile, and each commit is a few megabytes of new entries.
constexpr int kReadsMax = 100;

// Of the tables, beside what is said.
constexpr int kTablesVersion = 2;
// A generation is a random number and, in its low bits, the commits since.
constexpr int kCommitBits = 24;

constexpr sql::Text kReadState =
    "SELECT generation, next_number, logs, blocks, uncut, sum FROM @search_state";
constexpr sql::Text kReadLogs =
    "SELECT session_id, device, inode, settled_bytes, modified_ms, entries, tail_crc, seen, sum "
    "FROM @search_sessions";
constexpr sql::Text kReadBlocks =
    "SELECT session_id, number, first_entry, since_ms, until_ms, sum FROM @search_blocks "
    "ORDER BY number";
constexpr sql::Text kTakeState = "DELETE FROM @search_state WHERE generation = $1";
constexpr sql::Text kPutState =
    "INSERT INTO @search_state (slot, generation, next_number, logs, blocks, uncut, sum) "
    "VALUES (0, $1, $2, $3, $4, $5, $6)";
constexpr sql::Text kPutLog =
    "INSERT INTO @search_sessions "
    "(session_id, device, inode, settled_bytes, modified_ms, entries, tail_crc, seen, sum) "
    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (session_id) DO UPDATE SET "
    "device = excluded.device, inode = excluded.inode, settled_bytes = excluded.settled_bytes, "
    "modified_ms = excluded.modified_ms, entries = excluded.entries, "
    "tail_crc = excluded.tail_crc, seen = excluded.seen, sum = excluded.sum";
constexpr sql::Text kPutBlock =
    "INSERT INTO @search_blocks (session_id, number, first_entry, since_ms, until_ms, sum) "
    "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (number) DO UPDATE SET "
    "since_ms = excluded.since_ms, until_ms = excluded.until_ms, sum = excluded.sum";
constexpr sql::Text kDropLog = "DELETE FROM @search_sessions WHERE session_id = $1";
constexpr sql::Text kDropBlocks = "DELETE FROM @search_blocks WHERE session_id = $1";

// Numbers of devices and files have no sign; the columns have.
std::int64_t as_signed(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t as_unsigned(std::int64_t number) { return static_cast<std::uint64_t>(number); }

Error damaged(const char* what) {
  return {Code::kCorrupt, std::string("the search index is damaged: ") + what};
}

// Over everything that is stored of a row.
std::int64_t row_sum(std::string_view name, std::initializer_list<std::int64_t> numbers) {
  std::uint32_t sum = crc32c(name);
  for (const std::int64_t number : numbers) {
    sum = crc32c_extend(sum, "," + std::to_string(number));
  }
  return sum;
}

std::int64_t sum_of(const std::string& session_id, const IndexedLog& log) {
  const LogCursor& cursor = log.cursor;
  return row_sum(session_id, {as_signed(cursor.device), as_signed(cursor.inode),
                              as_signed(cursor.settled_bytes), cursor.modified_ms, cursor.entries,
                              cursor.tail_crc, log.seen});
}

std::int64_t sum_of(const std::string& session_id, const SearchBlock& block) {
  return row_sum(session_id, {block.number, block.first, block.since_ms, block.until_ms});
}

/// The row of @search_state.
struct Totals {
  std::int64_t generation = 0;
  std::int64_t next_number = 0;
  std::int64_t logs = 0;
  std::int64_t blocks = 0;
  std::int64_t uncut = 0;

  std::int64_t sum() const {
    return row_sum("state", {generation, next_number, logs, blocks, uncut});
  }
  bool operator==(const Totals&) const = default;
};

Totals totals_of(const SearchState& state) {
  return {.generation = state.generation,
          .next_number = state.next_number,
          .logs = static_cast<std::int64_t>(state.logs.size()),
          .blocks = static_cast<std::int64_t>(state.blocks()),
          .uncut = state.is_uncut ? 1 : 0};
}

Result<Totals> read_totals(sql::Engine& engine) {
  TRY_ASSIGN(const auto rows, engine.ask(kReadState));
  TRY_ASSIGN(const bool any, rows->next());
  if (!any) return damaged("no state");
  const Totals totals{.generation = rows->integer(0),
                      .next_number = rows->integer(1),
                      .logs = rows->integer(2),
                      .blocks = rows->integer(3),
                      .uncut = rows->integer(4)};
  if (totals.sum() != rows->integer(5)) return damaged("its state");
  return totals;
}

sql::Command put_state(const Totals& totals) {
  return {kPutState,
          {sql::Param(totals.generation), sql::Param(totals.next_number), sql::Param(totals.logs),
           sql::Param(totals.blocks), sql::Param(totals.uncut), sql::Param(totals.sum())}};
}

Result<void> read_logs(sql::Engine& engine, SearchState& state) {
  TRY_ASSIGN(const auto rows, engine.ask(kReadLogs));
  for (;;) {
    TRY_ASSIGN(const bool more, rows->next());
    if (!more) return {};
    std::string session_id(rows->text(0));
    IndexedLog log;
    log.cursor = {.device = as_unsigned(rows->integer(1)),
                  .inode = as_unsigned(rows->integer(2)),
                  .settled_bytes = as_unsigned(rows->integer(3)),
                  .modified_ms = rows->integer(4),
                  .entries = static_cast<Ordinal>(rows->integer(5)),
                  .tail_crc = static_cast<std::uint32_t>(rows->integer(6))};
    log.seen = static_cast<Ordinal>(rows->integer(7));
    if (sum_of(session_id, log) != rows->integer(8)) return damaged("a session's row");
    state.logs[std::move(session_id)] = std::move(log);
  }
}

Result<void> read_blocks(sql::Engine& engine, SearchState& state) {
  TRY_ASSIGN(const auto rows, engine.ask(kReadBlocks));
  for (;;) {
    TRY_ASSIGN(const bool more, rows->next());
    if (!more) return {};
    const std::string session_id(rows->text(0));
    const SearchBlock block{.number = rows->integer(1),
                            .first = static_cast<Ordinal>(rows->integer(2)),
                            .since_ms = rows->integer(3),
                            .until_ms = rows->integer(4)};
    if (sum_of(session_id, block) != rows->integer(5)) return damaged("a block's row");
    const auto log = state.logs.find(session_id);
    if (log == state.logs.end()) return damaged("a block of no session");
    log->second.blocks.push_back(block);
  }
}

}  // namespace

std::size_t SearchState::blocks() const {
  std::size_t blocks = 0;
  for (const auto& [session, log] : logs) blocks += log.blocks.size();
  return blocks;
}

const search::IndexTables& search_tables() {
  static const search::IndexTables tables{
      .name = "search",
      .version = std::to_string(kTablesVersion) + "." + std::to_string(kSaidVersion),
      .create = {"CREATE TABLE @search_sessions (session_id {key} NOT NULL PRIMARY KEY, "
                 "device BIGINT NOT NULL, inode BIGINT NOT NULL, settled_bytes BIGINT NOT NULL, "
                 "modified_ms BIGINT NOT NULL, entries BIGINT NOT NULL, "
                 "tail_crc BIGINT NOT NULL, seen BIGINT NOT NULL, sum BIGINT NOT NULL){clustered}",
                 "CREATE TABLE @search_blocks (number BIGINT NOT NULL PRIMARY KEY, "
                 "session_id {key} NOT NULL, first_entry BIGINT NOT NULL, "
                 "since_ms BIGINT NOT NULL, until_ms BIGINT NOT NULL, "
                 "sum BIGINT NOT NULL){clustered}",
                 "CREATE TABLE @search_state (slot BIGINT NOT NULL PRIMARY KEY, "
                 "generation BIGINT NOT NULL, next_number BIGINT NOT NULL, logs BIGINT NOT NULL, "
                 "blocks BIGINT NOT NULL, uncut BIGINT NOT NULL, sum BIGINT NOT NULL){clustered}"},
      // That which every commit begins with first: see IndexDatabase::drop.
      .drop = {"DROP TABLE IF EXISTS @search_state", "DROP TABLE IF EXISTS @search_sessions",
               "DROP TABLE IF EXISTS @search_blocks"},
      .text_indexes = {kSearchIndex}};
  return tables;
}

sql::Command first_state(std::uint32_t start) {
  // What the tables before them said may be in the log.
  return put_state({.generation = std::int64_t{start} << kCommitBits, .uncut = 1});
}

bool is_same_making(std::int64_t one, std::int64_t other) {
  return one >> kCommitBits == other >> kCommitBits;
}

Result<std::int64_t> read_generation(sql::Engine& engine) {
  TRY_ASSIGN(const Totals totals, read_totals(engine));
  return totals.generation;
}

// Others may commit between the questions: what was read counts when the state is the same
// before and after.
Result<SearchState> read_state(sql::Engine& engine) {
  for (int tries = 0; tries < kReadsMax; ++tries) {
    TRY_ASSIGN(const auto before, read_totals(engine));
    SearchState state;
    const auto read = [&]() -> Result<void> {
      TRY(read_logs(engine, state));
      return read_blocks(engine, state);
    }();
    TRY_ASSIGN(const auto after, read_totals(engine));
    if (before != after) continue;
    if (!read.ok()) return Error(read.error());
    state.generation = before.generation;
    state.next_number = before.next_number;
    state.is_uncut = before.uncut != 0;
    if (before != totals_of(state)) return damaged("rows are missing");
    return state;
  }
  return Error(Code::kBusy, "others change the search index all the time")
      .with_hint("try again when they are done");
}

void StateChange::put(const std::string& session_id, const IndexedLog& log,
                      std::size_t first_block) {
  const LogCursor& cursor = log.cursor;
  commands_.push_back(
      {kPutLog,
       {sql::Param(session_id), sql::Param(as_signed(cursor.device)),
        sql::Param(as_signed(cursor.inode)), sql::Param(as_signed(cursor.settled_bytes)),
        sql::Param(cursor.modified_ms), sql::Param(std::int64_t{cursor.entries}),
        sql::Param(std::int64_t{cursor.tail_crc}), sql::Param(std::int64_t{log.seen}),
        sql::Param(sum_of(session_id, log))}});
  for (std::size_t i = first_block; i < log.blocks.size(); ++i) {
    const SearchBlock& block = log.blocks[i];
    commands_.push_back({kPutBlock,
                         {sql::Param(session_id), sql::Param(block.number),
                          sql::Param(std::int64_t{block.first}), sql::Param(block.since_ms),
                          sql::Param(block.until_ms), sql::Param(sum_of(session_id, block))}});
  }
}

void StateChange::drop(const std::string& session_id) {
  commands_.push_back({kDropLog, {sql::Param(session_id)}});
  commands_.push_back({kDropBlocks, {sql::Param(session_id)}});
}

std::vector<sql::Command> StateChange::finish(const SearchState& before, const SearchState& after) {
  // First, so that of two the slower one learns of it before its documents are looked at.
  std::vector<sql::Command> all;
  all.push_back({kTakeState, {sql::Param(before.generation)}});
  all.push_back(put_state(totals_of(after)));
  std::move(commands_.begin(), commands_.end(), std::back_inserter(all));
  return all;
}

}  // namespace quipu::view
