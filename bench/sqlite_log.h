// The peer: SQLite through its C API, write-ahead log, synchronous=FULL, one
// prepared statement and one transaction an entry.
#pragma once

#include <cstdint>
#include <filesystem>

#include "quipu/entry.h"

struct sqlite3;
struct sqlite3_stmt;

namespace quipu::bench {

class SqliteLog {
 public:
  explicit SqliteLog(const std::filesystem::path& path);
  ~SqliteLog();
  SqliteLog(const SqliteLog&) = delete;
  SqliteLog& operator=(const SqliteLog&) = delete;

  void append(const NewEntry& entry);
  std::uint64_t count();

 private:
  void run(const char* statement);

  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

}  // namespace quipu::bench
