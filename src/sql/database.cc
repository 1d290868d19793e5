#include "sql/database.h"

#include <sqlite3.h>

#include <cerrno>

#include "base/try.h"
#include "sql/fts5.h"

namespace quipu::sql {
namespace {

// A row is in memory as a whole: what another program left must not fill it.
constexpr int kCopiedValueBytesMax = 256 << 20;

Code code_of(int status) {
  if (status == SQLITE_IOERR_FSYNC || status == SQLITE_IOERR_DIR_FSYNC) {
    return Code::kDurabilityUnknown;
  }
  switch (status & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT:
      return Code::kBusy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Code::kCorrupt;
    case SQLITE_FULL:
      return Code::kNoSpace;
    case SQLITE_NOMEM:
      return Code::kNoMemory;
    case SQLITE_READONLY:
      return Code::kStorageGone;
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Code::kNotAllowed;
    case SQLITE_CONSTRAINT:
      return Code::kIdConflict;
    case SQLITE_TOOBIG:
      return Code::kTooLarge;
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
      return Code::kInvalidArgument;
    case SQLITE_MISUSE:
      return Code::kInternal;
    default:  // IOERR, CANTOPEN, PROTOCOL …
      return Code::kIoError;
  }
}

Error error_of(int status, sqlite3* database) {
  const char* text = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(status);
  return Error(code_of(status), std::string("sqlite: ") + text);
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int parameter, std::int64_t number) {
  const int status = sqlite3_bind_int64(statement_.get(), parameter, number);
  if (bound_ == SQLITE_OK) bound_ = status;
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  // A null pointer would bind null, and an empty view may have one.
  const char* bytes = text.empty() ? "" : text.data();
  const int status = sqlite3_bind_text64(statement_.get(), parameter, bytes, text.size(),
                                         SQLITE_STATIC, SQLITE_UTF8);
  if (bound_ == SQLITE_OK) bound_ = status;
  return *this;
}

Statement& Statement::bind(int parameter, double number) {
  const int status = sqlite3_bind_double(statement_.get(), parameter, number);
  if (bound_ == SQLITE_OK) bound_ = status;
  return *this;
}

Statement& Statement::bind_bytes(int parameter, std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  const int status =
      sqlite3_bind_blob64(statement_.get(), parameter, data, bytes.size(), SQLITE_STATIC);
  if (bound_ == SQLITE_OK) bound_ = status;
  return *this;
}

Result<bool> Statement::step() {
  if (bound_ != SQLITE_OK) return error_of(bound_, nullptr);
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  return error_of(status, sqlite3_db_handle(statement_.get()));
}

Result<void> Statement::run() {
  auto stepped = step();
  reset();
  if (!stepped.ok()) return std::move(stepped).error();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());  // repeats the error of the step, which was reported
  sqlite3_clear_bindings(statement_.get());
  bound_ = SQLITE_OK;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return {};
  const int bytes = sqlite3_column_bytes(statement_.get(), column);
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(bytes)};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }

std::string_view Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name == nullptr ? std::string_view() : std::string_view(name);
}

ValueKind Statement::kind(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return ValueKind::kInteger;
    case SQLITE_FLOAT:
      return ValueKind::kReal;
    case SQLITE_TEXT:
      return ValueKind::kText;
    case SQLITE_BLOB:
      return ValueKind::kBytes;
    default:
      return ValueKind::kNull;
  }
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string_view Statement::bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

void Connection::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<Connection> Connection::open(const std::string& file, const ConnectionOptions& options) {
  const int access = options.read_only
                         ? SQLITE_OPEN_READONLY
                         : SQLITE_OPEN_READWRITE | (options.create ? SQLITE_OPEN_CREATE : 0);
  const int flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  sqlite3* raw = nullptr;
  const int status = sqlite3_open_v2(file.c_str(), &raw, flags, options.vfs);
  Connection connection(raw);  // there even after most failures
  if (status != SQLITE_OK) return error_of(status, raw).in(file);
  sqlite3_busy_timeout(raw, static_cast<int>(options.busy_wait.count()));
  // Files may come from anywhere: what stands in a schema is not to be run, and a
  // mapped file that somebody truncates would end the process.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  TRY(connection.execute("PRAGMA mmap_size=0; PRAGMA cell_size_check=ON"));
  if (options.own_checkpoints) {
    sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    // In place of the checkpoint that a commit would make.
    sqlite3_wal_hook(
        raw,
        [](void* pages, sqlite3*, const char*, int count) {
          *static_cast<int*>(pages) = count;
          return SQLITE_OK;
        },
        connection.log_pages_.get());
  }
  if (options.is_private_copy) {
    sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kCopiedValueBytesMax);
    // Exclusive: the index of a write-ahead log is kept in memory and not in a file beside it.
    TRY(connection.execute(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA query_only=ON; PRAGMA temp_store=MEMORY"));
  }
  return connection;
}

Result<void> Connection::execute(const std::string& sql) {
  const int status = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) return error_of(status, database_.get());
  return {};
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int status =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (status != SQLITE_OK) return error_of(status, database_.get());
  if (raw == nullptr) return Error(Code::kInvalidArgument, "no SQL statement");
  return Statement(raw);
}

Result<std::optional<std::int64_t>> Connection::number(std::string_view sql) {
  TRY_ASSIGN(Statement statement, prepare(sql));
  TRY_ASSIGN(const bool row, statement.step());
  return row ? std::optional(statement.integer(0)) : std::nullopt;
}

Result<void> Connection::make_empty() {
  const auto set = [this](int on) {
    return sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_RESET_DATABASE, on, nullptr);
  };
  // Whoever has the file open must not be in the way: with a write-ahead log nobody is, but that
  // there is one is not known before something was read.
  ignore(execute("SELECT 1 FROM sqlite_master LIMIT 1"), "what is there may be anything");
  if (const int status = set(1); status != SQLITE_OK) return error_of(status, database_.get());
  auto emptied = execute("VACUUM");
  set(0);
  return emptied;
}

Result<void> Connection::add_text_search(std::shared_ptr<const Tokenizer> tokenizer) {
  return sql::add_text_search(database_.get(), std::move(tokenizer));
}

Result<std::string> Connection::image() {
  struct Free {
    void operator()(unsigned char* bytes) const { sqlite3_free(bytes); }
  };
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, Free> bytes(
      sqlite3_serialize(database_.get(), "main", &size, 0));
  if (bytes == nullptr && size != 0) return Error(Code::kNoMemory, "sqlite: no image");
  return std::string(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
}

Result<void> Connection::checkpoint() {
  const int status = sqlite3_wal_checkpoint_v2(database_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                               nullptr, nullptr);
  if (status != SQLITE_OK) return error_of(status, database_.get());
  *log_pages_ = 0;
  return {};
}

bool Connection::has_moved() const {
  int moved = 0;  // stays so where a file system knows nothing of it
  sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

bool Connection::is_disk_full() const { return sqlite3_system_errno(database_.get()) == ENOSPC; }

void Connection::interrupt() { sqlite3_interrupt(database_.get()); }

void Connection::abandon() { [[maybe_unused]] sqlite3* leaked = database_.release(); }

Result<Transaction> Transaction::begin(Connection& connection) {
  TRY(connection.execute("BEGIN IMMEDIATE"));
  return Transaction(connection);
}

Transaction::~Transaction() {
  if (connection_ == nullptr) return;
  ignore(connection_->execute("ROLLBACK"), "SQLite may have rolled back by itself already");
}

Result<void> Transaction::commit() {
  TRY(connection_->execute("COMMIT"));
  connection_ = nullptr;
  return {};
}

}  // namespace quipu::sql
