#include "dialect/database.h"

#include <algorithm>
#include <optional>

#include "base/json_write.h"
#include "base/try.h"
#include "dialect/row_text.h"
#include "fs/scratch.h"

namespace quipu::dialect {
namespace {

constexpr int kTries = 5;
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;
constexpr std::string_view kCopyName = "copy.db";
// In the order in which they are copied.
constexpr std::string_view kSuffixes[] = {"", "-wal", "-journal"};

using State = std::vector<std::optional<fs::HostStat>>;

// Of a file that is not there: nothing.
Result<State> state_of(const std::string& path, fs::HostFiles& files) {
  State state;
  for (const std::string_view suffix : kSuffixes) {
    auto stat = files.stat(path + std::string(suffix));
    if (!stat.ok() && stat.error().code() != Code::kNotFound) return std::move(stat).error();
    state.push_back(stat.ok() ? std::optional(*stat) : std::nullopt);
  }
  return state;
}

Result<void> copy_file(const std::string& path, fs::HostFiles& files, fs::Scratch& scratch,
                       const std::string& name) {
  TRY_ASSIGN(const auto file, files.open(path));
  TRY(scratch.append(name, {}));
  std::string buffer(kCopyBytes, '\0');
  for (std::uint64_t at = 0;;) {
    TRY_ASSIGN(const std::size_t got, file->read_at(std::span(buffer), at));
    if (got == 0) return {};
    TRY(scratch.append(name, std::string_view(buffer).substr(0, got)));
    at += got;
  }
}

Error say_where(Error error) {
  if (error.code() != Code::kNoSpace) return error;
  return std::move(error).with_hint("name a directory with more room in TMPDIR");
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

Result<sql::Connection> copy_once(const std::string& path, fs::HostFiles& files) {
  TRY_ASSIGN(fs::Scratch scratch, fs::Scratch::make());
  for (const std::string_view suffix : kSuffixes) {
    const std::string from = path + std::string(suffix);
    if (!suffix.empty() && !files.exists(from)) continue;
    TRY(copy_file(from, files, scratch, std::string(kCopyName) + std::string(suffix)));
  }
  TRY_ASSIGN(const std::string directory, scratch.show());
  sql::ConnectionOptions options;
  options.create = false;
  options.is_private_copy = true;
  TRY_ASSIGN(sql::Connection connection,
             sql::Connection::open(directory + "/" + std::string(kCopyName), options));
  // The first look opens the log and rolls back what the journal says; no name is
  // needed after it.
  TRY(connection.number("SELECT count(*) FROM sqlite_schema"));
  return connection;
}

}  // namespace

Result<sql::Connection> copy_aside(const std::string& path, fs::HostFiles& files) {
  for (int tried = 0; tried < kTries; ++tried) {
    TRY_ASSIGN(const State before, state_of(path, files));
    auto copy = copy_once(path, files);
    TRY_ASSIGN(const State after, state_of(path, files));
    // What went wrong while it changed may be due to that.
    if (before != after) continue;
    if (!copy.ok()) return say_where(std::move(copy).error()).in(path);
    return copy;
  }
  return Error(Code::kBusy, path + " changes faster than it can be copied")
      .with_hint("repeat it when its agent is idle");
}

Result<std::shared_ptr<Database>> Database::copy_of(const std::string& path, fs::HostFiles& files) {
  TRY_ASSIGN(sql::Connection connection, copy_aside(path, files));
  std::shared_ptr<Database> database(new Database(std::move(connection)));
  if (auto looked = database->look(); !looked.ok()) return std::move(looked).error().in(path);
  return database;
}

Result<void> Database::look() {
  std::vector<std::string> names;
  TRY(
      query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
            "ESCAPE '\\' ORDER BY rowid",
            {}, [&](const sql::Statement& row) { names.emplace_back(row.text(0)); }));
  for (const std::string& name : names) {
    auto& columns = tables_[name];
    TRY(query("SELECT name FROM pragma_table_info(?1)", {name},
              [&](const sql::Statement& row) { columns.emplace(row.text(0)); }));
  }
  return {};
}

bool Database::has(std::string_view table, std::string_view column) const {
  const auto found = tables_.find(table);
  return found != tables_.end() && found->second.contains(column);
}

Result<void> Database::query(const std::string& sql, std::initializer_list<std::string_view> texts,
                             const See& see) {
  const MutexLock lock(mutex_);
  TRY_ASSIGN(sql::Statement statement, connection_.prepare(sql));
  int parameter = 0;
  for (const std::string_view text : texts) statement.bind(++parameter, text);
  for (;;) {
    TRY_ASSIGN(const bool found, statement.step());
    if (!found) return {};
    see(statement);
  }
}

Result<bool> Database::row(const std::string& table, std::int64_t rowid, std::string& into) {
  const MutexLock lock(mutex_);
  auto known = rows_.find(table);
  if (known == rows_.end()) {
    TRY_ASSIGN(sql::Statement made,
               connection_.prepare("SELECT * FROM " + quoted_name(table) + " WHERE rowid = ?1"));
    known = rows_.emplace(table, std::move(made)).first;
  }
  sql::Statement& statement = known->second;
  auto found = statement.bind(1, rowid).step();
  if (found.ok() && *found) into = row_text(statement);
  statement.reset();
  return found;
}

Result<std::string> Database::schema(std::initializer_list<std::string_view> tables) {
  std::string encoding;
  TRY(query("PRAGMA encoding", {},
            [&](const sql::Statement& row) { encoding = std::string(row.text(0)); }));
  std::string text;
  json::Writer out(text);
  out.begin_object().member("encoding", encoding).key("sql").begin_array();
  for (const std::string_view table : tables) {
    TRY(
        query("SELECT sql FROM sqlite_schema WHERE tbl_name = ?1 AND type IN ('table', 'index') "
              "AND sql IS NOT NULL ORDER BY type DESC, rowid",
              {table}, [&](const sql::Statement& row) { out.value(row.text(0)); }));
  }
  out.end_array().end_object();
  return text;
}

}  // namespace quipu::dialect
