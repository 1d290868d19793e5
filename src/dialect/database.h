// Database: an agent's SQLite database, as it was at one moment.
//
// The agent's own files are never opened with SQLite, which would make a -shm beside
// them, recover, or check point. They are copied, bytes only, whatever locks the agent
// holds: the database, then its write-ahead log or its journal, which SQLite
// finds beside the copy and takes into account. That none of them changed meanwhile is
// looked at; when one did, it is done again.
//
//   database first, log after: a page that a checkpoint moves from the log into the
//   database is seen in one of them at least; frames that were half written fail
//   their checksums and do not count.
//
// One copy serves all sessions that were found in it: `Source::database` keeps it. It has
// no name, so it is gone with the last of them, or with the process.
//
// Thread-safety: every call from every thread, one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "fs/host_files.h"
#include "sql/database.h"

namespace quipu::dialect {

/// The beginning of every database file but empty ones.
inline constexpr std::string_view kDatabaseMagic{"SQLite format 3\0", 16};

/// A connection to a copy that nobody else has: to look at, unless the caller switches
/// `query_only` off. `busy` when the files changed each time that they were copied.
Result<sql::Connection> copy_aside(const std::string& path, fs::HostFiles& files);

class Database {
 public:
  /// Errors as `copy_aside`.
  static Result<std::shared_ptr<Database>> copy_of(const std::string& path, fs::HostFiles& files);

  /// Whether there is such a table, not a view, with such a column.
  bool has(std::string_view table, std::string_view column) const;

  /// Calls `see` with each row; `?1` and so on are `texts`. `see` must not ask for more.
  using See = std::function<void(const sql::Statement& row)>;
  Result<void> query(const std::string& sql, std::initializer_list<std::string_view> texts,
                     const See& see) EXCLUDES(mutex_);

  /// The row of a table that `has` something, as a record (row_text.h). False: not there.
  Result<bool> row(const std::string& table, std::int64_t rowid, std::string& into)
      EXCLUDES(mutex_);

  /// What makes the named tables and their indexes, as a record:
  /// {"encoding":…,"sql":[statement…]}.
  Result<std::string> schema(std::initializer_list<std::string_view> tables) EXCLUDES(mutex_);

 private:
  explicit Database(sql::Connection connection) : connection_(std::move(connection)) {}
  Result<void> look() EXCLUDES(mutex_);

  Mutex mutex_;
  sql::Connection connection_ GUARDED_BY(mutex_);
  // Those of `row`. After the connection, so that they go first.
  std::map<std::string, sql::Statement, std::less<>> rows_ GUARDED_BY(mutex_);
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> tables_;
};

}  // namespace quipu::dialect
