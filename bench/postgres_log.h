// The peer on PostgreSQL: libpq, one table, prepared statements, everything durable. And the
// server itself, a private one in the directory of the run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "quipu/entry.h"

struct pg_conn;

namespace quipu::bench {

/// Runs as long as this lives; as an unprivileged user when we are root, because PostgreSQL
/// refuses it.
class PostgresServer {
 public:
  explicit PostgresServer(const std::filesystem::path& place);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  std::string url() const;
  /// Transactions a second of pgbench: `clients` connections that each insert one row at a
  /// time, with one of these payloads.
  double pgbench(std::size_t clients, std::size_t transactions,
                 std::span<const std::string> payloads) const;

 private:
  std::filesystem::path place_;
};

class PostgresLog {
 public:
  explicit PostgresLog(const std::string& url);
  ~PostgresLog();
  PostgresLog(const PostgresLog&) = delete;
  PostgresLog& operator=(const PostgresLog&) = delete;

  void append(const NewEntry& entry);
  /// One transaction, pipelined.
  void append_all(std::span<const NewEntry> entries);
  std::uint64_t count();

 private:
  void run(const char* statement);

  pg_conn* connection_;
};

}  // namespace quipu::bench
