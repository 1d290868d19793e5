// RowReader: a session that is rows of a database.
//
// Which rows, and in which order, is known before the first is read, as their numbers;
// the rows come one at a time. The first record is the schema of their tables, a fact
// of kind "schema". Each of the others is a row (row_text.h) of the kind that its
// table is called. Rows are changed in place, so such a source is whole.
//
// Memory: twelve bytes a row, and one row.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/database.h"
#include "dialect/line_reader.h"
#include "dialect/reader.h"

namespace quipu::dialect {

/// The rows of a session.
class RowPlan {
 public:
  explicit RowPlan(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  /// The rows of `table` whose numbers `sql` selects, in that order; no rows when there is
  /// no such table with such a column. `see`: the same rows, for more columns.
  Result<void> add(std::string_view table, std::string_view column, const std::string& sql,
                   std::initializer_list<std::string_view> texts, const Database::See& see = {});
  /// One more.
  Result<void> add_row(std::string_view table, std::int64_t rowid);

  Database& database() const { return *database_; }

 private:
  friend class RowReader;
  struct Row {
    std::uint16_t table;
    std::int64_t rowid;
  };

  std::shared_ptr<Database> database_;
  std::vector<std::string> tables_;
  std::vector<Row> rows_;
};

class RowReader : public Reader {
 public:
  /// `describe` finds the kind filled in.
  RowReader(RowPlan plan, std::string schema, Outline outline, LineReader::Describe describe);

  const Outline& outline() const override { return outline_; }
  Result<bool> next(Record& record) override;
  ReadPosition position() const override { return {}; }
  bool is_whole() const override { return true; }

 private:
  RowPlan plan_;
  std::string schema_;
  Outline outline_;
  LineReader::Describe describe_;
  std::size_t at_ = 0;  // 0: the schema
  std::string text_;
  std::vector<json::Member> members_;
};

}  // namespace quipu::dialect
