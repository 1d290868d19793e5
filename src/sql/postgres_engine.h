// The PostgreSQL driver of a store.
//
// Every call is one pipeline, ended by one Sync: one round trip and one transaction
// without BEGIN or COMMIT. Nothing rests on the state of a connection, so a pooler may give
// every call another one: tables are named with their schema, and when a prepared
// statement turns out to be somebody else's or gone, the call is made again without
// preparing, from then on.
//
// A commit is acknowledged when the server says so, without a warning: that it did not
// wait for its standby is one. Otherwise, and when the connection ends before the answer,
// that is `durability_unknown`.
//
// No call outlasts `call_wait` by more than two seconds: then the server is asked to
// cancel it (`busy`: it has not happened), and if it does not answer that either, the
// connection is given up.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "sql/engine.h"

namespace quipu::sql {

struct PostgresOptions {
  std::string schema = "quipu";
  /// For each host of the URL, in whole seconds, 2 at least: libpq's own measure. A
  /// `connect_timeout` of the URL goes before.
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
