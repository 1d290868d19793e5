// A PostgreSQL server that belongs to a test: its own data directory, reached by a socket in that
// directory alone, so that servers of several tests do not meet. It runs as an unprivileged user
// and ends with the test, however that ends.
//
// Errors are thrown as std::runtime_error with the end of the server's log.
//
// Thread-safety: one thread at a time; connections are as free as libpq makes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/child_process.h"
#include "support/tiny_disk.h"
#include "unit/fs/temporary_directory.h"

namespace quipu::test {

struct PostgresOptions {
  /// Whether the server is on a disk and waits for it. Otherwise it is in memory where the system
  /// has a place for that, which is faster and differs in nothing else: a server that is killed
  /// loses nothing either way.
  bool fsync = false;
  /// Not 0: the tables are on a disk of this size. An empty server has some 25 MB, a new database
  /// some 8 MB. When it is full, statements fail with SQLSTATE 53100 and the server goes on.
  std::uint64_t data_bytes_max = 0;
  /// Not 0: the write-ahead log is on a disk of this size, at least 32 MB. When it is full, the
  /// server crashes and stays down: the client may see the SQLSTATE 53100 as a PANIC, or nothing,
  /// and does not know what became of its transaction.
  std::uint64_t wal_bytes_max = 0;
  /// More settings, as "name=value".
  std::vector<std::string> settings{};
};

class PostgresServer {
 public:
  /// Ready for connections when it returns.
  explicit PostgresServer(const PostgresOptions& options = {});
  /// The one that tests of this process share when they do nothing to it. It ends with the process.
  static PostgresServer& shared();
  /// A copy of `primary` that follows it. From now on a commit of the primary waits until the
  /// standby has it on disk, also after `kill_hard` and `start_again`.
  static std::unique_ptr<PostgresServer> standby_of(PostgresServer& primary);

  /// For libpq: postgres://quipu@/database?host=…. The user may do anything.
  std::string url(std::string_view database = "postgres") const;
  /// What libpq calls the host, for URLs that name several: "host=A,B&port=5432".
  const std::string& host() const { return directory_.path(); }
  /// The file of the socket.
  std::string socket() const;
  /// Makes an empty database and gives its URL.
  std::string make_database(const std::string& name);

  /// Every process of the server is killed at once, as when the machine fails.
  void kill_hard();
  /// After the server ended, by `kill_hard` or by itself: recovers, and is ready when it returns.
  void start_again();
  /// A standby becomes a server of its own. Returns when it takes writes.
  void promote();
  /// The full disks of the options get this many bytes.
  void resize_disks(std::uint64_t bytes);

 private:
  PostgresServer(const PostgresOptions& options, PostgresServer* primary);
  void fill(PostgresServer* primary);
  void start();
  template <class Condition>
  void wait_until(const char* what, Condition condition) const;

  const PostgresOptions options_;
  const bool is_standby_;
  const fs::TemporaryDirectory directory_;
  const std::string data_, wal_, log_;
  std::optional<TinyDisk> data_disk_, wal_disk_;
  std::optional<ChildProcess> process_;
};

}  // namespace quipu::test
