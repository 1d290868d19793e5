// SQLite: connection, statement, transaction. For files that are SQLite's in any
// case: views of our own, databases of other programs, and the driver of a store
// (sqlite_engine.h). What runs on other engines as well speaks to engine.h.
//
// Values are integers, texts and null, in other programs' databases reals and bytes,
// too; parameters are `?1`, `?2` …, columns count from 0. The SQL text itself is the
// caller's business.
//
// Errors: `busy` when another connection held the database for longer than
// `busy_wait`, or the call was interrupted; `corrupt` for a file that is damaged
// or no database; `no_space`, `no_memory`, `io_error`; `durability_unknown` when a sync
// failed, after which the next one proves nothing; `storage_gone` when it cannot be written;
// `not_allowed`; `id_conflict` for a violated constraint; `invalid_argument` for SQL that does not
// fit the database.
//
// Thread-safety: one thread at a time for a connection and all its statements,
// with one exception: `interrupt` may be called from any.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "quipu/result.h"
#include "sql/tokenizer.h"

struct sqlite3;
struct sqlite3_stmt;

namespace quipu::sql {

enum class ValueKind : unsigned char { kNull, kInteger, kReal, kText, kBytes };

/// A prepared statement. Must not outlive its connection.
class Statement {
 public:
  Statement& bind(int parameter, std::int64_t number);
  Statement& bind(int parameter, double number);
  /// Kept by reference: `text` must live until the next `reset`.
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::string&& text) = delete;
  /// Kept by reference, too. What is not bound is null.
  Statement& bind_bytes(int parameter, std::string_view bytes);

  /// To the next row; false at the end. A failed `bind` is reported here.
  Result<bool> step();
  /// For statements without rows: runs it and makes it ready to run again.
  Result<void> run();
  /// Makes it ready to run again; what was bound is forgotten.
  void reset();

  std::int64_t integer(int column) const;
  /// Valid until the next `step` or `reset`.
  std::string_view text(int column) const;
  bool is_null(int column) const;

  int columns() const;
  /// Valid until the statement is prepared anew.
  std::string_view column_name(int column) const;
  /// As it is stored: nothing is converted.
  ValueKind kind(int column) const;
  double real(int column) const;
  /// Valid until the next `step` or `reset`.
  std::string_view bytes(int column) const;

  /// As Connection::abandon.
  void abandon() { [[maybe_unused]] sqlite3_stmt* leaked = statement_.release(); }

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;  // the first error of a bind
};

struct ConnectionOptions {
  /// How long a statement waits for another connection before it is `busy`.
  std::chrono::milliseconds busy_wait{100};
  /// Make the file when there is none.
  bool create = true;
  /// Nobody else has this file: no lock is given back, nothing is made beside it, nothing
  /// of its log is taken in at the end, and nothing in it is changed.
  bool is_private_copy = false;
  /// The write-ahead log is taken in when the caller says so (`checkpoint`), never by
  /// SQLite itself: not by a commit, nor at the end.
  bool own_checkpoints = false;
  /// Nothing is written.
  bool read_only = false;
  /// The name under which SQLite knows its way to the file; null: the operating system.
  const char* vfs = nullptr;
};

class Connection {
 public:
  /// `:memory:` is a database of this connection alone. Opening reads nothing:
  /// that a file is no database shows with the first statement.
  static Result<Connection> open(const std::string& file, const ConnectionOptions& options = {});

  /// One statement or several, whose rows nobody wants.
  Result<void> execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  /// The first column of the first row; nothing without rows.
  Result<std::optional<std::int64_t>> number(std::string_view sql);

  /// The database as the bytes of its file.
  Result<std::string> image();
  /// Drops everything, also from a file that is damaged or no database.
  Result<void> make_empty();
  /// See fts5.h.
  Result<void> add_text_search(std::shared_ptr<const Tokenizer> tokenizer);

  /// With `own_checkpoints`: pages in the write-ahead log after the last commit of this
  /// connection.
  int log_pages() const { return *log_pages_; }
  /// Whether the file is no longer what is found under its name.
  bool has_moved() const;
  /// Whether the last failure was for want of room. SQLite says it of what it writes, and
  /// not of the index of its log.
  bool is_disk_full() const;
  /// Takes the log into the database, as far as no reader stands in the way.
  Result<void> checkpoint();

  /// Ends what is running now with `busy`. From any thread.
  void interrupt();

  /// Gives the connection up without closing it. After fork() closing would
  /// free the locks of the parent's connection.
  void abandon();

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Connection(sqlite3* database) : database_(database) {}

  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);  // SQLite keeps the address
};

/// All of it or nothing: what is not committed is rolled back at the end.
class Transaction {
 public:
  /// Waits for other writers here and not at the first write, where waiting
  /// could be a deadlock.
  static Result<Transaction> begin(Connection& connection);
  Transaction(Transaction&& other) noexcept : connection_(other.connection_) {
    other.connection_ = nullptr;
  }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

}  // namespace quipu::sql
