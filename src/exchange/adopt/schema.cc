#include "exchange/adopt/schema.h"

#include <algorithm>

#include "base/try.h"

namespace quipu::adoption {
namespace {

struct Table {
  const char* name;
  std::vector<std::string_view> columns;
};

const Table kTheirs[] = {{"chat_sessions", {"id"}},
                         {"messages", {"id", "session_id", "role", "content"}}};

// CodePilot adds them at its start when they are missing.
const Table kAddedByThem[] = {
    {"chat_sessions", {"created_at", "updated_at", "working_directory", "sdk_session_id"}},
    {"messages", {"created_at"}}};

// Made by phases, unless somebody has made them already.
const Table kOurs[] = {
    {"projects", {"id", "root_path", "name", "created_at", "updated_at"}},
    {"message_parts",
     {"id", "message_id", "session_id", "part_type", "payload", "seq", "created_at"}},
    {"session_runtime_state",
     {"session_id", "is_processing", "processing_generation", "queued_messages",
      "pending_permissions", "updated_at"}},
    {"quipu_adoption", {"phase", "adopted_at", "version"}}};

// "table.column" of the first that is missing; empty: none.
std::string missing_in(const Schema& schema, const Table& table) {
  for (const std::string_view column : table.columns) {
    if (!schema.has(table.name, column)) return table.name + ("." + std::string(column));
  }
  return {};
}

}  // namespace

Result<Schema> Schema::read(sql::Connection& connection) {
  Schema schema;
  TRY_ASSIGN(sql::Statement objects,
             connection.prepare("SELECT type, name, sql FROM sqlite_schema WHERE type IN "
                                "('table', 'index', 'trigger')"));
  for (;;) {
    TRY_ASSIGN(const bool found, objects.step());
    if (!found) break;
    const std::string name(objects.text(1));
    if (objects.text(0) == "table") {
      schema.tables[name];
    } else {
      schema.statements[name] = objects.text(2);
    }
  }
  TRY_ASSIGN(sql::Statement columns, connection.prepare("SELECT name FROM pragma_table_info(?1)"));
  for (auto& [table, names] : schema.tables) {
    columns.bind(1, std::string_view(table));
    for (;;) {
      TRY_ASSIGN(const bool found, columns.step());
      if (!found) break;
      names.emplace_back(columns.text(0));
    }
    columns.reset();
  }
  return schema;
}

bool Schema::has(std::string_view table, std::string_view column) const {
  const auto found = tables.find(table);
  return found != tables.end() && std::ranges::find(found->second, column) != found->second.end();
}

std::string_view Schema::statement(std::string_view name) const {
  const auto found = statements.find(name);
  return found == statements.end() ? std::string_view() : std::string_view(found->second);
}

Result<void> require_codepilot(const Schema& schema) {
  for (const Table& table : kTheirs) {
    const std::string missing = missing_in(schema, table);
    if (missing.empty()) continue;
    return Error(Code::kInvalidArgument, "no database of CodePilot: no " + missing);
  }
  for (const Table& table : kAddedByThem) {
    const std::string missing = missing_in(schema, table);
    if (missing.empty()) continue;
    return Error(Code::kUnsupported, "of an early CodePilot: no " + missing)
        .with_hint("start a newer CodePilot with it once, which adds the column");
  }
  for (const Table& table : kOurs) {
    if (!schema.has(table.name)) continue;
    const std::string missing = missing_in(schema, table);
    if (missing.empty()) continue;
    return Error(Code::kUnsupported,
                 "it has a table " + std::string(table.name) + " of another shape: no " + missing);
  }
  return {};
}

}  // namespace quipu::adoption
