// The SQLite driver of a store.
//
// A write-ahead log, synced with every commit. The version of SQLite that Debian 12
// has can damage a database when one connection resets the log while another takes
// it in, so both happen under a lock of ours (`Turn`), and SQLite itself never takes
// the log in.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "sql/engine.h"
#include "sql/tokenizer.h"

namespace quipu::sql {

/// Waits until no other commit or checkpoint is under way, in any process; held until
/// the pointer is dropped. Whose turn it is may take it again, in the same thread.
using Turn = std::function<Result<std::shared_ptr<void>>()>;

struct SqliteOptions {
  bool create = false;
  bool read_only = false;
  std::chrono::milliseconds busy_wait{5000};
  Turn turn{};
  /// As ConnectionOptions::vfs. Must outlive the connections.
  const char* vfs = nullptr;
  /// For text search (fts5.h); null: there is none.
  std::shared_ptr<const Tokenizer> tokenizer{};
  /// Copies of the options share it: set when the disk would not confirm a write. Then
  /// pages that are lost may count as written, and the next sync that succeeds proves
  /// nothing: no connection of these options commits any more (`io_error`).
  std::shared_ptr<std::atomic<bool>> is_in_doubt = std::make_shared<std::atomic<bool>>(false);
};

Result<std::unique_ptr<Engine>> open_sqlite(const std::string& file, const SqliteOptions& options);

/// Makes an empty database of whatever is in the file. Connections that are open see that.
Result<void> empty_sqlite(const std::string& file, const SqliteOptions& options);

}  // namespace quipu::sql
