#include "view/view_file.h"

#include <unordered_set>

#include "base/fork_count.h"
#include "base/try.h"
#include "sql/migrate.h"

namespace quipu::view {
namespace {

// Without rowid: the table is one tree in the order of its key, and no second
// one could disagree with it.
constexpr const char* kSteps[] = {
    "CREATE TABLE sessions("
    "session_id TEXT PRIMARY KEY NOT NULL, device INTEGER, inode INTEGER, settled_bytes INTEGER, "
    "modified_ms INTEGER, entries INTEGER, tail_crc INTEGER, record TEXT, crc INTEGER"
    ") WITHOUT ROWID",
    // Rows of schema 1 took what was said about a session for activity in it.
    "DELETE FROM sessions"};

// Somebody who lists must not wait long for somebody else who lists.
constexpr std::chrono::milliseconds kBusyWait{50};

std::int64_t as_signed(std::uint64_t number) { return static_cast<std::int64_t>(number); }

constexpr std::string_view kColumns =
    "SELECT session_id, device, inode, settled_bytes, modified_ms, entries, tail_crc, record, crc "
    "FROM sessions";

LogCursor cursor_at(const sql::Statement& row, int column) {
  return {.device = static_cast<std::uint64_t>(row.integer(column)),
          .inode = static_cast<std::uint64_t>(row.integer(column + 1)),
          .settled_bytes = static_cast<std::uint64_t>(row.integer(column + 2)),
          .modified_ms = row.integer(column + 3),
          .entries = static_cast<Ordinal>(row.integer(column + 4)),
          .tail_crc = static_cast<std::uint32_t>(row.integer(column + 5))};
}

// Null: not what was written.
RowPointer row_at(const sql::Statement& statement) {
  std::string id(statement.text(0));
  const LogCursor cursor = cursor_at(statement, 1);
  const std::string_view record = statement.text(7);
  if (statement.integer(8) != std::int64_t{row_crc(id, cursor, record)}) return nullptr;
  auto decoded = decode_row(std::move(id), cursor, record);
  return decoded ? std::make_shared<const SessionRow>(*std::move(decoded)) : nullptr;
}

Error bad_row() { return {Code::kCorrupt, "a row of the catalogue does not match its checksum"}; }

}  // namespace

ViewFile::ViewFile(std::unique_ptr<fs::Fs> fs, const std::string& directory)
    : fs_(std::move(fs)), path_(directory + '/' + kName), forks_(fork_count()) {}

ViewFile::~ViewFile() { close(); }

void ViewFile::close() {
  if (connection_ && fork_count() != forks_) connection_->abandon();
  connection_.reset();
}

// Whether the open file is still the one behind the name.
bool ViewFile::is_ours() {
  const auto stat = fs_->stat(kName);
  return connection_ && stat.ok() && stat->identity == identity_;
}

Result<void> ViewFile::open() {
  // Made by us and not by SQLite: titles are nobody else's business, and our
  // files are readable for their owner only.
  auto made = fs_->open(kName, fs::OpenMode::kCreateNew);
  if (!made.ok() && made.error().code() != Code::kIdConflict) {
    // On a read-only medium an existing one may still be read.
    if (const auto there = fs_->stat(kName); !there.ok()) return std::move(made).error();
  }
  if (made.ok()) made->reset();
  TRY_ASSIGN(const fs::Stat stat, fs_->stat(kName));
  identity_ = stat.identity;
  TRY_ASSIGN(connection_, sql::Connection::open(path_, {.busy_wait = kBusyWait, .create = false}));
  return connection_->execute("PRAGMA synchronous=OFF");
}

// Decides what an error means for the file; see the table of the header.
void ViewFile::judge(const Error& error) {
  behind_ = true;
  switch (error.code()) {
    case Code::kBusy:
    case Code::kNoSpace:
    case Code::kNoMemory:
      break;  // another time
    case Code::kUnsupported:
    case Code::kStorageGone:
    case Code::kNotAllowed:
      state_ = State::kUnwritable;
      break;
    case Code::kCorrupt:
    case Code::kInvalidArgument:  // a schema that is not ours
    default:
      // Deleting is tried once; where that does not help, the next error is final.
      state_ = state_ == State::kBroken ? State::kUnwritable : State::kBroken;
      break;
  }
}

std::vector<RowPointer> ViewFile::load() {
  std::vector<RowPointer> rows;
  auto loaded = open();
  if (loaded.ok()) loaded = sql::migrate(*connection_, kSteps);
  if (loaded.ok()) loaded = scan(rows);
  if (!loaded.ok()) judge(loaded.error());
  return rows;
}

Result<void> ViewFile::scan(std::vector<RowPointer>& rows) {
  TRY_ASSIGN(sql::Statement statement, connection_->prepare(kColumns));
  std::unordered_set<std::string> seen;
  bool sound = true;
  for (;;) {
    TRY_ASSIGN(const bool row, statement.step());
    if (!row) break;
    RowPointer decoded = row_at(statement);
    if (!decoded || !seen.insert(decoded->session_id).second) {
      sound = false;
    } else {
      rows.push_back(std::move(decoded));
    }
  }
  return sound ? Result<void>() : bad_row();
}

Result<RowPointer> ViewFile::look_up(const std::string& session_id) {
  if (!is_ours()) {
    close();
    TRY(open());
  }
  TRY(sql::migrate(*connection_, kSteps));
  TRY_ASSIGN(sql::Statement statement,
             connection_->prepare(std::string(kColumns) + " WHERE session_id=?1"));
  TRY_ASSIGN(const bool found, statement.bind(1, std::string_view(session_id)).step());
  if (!found) return RowPointer();
  RowPointer row = row_at(statement);
  return row ? Result<RowPointer>(std::move(row)) : bad_row();
}

RowPointer ViewFile::find(const std::string& session_id) {
  if (fork_count() != forks_ || !fs_->stat(kName).ok()) return nullptr;
  auto row = look_up(session_id);
  return row.ok() ? std::move(row).value() : nullptr;
}

void ViewFile::put(const RowPointer& row) {
  if (fork_count() != forks_) return;
  ignore(write({&row, 1}, {}, false), "a list judges the file, and writes what is missing");
}

void ViewFile::save(std::span<const RowPointer> changed, std::span<const std::string> gone,
                    std::span<const RowPointer> all) {
  if (state_ == State::kUnwritable) return;
  if (fork_count() != forks_) {  // SQLite must not be carried into a child
    state_ = State::kUnwritable;
    return;
  }
  const bool anew = behind_ || !is_ours();
  auto saved = anew ? write(all, {}, true) : write(changed, gone, false);
  if (!saved.ok()) {
    judge(saved.error());
    if (state_ != State::kBroken) return;
    saved = write(all, {}, true);
    if (!saved.ok()) return judge(saved.error());
  }
  state_ = State::kUsable;
  behind_ = false;
}

Result<void> ViewFile::write(std::span<const RowPointer> rows, std::span<const std::string> gone,
                             bool anew) {
  if (state_ == State::kBroken) remove();
  if (!is_ours()) {
    close();
    TRY(open());
  }
  // Every time: a newer program may have changed the schema since.
  TRY(sql::migrate(*connection_, kSteps));
  TRY_ASSIGN(sql::Transaction transaction, sql::Transaction::begin(*connection_));
  if (anew) TRY(connection_->execute("DELETE FROM sessions"));
  TRY_ASSIGN(sql::Statement insert,
             connection_->prepare(
                 "INSERT OR REPLACE INTO sessions VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  for (const RowPointer& row : rows) {
    if (!row->summary.problem.empty()) continue;  // nothing that was read
    const LogCursor& cursor = row->cursor;
    const std::string record = encode_row(*row);
    insert.bind(1, std::string_view(row->session_id))
        .bind(2, as_signed(cursor.device))
        .bind(3, as_signed(cursor.inode))
        .bind(4, as_signed(cursor.settled_bytes))
        .bind(5, cursor.modified_ms)
        .bind(6, std::int64_t{cursor.entries})
        .bind(7, std::int64_t{cursor.tail_crc})
        .bind(8, std::string_view(record))
        .bind(9, std::int64_t{row_crc(row->session_id, cursor, record)});
    TRY(insert.run());
  }
  TRY_ASSIGN(sql::Statement erase,
             connection_->prepare("DELETE FROM sessions WHERE session_id=?1"));
  for (const std::string& id : gone) TRY(erase.bind(1, std::string_view(id)).run());
  return transaction.commit();
}

// The journal first: left alone, it would be played into the next file.
void ViewFile::remove() {
  close();
  for (const char* suffix : {"-journal", "-wal", "-shm", ""}) {
    ignore(fs_->remove(std::string(kName) + suffix), "what stays is judged when it is opened");
  }
}

}  // namespace quipu::view
