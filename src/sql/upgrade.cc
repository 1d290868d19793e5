#include "sql/upgrade.h"

#include <algorithm>

#include "base/try.h"

namespace quipu::sql {
namespace {

constexpr Text kHasSchema{
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'quipu_schema'",
    "SELECT count(*) FROM pg_class WHERE oid = to_regclass('@quipu_schema')"};
constexpr Text kMakeSpace{"SELECT 1", "CREATE SCHEMA IF NOT EXISTS {schema}"};
constexpr Text kMakeSchema =
    "CREATE TABLE @quipu_schema (one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),"
    " version BIGINT NOT NULL, taken BIGINT NOT NULL)";
constexpr Text kBegin = "INSERT INTO @quipu_schema (one, version, taken) VALUES (1, $1, 0)";
constexpr Text kRead = "SELECT version, taken FROM @quipu_schema";
// The check refuses the second of two that take the same statement at once.
constexpr Text kTake =
    "UPDATE @quipu_schema SET version = $1, taken = $2,"
    " one = CASE WHEN version = $3 AND taken = $4 THEN 1 ELSE 0 END";

std::int64_t known(std::span<const Version> versions) {
  return static_cast<std::int64_t>(versions.size());
}

}  // namespace

Result<std::optional<SchemaState>> schema_state(Engine& engine) {
  TRY_ASSIGN(const auto tables, engine.number(kHasSchema));
  if (tables.value_or(0) == 0) return std::optional<SchemaState>();
  TRY_ASSIGN(const auto rows, engine.ask(kRead));
  TRY_ASSIGN(const bool found, rows->next());
  if (!found) return Error(Code::kCorrupt, "the table quipu_schema is empty");
  return std::optional(SchemaState{.version = rows->integer(0), .taken = rows->integer(1)});
}

Result<void> make_schema(Engine& engine, std::span<const Version> versions,
                         std::span<const Command> more) {
  std::vector<Command> all{
      {.text = kMakeSpace}, {.text = kMakeSchema}, {.text = kBegin, .params = {known(versions)}}};
  for (const Version& version : versions) {
    for (const Text& statement : version.statements) all.push_back({.text = statement});
  }
  all.insert(all.end(), more.begin(), more.end());
  return engine.commit(all);
}

std::optional<Error> not_writable(const SchemaState& state, std::span<const Version> versions) {
  const std::string has = "the store has schema " + std::to_string(state.version);
  if (state.version > known(versions)) {
    return Error(Code::kUnsupported, has + ", this program knows " +
                                         std::to_string(known(versions)) + " and only reads it")
        .with_hint("use a newer version of quipu");
  }
  if (state.taken > 0) {
    return Error(Code::kUnsupported, "an upgrade of the store was interrupted")
        .with_hint("`quipu upgrade` goes on where it stopped; until then the store is read only");
  }
  if (state.version < known(versions)) {
    return Error(Code::kUnsupported,
                 has + ", this program writes " + std::to_string(known(versions)))
        .with_hint("`quipu upgrade` brings it up to date; until then the store is read only");
  }
  return std::nullopt;
}

Result<void> upgrade(Engine& engine, std::span<const Version> versions,
                     const BeforeVersion& before) {
  TRY_ASSIGN(auto found, schema_state(engine));
  if (!found) return Error(Code::kNotFound, "there is no store in this database");
  SchemaState state = *found;
  if (state.version > known(versions)) return *not_writable(state, versions);
  while (state.version < known(versions)) {
    const auto at = static_cast<std::size_t>(std::max<std::int64_t>(state.version, 0));
    const auto statements = versions[at].statements;
    const auto count = static_cast<std::int64_t>(statements.size());
    if (state.version < 0 || state.taken < 0 || state.taken >= count) {
      return Error(Code::kCorrupt, "quipu_schema says what no upgrade leaves behind");
    }
    if (state.taken == 0 && before) TRY(before(state.version + 1));
    const bool is_last = state.taken + 1 == count;
    const SchemaState next{.version = state.version + (is_last ? 1 : 0),
                           .taken = is_last ? 0 : state.taken + 1};
    const Command commands[] = {
        {.text = kTake, .params = {next.version, next.taken, state.version, state.taken}},
        {.text = statements[static_cast<std::size_t>(state.taken)]}};
    auto done = engine.commit(commands);
    if (done.ok()) {
      state = next;
      continue;
    }
    if (done.error().code() != Code::kIdConflict) return done;
    // Somebody else has taken it: we go on from where they are.
    TRY_ASSIGN(found, schema_state(engine));
    if (!found || (found->version == state.version && found->taken == state.taken)) return done;
    state = *found;
  }
  return {};
}

}  // namespace quipu::sql
