// RowDatabase: records of a database as a database again: a schema, then rows
// (row_text.h).
//
// In memory, until `image` gives the bytes of its file. What stands in a schema was
// written by somebody else: only statements that make tables and indexes are run.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sql/database.h"

namespace quipu::dialect {

class RowDatabase {
 public:
  /// `schema` as `Database::schema` says it.
  static Result<RowDatabase> make(std::string_view schema);

  /// A row of a table. `invalid_argument` when it is none, or the table has no such
  /// columns.
  Result<void> add(const std::string& table, std::string_view record);
  Result<std::string> image();

 private:
  explicit RowDatabase(sql::Connection connection) : connection_(std::move(connection)) {}

  sql::Connection connection_;
  std::map<std::string, sql::Statement> inserts_;  // by their SQL
};

}  // namespace quipu::dialect
