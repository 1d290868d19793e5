// SearchState: which entries of which logs are in the index of session texts.
//
// A document's key says where it is: a block of kBlockEntries keys belongs to one
// session, and the place in the block is that of the entry. Blocks are numbered in the
// order in which they were begun and never used again; those of a log that is gone or
// was replaced have no row any more, and what is found in them is not shown.
//
//   @search_sessions   how far each log is indexed
//   @search_blocks     number, session, its first entry, the times of its entries
//   @search_state      one row: a number that every commit changes, and what the tables hold
//
// Whoever commits takes the number that it has read out of the table and puts another one
// in. If somebody else was faster there is nothing to take out, the key is taken, and the
// commit fails as a whole (`id_conflict`). New tables have a row from the beginning, with a number
// of their own, so that this holds for who knows those before them, too.
//
// Rows have sums, and their number is written down: what does not agree is `corrupt`.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "search/index_database.h"
#include "view/log_cursor.h"

namespace quipu::view {

/// So many that logs have few blocks, so few that keys of different logs are not far from
/// each other: the distance is what an index stores.
inline constexpr Ordinal kBlockEntries = 4096;

struct SearchBlock {
  std::int64_t number = 0;
  Ordinal first = 0;  // own ordinal
  /// Of its documents; all of time if one of them has none.
  std::int64_t since_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t until_ms = std::numeric_limits<std::int64_t>::min();

  bool operator==(const SearchBlock&) const = default;

  std::int64_t key(Ordinal own) const { return number * kBlockEntries + (own - first); }
};

struct IndexedLog {
  LogCursor cursor{};
  /// Redactions among the first so many entries are in force: as many as there were when it
  /// was read, which may be more than the cursor says.
  Ordinal seen = 0;
  std::vector<SearchBlock> blocks{};  // by `first`

  /// A commit was full before the log was read to its end.
  bool has_more() const { return cursor.entries < seen; }

  bool operator==(const IndexedLog&) const = default;
};

struct SearchState {
  std::int64_t generation = 0;
  /// What was taken out may still be in the database's own log.
  bool is_uncut = false;
  std::map<std::string, IndexedLog> logs{};  // by session
  std::int64_t next_number = 0;

  std::size_t blocks() const;
  /// Blocks without a row: of logs that are gone or were replaced. Their documents are still in the
  /// text index, and cannot be taken out one by one: nobody knows what they said.
  std::size_t lost_blocks() const { return static_cast<std::size_t>(next_number) - blocks(); }
};

/// Its tables, and the text index that belongs to them.
const search::IndexTables& search_tables();
inline constexpr const char* kSearchIndex = "search_text";

/// The row of new tables. `start` is to be another one each time.
sql::Command first_state(std::uint32_t start);
/// Whether the tables were not made anew between two generations. After millions of commits it says
/// that they were.
bool is_same_making(std::int64_t one, std::int64_t other);

Result<std::int64_t> read_generation(sql::Engine& engine);
Result<SearchState> read_state(sql::Engine& engine);

/// From one state to the next, as commands of a commit. What it is given must live until then.
class StateChange {
 public:
  void put(const std::string& session_id, const IndexedLog& log, std::size_t first_block);
  void drop(const std::string& session_id);
  /// All of it.
  std::vector<sql::Command> finish(const SearchState& before, const SearchState& after);

 private:
  std::vector<sql::Command> commands_;
};

}  // namespace quipu::view
