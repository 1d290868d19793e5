#include "sql/sqlite_engine.h"

#include <cstring>
#include <unordered_map>

#include "base/try.h"
#include "sql/database.h"

namespace quipu::sql {
namespace {

// Taken in when it has grown to 8 MiB: soon enough for readers, who search it, and for syncs,
// which take twice as long while the file still grows as when it is written over; and
// seldom enough for writers, who wait for the disk then.
constexpr int kLogPagesMax = 2048;

constexpr Names kNames{
    .table = "", .schema = "", .key = "TEXT", .bytes = "BLOB", .clustered = " WITHOUT ROWID"};

void bind(Statement& statement, int place, const Param& param) {
  switch (param.kind()) {
    case Param::Kind::kNull:
      break;
    case Param::Kind::kInteger:
      statement.bind(place, param.number());
      break;
    case Param::Kind::kText:
      statement.bind(place, param.view());
      break;
    case Param::Kind::kBytes:
      statement.bind_bytes(place, param.view());
      break;
  }
}

void bind_all(Statement& statement, std::span<const Param> params) {
  for (std::size_t i = 0; i < params.size(); ++i)
    bind(statement, static_cast<int>(i) + 1, params[i]);
}

class SqliteRows : public Rows {
 public:
  explicit SqliteRows(Statement& statement) : statement_(statement) {}
  ~SqliteRows() override { statement_.reset(); }
  Result<bool> next() override { return statement_.step(); }
  std::int64_t integer(int column) const override { return statement_.integer(column); }
  std::string_view text(int column) const override {
    return statement_.kind(column) == ValueKind::kBytes ? statement_.bytes(column)
                                                        : statement_.text(column);
  }
  bool is_null(int column) const override { return statement_.is_null(column); }

 private:
  Statement& statement_;
};

class SqliteEngine : public Engine {
 public:
  SqliteEngine(Connection connection, std::string file, const SqliteOptions& options)
      : connection_(std::move(connection)),
        file_(std::move(file)),
        turn_(options.turn),
        is_in_doubt_(options.is_in_doubt) {}

  ~SqliteEngine() override { statements_.clear(); }

  Result<std::unique_ptr<Rows>> ask(const Text& text, std::span<const Param> params) override {
    TRY_ASSIGN(Statement * statement, prepared(text));
    bind_all(*statement, params);
    return std::unique_ptr<Rows>(std::make_unique<SqliteRows>(*statement));
  }

  Result<void> commit(std::span<const Command> commands, Sync sync) override {
    TRY_ASSIGN(const auto held, turn());
    if (*is_in_doubt_) {
      return Error(Code::kIoError,
                   "the store is read-only since the disk refused to confirm a write")
          .with_hint("open it anew when the disk is well");
    }
    // What is committed there would be found by nobody, and its log not by its new name.
    if (connection_.has_moved()) {
      return Error(Code::kStorageGone, file_ + " was moved away or replaced by another file")
          .with_hint("nothing was stored: put it back, or open the store anew");
    }
    if (sync != sync_) {
      TRY(connection_.execute(sync == Sync::kNow ? "PRAGMA synchronous=FULL"
                                                 : "PRAGMA synchronous=NORMAL"));
      sync_ = sync;
    }
    TRY(run("BEGIN IMMEDIATE"));
    auto done = run_all(commands);
    const bool is_committing = done.ok();
    if (is_committing) done = run("COMMIT");
    if (!done.ok()) {
      roll_back();
      return failed(std::move(done).error(), is_committing);
    }
    if (connection_.log_pages() >= kLogPagesMax) take_in();
    return {};
  }

  Result<std::shared_ptr<void>> turn() override {
    return turn_ ? turn_() : Result<std::shared_ptr<void>>(std::shared_ptr<void>());
  }

  Result<void> tidy() override {
    TRY_ASSIGN(const auto held, turn());
    take_in();
    return {};
  }

  Result<std::string> back_up(std::string_view name) override {
    // Never over another one.
    for (int number = 1;; ++number) {
      std::string copy = file_ + "." + std::string(name);
      if (number > 1) copy += "." + std::to_string(number);
      TRY_ASSIGN(Statement statement, connection_.prepare("VACUUM INTO ?1"));
      statement.bind(1, std::string_view(copy));
      auto made = statement.run();
      if (made.ok()) return copy;
      const bool is_taken = made.error().message().find("already exists") != std::string::npos;
      if (!is_taken || number == 100) return std::move(made).error();
    }
  }

