// Opening stores in databases: what a URL names, and how their connections are made.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "backend/sql/sql_backend.h"
#include "fs/fs.h"
#include "sql/sqlite_engine.h"

namespace quipu::sqlstore {

/// `sqlite:…`, `postgres://…`, `postgresql://…`.
bool is_database(std::string_view url);
bool is_postgres(std::string_view url);

/// How connections to that database are made.
///
/// `sqlite:FILE`: beside it lie FILE-wal and FILE-shm, SQLite's own, and FILE.lck, the lock
/// that writers take turns by. `postgres://…`: what is ours in its query, `schema=NAME`, is
/// taken out, the rest is libpq's.
Result<sql::Pool::Open> connections(std::string_view url, bool create, Clock& clock,
                                    std::chrono::milliseconds wait);

/// A store in one file.
struct SqliteFile {
  std::shared_ptr<fs::Fs> fs;  // of its directory: our way to it
  std::string name;            // there
  std::string path;            // for SQLite
  const char* vfs = nullptr;   // SQLite's way to it (sql/sqlite_engine.h)
  std::shared_ptr<const sql::Tokenizer> tokenizer{};
};

/// How it is opened: with the lock beside it, only for reading when that cannot be had.
Result<sql::SqliteOptions> sqlite_options(const SqliteFile& file, bool create, Clock& clock,
                                          std::chrono::milliseconds wait);

/// How connections to it are made.
Result<sql::Pool::Open> connections(const SqliteFile& file, bool create, Clock& clock,
                                    std::chrono::milliseconds wait);

}  // namespace quipu::sqlstore
