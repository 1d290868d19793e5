// The PostgreSQL driver of a store.
//
// Every call is one pipeline, ended by one Sync: one round trip and one transaction
// without BEGIN or COMMIT. Nothing rests on the state of a connection, so a pooler may give
// every call another one: tables are named with their schema, and when a prepared
// statement turns out to be somebody else's or gone, the call is made again without
// preparing, from then on.
//
// A commit is acknowledged when the server says so. When the connection ends before
// that, or the server says that it did not wait for its standby, the answer is
// `durability_unknown`, and the engine is of no further use.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "sql/engine.h"

namespace quipu::sql {

struct PostgresOptions {
  std::string schema = "quipu";
  std::chrono::milliseconds connect_wait{5000};
  /// For one call, waiting for other writers included.
  std::chrono::milliseconds call_wait{30000};
  Clock* clock = &Clock::system();
};

/// `url` as libpq takes it: postgres://USER@HOST:PORT/DATABASE?…
Result<std::unique_ptr<Engine>> open_postgres(const std::string& url,
                                              const PostgresOptions& options);

/// A schema may have any name; it is quoted where it is used.
std::string quoted_name(std::string_view name);

}  // namespace quipu::sql
