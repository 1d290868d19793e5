// Databases of other agents: made by statements, and compared row by row.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sql/database.h"
#include "unit/fs/temporary_directory.h"

namespace quipu {

/// The bytes of a database that these statements make.
inline std::string database_image(const std::vector<std::string>& statements) {
  auto connection = sql::Connection::open(":memory:");
  EXPECT_TRUE(connection.ok());
  for (const std::string& statement : statements) {
    const auto done = connection->execute(statement);
    EXPECT_TRUE(done.ok()) << statement << ": " << done.error().message();
  }
  return connection->image().value();
}

/// Every row as the quote() of its columns, by table.
using QuotedRows = std::map<std::string, std::multiset<std::string>>;

inline std::vector<std::string> first_column(sql::Connection& connection, const std::string& sql) {
  std::vector<std::string> texts;
  auto statement = connection.prepare(sql);
  EXPECT_TRUE(statement.ok()) << sql << ": " << statement.error().message();
  while (statement.ok() && statement->step().value()) texts.emplace_back(statement->text(0));
  return texts;
}

inline QuotedRows quoted_rows(const std::string& image) {
  const fs::TemporaryDirectory directory;
  const std::string path = directory / "image.db";
  std::ofstream(path, std::ios::binary) << image;
  auto connection = sql::Connection::open(path).value();
  QuotedRows rows;
  for (const std::string& table :
       first_column(connection, "SELECT name FROM sqlite_schema WHERE type='table'")) {
    std::string columns;
    for (const std::string& column :
         first_column(connection, "SELECT name FROM pragma_table_info('" + table + "')")) {
      columns += (columns.empty() ? "" : " || ' ' || ") + ("quote(\"" + column + "\")");
    }
    const auto quoted = first_column(connection, "SELECT " + columns + " FROM \"" + table + "\"");
    rows[table].insert(quoted.begin(), quoted.end());
  }
  return rows;
}

}  // namespace quipu
