#include "dialect/row_database.h"

#include "base/try.h"
#include "dialect/json_members.h"
#include "dialect/row_text.h"

namespace quipu::dialect {
namespace {

bool is_word_then(std::string_view& sql, std::string_view word) {
  while (!sql.empty() && (sql.front() == ' ' || sql.front() == '\n' || sql.front() == '\t' ||
                          sql.front() == '\r')) {
    sql.remove_prefix(1);
  }
  if (sql.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if ((sql[i] & ~0x20) != word[i]) return false;
  }
  sql.remove_prefix(word.size());
  return true;
}

bool makes_table_or_index(std::string_view sql) {
  if (!is_word_then(sql, "CREATE")) return false;
  is_word_then(sql, "UNIQUE");
  return is_word_then(sql, "TABLE") || is_word_then(sql, "INDEX");
}

void append_name(std::string& sql, std::string_view name) {
  sql += '"';
  for (const char c : name) {
    if (c == '"') sql += '"';
    sql += c;
  }
  sql += '"';
}

std::string insert_of(const std::string& table, const std::vector<RowValue>& row) {
  std::string sql = "INSERT INTO ";
  append_name(sql, table);
  std::string values;
  for (std::size_t i = 0; i < row.size(); ++i) {
    sql += i == 0 ? '(' : ',';
    append_name(sql, row[i].column);
    values += (i == 0 ? "?" : ",?") + std::to_string(i + 1);
  }
  return sql + ") VALUES (" + values + ")";
}

void bind(sql::Statement& insert, int parameter, const RowValue& value) {
  switch (value.kind) {
    case sql::ValueKind::kNull:
      break;
    case sql::ValueKind::kInteger:
      insert.bind(parameter, value.integer);
      break;
    case sql::ValueKind::kReal:
      insert.bind(parameter, value.real);
      break;
    case sql::ValueKind::kText:
      insert.bind(parameter, std::string_view(value.bytes));
      break;
    case sql::ValueKind::kBytes:
      insert.bind_bytes(parameter, value.bytes);
      break;
  }
}

}  // namespace

Result<RowDatabase> RowDatabase::make(std::string_view schema) {
  TRY_ASSIGN(sql::Connection connection, sql::Connection::open(":memory:"));
  RowDatabase database(std::move(connection));
  const std::string encoding = text_in(schema, "encoding");
  for (const char* known : {"UTF-8", "UTF-16le", "UTF-16be"}) {
    if (encoding != known) continue;
    TRY(database.connection_.execute("PRAGMA encoding='" + encoding + "'"));
  }
  // A session is a part of its database: what its rows refer to may not be there.
  TRY(database.connection_.execute("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON"));
  json::ElementWalk walk(array_in(schema, "sql"));
  while (const auto statement = walk.next()) {
    const std::string sql = json::decode_string(statement->value);
    if (!makes_table_or_index(sql)) return Error(Code::kInvalidArgument, "not of a schema: " + sql);
    TRY_ASSIGN(sql::Statement make, database.connection_.prepare(sql));
    TRY(make.run());
  }
  return database;
}

Result<void> RowDatabase::add(const std::string& table, std::string_view record) {
  const auto row = read_row(record);
  if (!row || row->empty()) return Error(Code::kInvalidArgument, "no row of a database");
  const std::string sql = insert_of(table, *row);
  auto known = inserts_.find(sql);
  if (known == inserts_.end()) {
    TRY_ASSIGN(sql::Statement made, connection_.prepare(sql));
    known = inserts_.emplace(sql, std::move(made)).first;
  }
  for (std::size_t i = 0; i < row->size(); ++i) {
    bind(known->second, static_cast<int>(i + 1), (*row)[i]);
  }
  return known->second.run();
}

Result<std::string> RowDatabase::image() { return connection_.image(); }

}  // namespace quipu::dialect
