#include "search/index_database.h"

#include <chrono>

#include "base/try.h"
#include "search/analyser.h"
#include "sql/sqlite_engine.h"

namespace quipu::search {
namespace {

constexpr auto kWait = std::chrono::seconds(5);
constexpr int kMakingsMax = 5;

constexpr sql::Text kMakeVersions =
    "CREATE TABLE IF NOT EXISTS @quipu_indexes"
    " (name {key} NOT NULL PRIMARY KEY, version TEXT NOT NULL)";
constexpr sql::Text kReadVersion = "SELECT version FROM @quipu_indexes WHERE name = $1";
// Together: fails when somebody else has set it since it was read.
constexpr sql::Text kTakeVersion = "DELETE FROM @quipu_indexes WHERE name = $1 AND version = $2";
constexpr sql::Text kSetVersion = "INSERT INTO @quipu_indexes (name, version) VALUES ($1, $2)";
constexpr sql::Text kForgetVersion = "DELETE FROM @quipu_indexes WHERE name = $1";

std::shared_ptr<sql::Pool> memory_pool(Clock& clock) {
  const auto open = [] {
    return sql::open_sqlite(":memory:", {.create = true, .tokenizer = tokenizer()});
  };
  return std::make_shared<sql::Pool>(open, clock, kWait, 1);
}

// No table of versions: no tables of ours.
Result<std::string> version_in(sql::Engine& engine, const std::string& name) {
  const sql::Param params[] = {name};
  auto version = engine.word(kReadVersion, params);
  if (!version.ok() && version.error().code() == Code::kInvalidArgument) return std::string();
  if (!version.ok()) return std::move(version).error();
  return version->value_or("");
}

void add(std::string text, Writes& into) {
  into.commands.push_back({.text = into.texts.emplace_back(std::move(text)).c_str()});
}

}  // namespace

IndexDatabase::IndexDatabase(std::shared_ptr<sql::Pool> postgres)
    : is_postgres_(true), pool_(std::move(postgres)) {}

IndexDatabase::IndexDatabase(std::shared_ptr<sql::Pool> sqlite, std::function<Result<void>()> empty,
                             std::function<bool()> exists)
    : is_postgres_(false),
      pool_(std::move(sqlite)),
      empty_(std::move(empty)),
      exists_(std::move(exists)) {}

IndexDatabase::IndexDatabase(Clock& clock) : is_postgres_(false), pool_(memory_pool(clock)) {}

std::unique_ptr<TextIndex> IndexDatabase::text_index(std::string name) const {
  return is_postgres_ ? tsvector_index(std::move(name)) : fts5_index(std::move(name));
}

std::string IndexDatabase::version_of(const IndexTables& tables) const {
  // What has no words in it does not depend on what a word is.
  if (tables.text_indexes.empty()) return tables.version;
  const std::string version = tables.version + " analyser " + std::to_string(kAnalyserVersion);
  return is_postgres_ ? version + " tsvector " + std::to_string(kTsvectorVersion) : version;
}

Result<bool> IndexDatabase::prepare(const IndexTables& tables, const FirstRows& first_rows) {
  TRY_ASSIGN(const auto engine, pool_->lease());
  // Others make other tables, and the one of versions with them, at the same moment.
  for (int tries = 1;; ++tries) {
    auto made = make(*engine, tables, first_rows);
    const bool is_conflict = !made.ok() && made.error().code() == Code::kIdConflict;
    if (!is_conflict || tries == kMakingsMax) return made;
  }
}

Result<bool> IndexDatabase::make(sql::Engine& engine, const IndexTables& tables,
                                 const FirstRows& first_rows) const {
  const std::string wanted = version_of(tables);
  TRY_ASSIGN(const std::string found, version_in(engine, tables.name));
  if (found == wanted) return false;
  Writes writes;
  writes.commands.push_back({.text = kMakeVersions});
  // First: who comes second must not drop what the first has filled by now.
  writes.commands.push_back({.text = kTakeVersion, .params = {tables.name, found}});
  writes.commands.push_back({.text = kSetVersion, .params = {tables.name, wanted}});
  drop(tables, writes);
  for (const sql::Text& text : tables.create) writes.commands.push_back({.text = text});
  for (const std::string& name : tables.text_indexes) {
    for (std::string& text : text_index(name)->creation()) add(std::move(text), writes);
  }
  if (first_rows) {
    for (sql::Command& row : first_rows()) writes.commands.push_back(std::move(row));
  }
  auto made = engine.commit(writes.commands, sql::Sync::kLater);
  if (made.ok()) return true;
  // Somebody else may have made them meanwhile.
  TRY_ASSIGN(const std::string now, version_in(engine, tables.name));
  if (now == wanted) return true;
  return std::move(made).error();
}

Result<bool> IndexDatabase::has(const IndexTables& tables) {
  if (exists_ && !exists_()) return false;
  TRY_ASSIGN(const auto engine, pool_->lease());
  TRY_ASSIGN(const std::string found, version_in(*engine, tables.name));
  return !found.empty();
}

Result<void> IndexDatabase::drop(const IndexTables& tables) {
  TRY_ASSIGN(const auto engine, pool_->lease());
  Writes writes;
  writes.commands.push_back({.text = kMakeVersions});
  drop(tables, writes);
  writes.commands.push_back({.text = kForgetVersion, .params = {tables.name}});
  return engine->commit(writes.commands, sql::Sync::kLater);
}

// Their own tables first, in the order in which they are named: whoever writes takes them in the
// same order, and a server lets neither wait for the other.
void IndexDatabase::drop(const IndexTables& tables, Writes& into) const {
  for (const sql::Text& text : tables.drop) into.commands.push_back({.text = text});
  for (const std::string& name : tables.text_indexes) {
    for (std::string& text : text_index(name)->removal()) add(std::move(text), into);
  }
}

}  // namespace quipu::search
