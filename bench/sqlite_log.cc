#include "sqlite_log.h"

#include <sqlite3.h>

#include "measure.h"

namespace quipu::bench {

SqliteLog::SqliteLog(const std::filesystem::path& path) {
  check(sqlite3_open(path.c_str(), &database_) == SQLITE_OK, "sqlite3_open");
  run("PRAGMA journal_mode=WAL");
  run("PRAGMA synchronous=FULL");
  run("CREATE TABLE entry (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT,"
      " type TEXT NOT NULL, payload TEXT NOT NULL)");
  check(sqlite3_prepare_v2(database_,
                           "INSERT INTO entry (id, parent, type, payload) VALUES (?, ?, ?, ?)", -1,
                           &insert_, nullptr) == SQLITE_OK,
        "sqlite3_prepare");
}

SqliteLog::~SqliteLog() {
  sqlite3_finalize(insert_);
  sqlite3_close(database_);
}

void SqliteLog::run(const char* statement) {
  check(sqlite3_exec(database_, statement, nullptr, nullptr, nullptr) == SQLITE_OK, statement);
}

void SqliteLog::append(const NewEntry& entry) {
  const auto bind = [this](int at, const std::string& text) {
    sqlite3_bind_text(insert_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  };
  bind(1, entry.id);
  bind(2, entry.parent.id());
  bind(3, entry.type);
  bind(4, entry.payload);
  check(sqlite3_step(insert_) == SQLITE_DONE, "sqlite3_step");
  sqlite3_reset(insert_);
}

std::uint64_t SqliteLog::count() {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(database_, "SELECT count(*) FROM entry", -1, &statement, nullptr) ==
            SQLITE_OK,
        "sqlite3_prepare");
  check(sqlite3_step(statement) == SQLITE_ROW, "sqlite3_step");
  const auto count = static_cast<std::uint64_t>(sqlite3_column_int64(statement, 0));
  sqlite3_finalize(statement);
  return count;
}

}  // namespace quipu::bench
