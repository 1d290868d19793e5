// A row of a database as a record, and the row again.
//
// One JSON object on one line, with the columns in the order of the table:
//
//   the value is                          | it reads
//   --------------------------------------+-------------------------------
//   an integer                            | 12
//   a real                                | 1.5, 1.0, 1e+300; {"$real":"inf"}
//   text that is a JSON object            | the object itself, byte for byte
//   other text                            | "text"
//   text that is no UTF-8                 | {"$text64":base64}
//   bytes                                 | {"$blob":base64}
//   null                                  | null
//
// So the columns in which agents keep JSON can be read without being decoded twice. A
// text that is an object with such a member is written as a string, and a real
// always has a point or an exponent: no two rows have the same text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/database.h"

namespace quipu::dialect {

/// The row that the statement stands on.
std::string row_text(const sql::Statement& row);

/// One value of a row.
struct RowValue {
  std::string column;
  sql::ValueKind kind = sql::ValueKind::kNull;
  std::int64_t integer = 0;
  double real = 0;
  std::string bytes{};  // text, bytes
};

/// The row that a record was made from; nothing when it is no such record.
std::optional<std::vector<RowValue>> read_row(std::string_view record);

/// One value as it stands in a record.
void append_value(std::string& out, const RowValue& value);

}  // namespace quipu::dialect