  void cancel() override { connection_.interrupt(); }
  bool is_usable() const override { return is_usable_; }
  void abandon() override {
    for (auto& [text, statement] : statements_) statement.abandon();
    connection_.abandon();
    is_usable_ = false;
  }

 private:
  Result<Statement*> prepared(const Text& text) {
    if (const auto known = statements_.find(text.sqlite); known != statements_.end()) {
      return &known->second;
    }
    TRY_ASSIGN(Statement statement, connection_.prepare(expanded(text.sqlite, kNames)));
    return &statements_.emplace(text.sqlite, std::move(statement)).first->second;
  }

  Result<void> run(const Text& text, std::span<const Param> params = {}) {
    TRY_ASSIGN(Statement * statement, prepared(text));
    const std::size_t width = text.kinds == nullptr ? params.size() : std::strlen(text.kinds);
    std::size_t at = 0;
    do {
      bind_all(*statement, params.subspan(at, width));
      TRY(statement->run());
      at += width;
    } while (at < params.size());
    return {};
  }

  Result<void> run_all(std::span<const Command> commands) {
    for (const Command& command : commands) TRY(run(command.text, command.params));
    return {};
  }

  Error failed(Error error, bool is_committing) {
    if (error.code() == Code::kDurabilityUnknown) *is_in_doubt_ = true;
    // What was written of the log may be found by whoever opens it after a crash.
    if (error.code() == Code::kIoError && is_committing) {
      error = Error(Code::kDurabilityUnknown, error.message());
    }
    if (error.code() == Code::kDurabilityUnknown) is_usable_ = false;
    return error;
  }

  // A commit is done whether or not its log can be taken in: what is not stays there, and is
  // read there. But the first step is a sync of the log, and commits that did not wait for the
  // disk may be lost with it.
  void take_in() {
    const auto done = connection_.checkpoint();
    if (!done.ok() && done.error().code() == Code::kDurabilityUnknown) *is_in_doubt_ = true;
  }

  void roll_back() { ignore(run("ROLLBACK"), "SQLite may have rolled back by itself already"); }

  Connection connection_;
  const std::string file_;
  const Turn turn_;
  const std::shared_ptr<std::atomic<bool>> is_in_doubt_;
  // After the connection: statements end before it does.
  std::unordered_map<std::string, Statement> statements_;
  Sync sync_ = Sync::kNow;
  bool is_usable_ = true;
};

}  // namespace

Result<std::unique_ptr<Engine>> open_sqlite(const std::string& file, const SqliteOptions& options) {
  TRY_ASSIGN(Connection connection, Connection::open(file, {.busy_wait = options.busy_wait,
                                                            .create = options.create,
                                                            .is_private_copy = false,
                                                            .own_checkpoints = true,
                                                            .read_only = options.read_only,
                                                            .vfs = options.vfs}));
  // Erased text must not stay in free pages.
  if (!options.read_only) {
    auto made = connection.execute("PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON");
    if (!made.ok() && connection.is_disk_full()) {
      return Error(Code::kNoSpace, made.error().message());
    }
    TRY(made);
  }
  if (options.tokenizer) TRY(connection.add_text_search(options.tokenizer));
  // Mapped, because reading a session is copying pages otherwise. The file is ours: nobody
  // cuts it off behind a reader's back, and pages are not checked cell by cell with every
  // look at them, which takes twice the time of the rest.
  TRY(connection.execute(
      "PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=1073741824;"
      " PRAGMA cell_size_check=OFF"));
  return std::unique_ptr<Engine>(
      std::make_unique<SqliteEngine>(std::move(connection), file, options));
}

Result<void> empty_sqlite(const std::string& file, const SqliteOptions& options) {
  std::shared_ptr<void> held;
  if (options.turn) {
    TRY_ASSIGN(held, options.turn());
  }
  TRY_ASSIGN(Connection connection, Connection::open(file, {.busy_wait = options.busy_wait,
                                                            .create = true,
                                                            .is_private_copy = false,
                                                            .own_checkpoints = true,
                                                            .read_only = false,
                                                            .vfs = options.vfs}));
  return connection.make_empty();
}

}  // namespace quipu::sql
