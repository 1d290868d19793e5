// IndexDatabase: where what is computed from logs to be searched lies in tables.
//
//   store        | tables are in
//   -------------+------------------------------------------------------------------
//   file:DIR     | DIR/index.db, SQLite; where that cannot be written, as for sqlite:
//   sqlite:FILE  | index.db in the cache directory of the system: an index that is being
//                |   written must not keep appends waiting
//   postgres://… | the store's own schema, shared by all who use it
//   memory:      | memory
//
// All of it can be made anew from the logs, so commits do not wait for the disk
// (sql::Sync::kLater), and a file that is damaged is emptied. Each user of the database
// describes its tables (`IndexTables`); when they are missing or of another version they are
// dropped and made, empty.
//
// Thread-safety: every call from every thread. A thread that holds a lease asks for no second
// one: in memory there is a single connection.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "quipu/result.h"
#include "search/text_index.h"
#include "sql/pool.h"

namespace quipu::search {

/// The tables of one user. Statements are in the words of sql::Text.
struct IndexTables {
  std::string name{};  // [a-z_]+
  /// Any text; another one than that of the tables means: make them anew. Where there are text
  /// indexes the analyser's version is part of it by itself.
  std::string version{};
  std::vector<sql::Text> create{};
  /// If they are there.
  std::vector<sql::Text> drop{};
  /// Text indexes that belong to them, by their names.
  std::vector<std::string> text_indexes{};
};

class IndexDatabase {
 public:
  /// In PostgreSQL.
  explicit IndexDatabase(std::shared_ptr<sql::Pool> postgres);
  /// In SQLite; `empty` makes an empty database of whatever is in the file, `exists` says whether
  /// there is one: a connection makes it. The connections know `search::tokenizer()`.
  IndexDatabase(std::shared_ptr<sql::Pool> sqlite, std::function<Result<void>()> empty,
                std::function<bool()> exists = {});
  /// In memory.
  explicit IndexDatabase(Clock& clock);

  bool is_postgres() const { return is_postgres_; }
  std::unique_ptr<TextIndex> text_index(std::string name) const;

  /// A connection. Whoever finds damage (`corrupt`) calls `discard` and begins with `prepare`.
  Result<sql::Pool::Lease> lease() { return pool_->lease(); }

  /// What is in new tables before anybody sees them.
  using FirstRows = std::function<std::vector<sql::Command>()>;

  /// Makes the tables if need be. True: they are new, and have the first rows only.
  Result<bool> prepare(const IndexTables& tables, const FirstRows& first_rows = {});
  /// Whether somebody has made them, in whatever version. Makes nothing itself.
  Result<bool> has(const IndexTables& tables);
  /// Drops them; the next `prepare` makes them.
  Result<void> drop(const IndexTables& tables);
  /// Empties a file whose content is not to be believed, whosever tables they are.
  /// Nothing in PostgreSQL.
  Result<void> discard() { return empty_ ? empty_() : Result<void>(); }
  /// The same, and where there is no file to be emptied these tables are dropped.
  Result<void> discard(const IndexTables& tables) { return empty_ ? empty_() : drop(tables); }

 private:
  std::string version_of(const IndexTables& tables) const;
  Result<bool> make(sql::Engine& engine, const IndexTables& tables,
                    const FirstRows& first_rows) const;
  /// Commands that drop the tables; their texts are in `texts`.
  void drop(const IndexTables& tables, Writes& into) const;

  const bool is_postgres_;
  const std::shared_ptr<sql::Pool> pool_;
  const std::function<Result<void>()> empty_;
  const std::function<bool()> exists_;
};

}  // namespace quipu::search
