#include "dialect/row_reader.h"

#include <algorithm>

#include "base/try.h"

namespace quipu::dialect {
namespace {

// A damaged database can name the same rows without end.
constexpr std::size_t kRowsMax = std::size_t{16} << 20;

}  // namespace

Result<void> RowPlan::add_row(std::string_view table, std::int64_t rowid) {
  if (rows_.size() >= kRowsMax) return Error(Code::kTooLarge, "too many rows in a session");
  auto known = std::find(tables_.begin(), tables_.end(), table);
  if (known == tables_.end()) known = tables_.emplace(known, table);
  rows_.push_back({.table = static_cast<std::uint16_t>(known - tables_.begin()), .rowid = rowid});
  return {};
}

Result<void> RowPlan::add(std::string_view table, std::string_view column, const std::string& sql,
                          std::initializer_list<std::string_view> texts, const Database::See& see) {
  if (!database_->has(table, column)) return {};
  Result<void> added;
  TRY(database_->query(sql, texts, [&](const sql::Statement& row) {
    if (added.ok()) added = add_row(table, row.integer(0));
    if (added.ok() && see) see(row);
  }));
  return added;
}

RowReader::RowReader(RowPlan plan, std::string schema, Outline outline,
                     LineReader::Describe describe)
    : plan_(std::move(plan)),
      schema_(std::move(schema)),
      outline_(std::move(outline)),
      describe_(std::move(describe)) {}

Result<bool> RowReader::next(Record& record) {
  record = Record();
  if (at_ == 0) {
    ++at_;
    record.bytes = schema_;
    record.kind = "schema";
    record.id = "schema";
    record.is_fact = true;
    record.is_line = true;
    return true;
  }
  for (; at_ <= plan_.rows_.size(); ++at_) {
    const RowPlan::Row& row = plan_.rows_[at_ - 1];
    const std::string& table = plan_.tables_[row.table];
    TRY_ASSIGN(const bool found, plan_.database_->row(table, row.rowid, text_));
    if (!found) continue;  // a damaged index names rows that are not there
    ++at_;
    record.bytes = text_;
    record.kind = table;
    record.is_fact = true;
    record.is_line = json::scan_line(text_, members_).ok();
    describe_(Fields(members_), record);
    if (text_.size() > kRecordBytesMax) {
      record.bytes = {};
      record.large_bytes = text_;
      record.large_size = text_.size();
    }
    return true;
  }
  return false;
}

}  // namespace quipu::dialect
