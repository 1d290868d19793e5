// Schema: what a database has, so that what it lacks can be said without asking it again.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sql/database.h"

namespace quipu::adoption {

struct Schema {
  static Result<Schema> read(sql::Connection& connection);

  bool has(std::string_view table) const { return tables.contains(table); }
  bool has(std::string_view table, std::string_view column) const;
  /// The statement that made an index or a trigger; empty: there is none of this name.
  std::string_view statement(std::string_view name) const;

  std::map<std::string, std::vector<std::string>, std::less<>> tables;  // columns, in order
  std::map<std::string, std::string, std::less<>> statements;
};

/// `invalid_argument` unless it is CodePilot's; `unsupported` when it lacks what CodePilot
/// adds at its start, or one of the tables that a phase makes has another shape.
Result<void> require_codepilot(const Schema& schema);

}  // namespace quipu::adoption
