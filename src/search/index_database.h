// IndexDatabase: where what is computed from logs to be searched lies in tables.
//
//   store        | tables are in
//   -------------+------------------------------------------------------------------
//   file:DIR     | DIR/index.db, SQLite
//   sqlite:FILE  | index.db in the cache directory of the system: an index that is being
//                |   written must not keep appends waiting
//   postgres://… | the store's own schema, shared by all who use it
//   memory:      | memory
//
// All of it can be made anew from the logs, so nothing in index.db is synced, and a file that
// is damaged is deleted. Each user of the database describes its tables (`IndexTables`); when
// they are missing or of another version they are dropped and made, empty.
//
// Thread-safety: every call from every thread.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "fs/fs.h"
#include "quipu/result.h"
#include "search/text_index.h"
#include "sql/pool.h"

namespace quipu::search {

/// The tables of one user. Statements are in the words of `sql::Text`.
struct IndexTables {
  std::string name{};  // [a-z_]+
  /// Any text; another one than that of the tables means: make them anew.
  std::string version{};
  std::vector<sql::Text> create{};
  std::vector<sql::Text> drop{};
  /// Text indexes that belong to them, by their names.
  std::vector<std::string> text_indexes{};
};

class IndexDatabase {
 public:
  /// In a database that the store lives in.
  explicit IndexDatabase(std::shared_ptr<sql::Pool> postgres);
  /// In a file of its own; `fs` is its directory, `path` the same as an absolute path. Null: in
  /// memory.
  IndexDatabase(std::shared_ptr<fs::Fs> fs, const std::string& path, Clock& clock);
  ~IndexDatabase();

  bool is_postgres() const { return is_postgres_; }
  std::unique_ptr<TextIndex> text_index(std::string name) const;

  /// A connection. Whoever found damage in the file (`corrupt`) calls `discard` and begins
  /// with `prepare`.
  Result<sql::Pool::Lease> lease() EXCLUDES(mutex_);

  /// Makes the tables if need be. True: they are new and empty.
  Result<bool> prepare(const IndexTables& tables) EXCLUDES(mutex_);
  /// Drops them; the next `prepare` makes them.
  Result<void> drop(const IndexTables& tables) EXCLUDES(mutex_);
  /// Deletes the file; all tables are gone. Nothing in PostgreSQL.
  Result<void> discard() EXCLUDES(mutex_);

 private:
  Result<std::shared_ptr<sql::Pool>> pool() EXCLUDES(mutex_);

  const bool is_postgres_;
  const std::shared_ptr<fs::Fs> fs_;
  const std::string path_;
  Clock& clock_;
  Mutex mutex_;
  std::shared_ptr<sql::Pool> pool_ GUARDED_BY(mutex_);
};

}  // namespace quipu::search
