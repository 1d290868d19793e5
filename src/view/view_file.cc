#include "view/view_file.h"

#include <unordered_set>

#include "base/crc32c.h"
#include "base/fork_count.h"
#include "base/try.h"
#include "sql/migrate.h"

namespace quipu::view {
namespace {

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

// Over everything that is stored of a row.
std::uint32_t crc_of(const std::string& session_id, const LogCursor& cursor,
                     std::string_view record) {
  std::string head = session_id;
  for (const std::uint64_t number :
       {cursor.device, cursor.inode, cursor.settled_bytes,
        static_cast<std::uint64_t>(cursor.modified_ms), std::uint64_t{cursor.entries},
        std::uint64_t{cursor.tail_crc}}) {
    head += ' ';
    head += std::to_string(number);
  }
  head += '\n';
  return crc32c_extend(crc32c(head), record);
}

// False: not what was written.
bool take_row(const sql::Statement& row, const ViewFile::Take& take) {
  std::string id(row.text(0));
  const LogCursor cursor = cursor_at(row, 1);
  const std::string_view record = row.bytes(7);
  return row.integer(8) == std::int64_t{crc_of(id, cursor, record)} &&
         take(std::move(id), cursor, record);
}

Error bad_row() { return {Code::kCorrupt, "a row of a view does not match its checksum"}; }

}  // namespace

ViewFile::ViewFile(const ViewSchema& schema, std::unique_ptr<fs::Fs> fs,
                   const std::string& directory)
    : schema_(schema),
      fs_(std::move(fs)),
      path_(directory + '/' + schema.file),
      forks_(fork_count()) {}

ViewFile::~ViewFile() { close(); }

void ViewFile::close() {
  if (connection_ && fork_count() != forks_) connection_->abandon();
  connection_.reset();
}

// Whether the open file is still the one behind the name.
bool ViewFile::is_ours() {
  const auto stat = fs_->stat(schema_.file);
  return connection_ && stat.ok() && stat->identity == identity_;
}

Result<void> ViewFile::open() {
  // Made by us and not by SQLite: titles are nobody else's business, and our
  // files are readable for their owner only.
  auto made = fs_->open(schema_.file, fs::OpenMode::kCreateNew);
  if (!made.ok() && made.error().code() != Code::kIdConflict) {
    // On a read-only medium an existing one may still be read.
    if (const auto there = fs_->stat(schema_.file); !there.ok()) return std::move(made).error();
  }
  if (made.ok()) made->reset();
  TRY_ASSIGN(const fs::Stat stat, fs_->stat(schema_.file));
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

void ViewFile::load(const Take& take) {
  auto loaded = open();
  if (loaded.ok()) loaded = sql::migrate(*connection_, schema_.steps);
  if (loaded.ok()) loaded = scan(take);
  if (!loaded.ok()) judge(loaded.error());
}

Result<void> ViewFile::scan(const Take& take) {
  TRY_ASSIGN(sql::Statement statement, connection_->prepare(kColumns));
  std::unordered_set<std::string> seen;
  bool sound = true;
  for (;;) {
    TRY_ASSIGN(const bool row, statement.step());
    if (!row) break;
    const bool is_first = seen.emplace(statement.text(0)).second;
    sound = is_first && take_row(statement, take) && sound;
  }
  return sound ? Result<void>() : bad_row();
}

Result<void> ViewFile::look_up(const std::string& session_id, const Take& take) {
  if (!is_ours()) {
    close();
    TRY(open());
  }
  TRY(sql::migrate(*connection_, schema_.steps));
  TRY_ASSIGN(sql::Statement statement,
             connection_->prepare(std::string(kColumns) + " WHERE session_id=?1"));
  TRY_ASSIGN(const bool found, statement.bind(1, std::string_view(session_id)).step());
  return !found || take_row(statement, take) ? Result<void>() : bad_row();
}

void ViewFile::find(const std::string& session_id, const Take& take) {
  if (fork_count() != forks_ || !fs_->stat(schema_.file).ok()) return;
  ignore(look_up(session_id, take), "what is not to be had here is computed");
}

void ViewFile::put(const ViewRecord& row) {
  if (fork_count() != forks_) return;
  ignore(write({&row, 1}, {}, false), "a list judges the file, and writes what is missing");
}

void ViewFile::save(std::span<const ViewRecord> changed, std::span<const std::string> gone,
                    const std::function<std::vector<ViewRecord>()>& all) {
  if (state_ == State::kUnwritable) return;
  if (fork_count() != forks_) {  // SQLite must not be carried into a child
    state_ = State::kUnwritable;
    return;
  }
  const bool anew = behind_ || !is_ours();
  auto saved = anew ? write(all(), {}, true) : write(changed, gone, false);
  if (!saved.ok()) {
    judge(saved.error());
    if (state_ != State::kBroken) return;
    saved = write(all(), {}, true);
    if (!saved.ok()) return judge(saved.error());
  }
  state_ = State::kUsable;
  behind_ = false;
}

Result<void> ViewFile::write(std::span<const ViewRecord> rows, std::span<const std::string> gone,
                             bool anew) {
  if (state_ == State::kBroken) remove();
  if (!is_ours()) {
    close();
    TRY(open());
  }
  // Every time: a newer program may have changed the schema since.
  TRY(sql::migrate(*connection_, schema_.steps));
  TRY_ASSIGN(sql::Transaction transaction, sql::Transaction::begin(*connection_));
  if (anew) TRY(connection_->execute("DELETE FROM sessions"));
  TRY_ASSIGN(sql::Statement insert,
             connection_->prepare(
                 "INSERT OR REPLACE INTO sessions VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  for (const ViewRecord& row : rows) {
    const LogCursor& cursor = row.cursor;
    insert.bind(1, std::string_view(row.session_id))
        .bind(2, as_signed(cursor.device))
        .bind(3, as_signed(cursor.inode))
        .bind(4, as_signed(cursor.settled_bytes))
        .bind(5, cursor.modified_ms)
        .bind(6, std::int64_t{cursor.entries})
        .bind(7, std::int64_t{cursor.tail_crc})
        .bind(8, std::string_view(row.record))
        .bind(9, std::int64_t{crc_of(row.session_id, cursor, row.record)});
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
    ignore(fs_->remove(std::string(schema_.file) + suffix),
           "what stays is judged when it is opened");
  }
}

}  // namespace quipu::view
