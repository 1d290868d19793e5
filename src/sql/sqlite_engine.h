// The SQLite driver of a store.
//
// A write-ahead log, synced with every commit. The version of SQLite that Debian 12
// has can damage a database when one connection resets the log while another takes
// it in, so both happen under a lock of ours (`Turn`), and SQLite itself never takes
// the log in.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "sql/engine.h"

namespace quipu::sql {

/// Waits until no other commit or checkpoint is under way, in any process; held until
/// the pointer is dropped.
using Turn = std::function<Result<std::shared_ptr<void>>()>;

struct SqliteOptions {
  bool create = false;
  bool read_only = false;
  std::chrono::milliseconds busy_wait{5000};
  Turn turn{};
};

Result<std::unique_ptr<Engine>> open_sqlite(const std::string& file, const SqliteOptions& options);

}  // namespace quipu::sql
