// Any bytes as rows of a database: a line each, `table column=value, column=value …` with the
// columns parted by NUL. Every row comes back from its record, and whatever is in it can be
// understood.
#pragma once

#include "dialect/row_text.h"
#include "dialect_fuzz.h"

namespace quipu::dialect {

// Numbers, bytes, texts and null, by the first byte.
inline RowValue fuzz_value(std::string_view text) {
  RowValue value;
  if (text.empty()) return value;
  const char kind = text.front();
  text.remove_prefix(1);
  value.kind = kind == '#'   ? sql::ValueKind::kInteger
               : kind == '~' ? sql::ValueKind::kReal
               : kind == '!' ? sql::ValueKind::kBytes
                             : sql::ValueKind::kText;
  std::uint64_t bits = 0;
  for (const char c : text.substr(0, 8)) bits = bits << 8 | static_cast<unsigned char>(c);
  if (kind == '#') value.integer = static_cast<std::int64_t>(bits);
  if (kind == '~') value.real = static_cast<double>(static_cast<std::int64_t>(bits)) / 7;
  if (kind != '#' && kind != '~') value.bytes = text;
  return value;
}

inline std::string fuzz_record(std::string_view columns) {
  std::string record = "{";
  std::vector<RowValue> values;
  while (!columns.empty()) {
    const std::string_view column = columns.substr(0, columns.find('\0'));
    columns.remove_prefix(std::min(columns.size(), column.size() + 1));
    const std::size_t equals = column.find('=');
    if (equals == std::string_view::npos) continue;
    if (!values.empty()) record += ',';
    values.push_back(fuzz_value(column.substr(equals + 1)));
    json::append_quoted(record, column.substr(0, equals));
    record += ':';
    append_value(record, values.back());
  }
  record += '}';
  std::vector<json::Member> members;
  require(json::scan_line(record, members).ok());
  const auto row = read_row(record);
  require(row && row->size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    require((*row)[i].kind == values[i].kind && (*row)[i].bytes == values[i].bytes &&
            (*row)[i].integer == values[i].integer && (*row)[i].real == values[i].real);
  }
  return record;
}

inline void fuzz_rows(const Dialect& dialect, std::string_view text) {
  read_row(text);
  std::deque<std::string> kept;
  std::vector<StoredRecord> records;
  std::uint32_t last = kNoRecord;
  while (!text.empty() && records.size() < 64) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view table = line.substr(0, line.find(' '));
    StoredRecord record;
    record.kind = kept.emplace_back(table);
    record.payload =
        kept.emplace_back(fuzz_record(line.substr(std::min(line.size(), table.size() + 1))));
    const auto id = json::find_member(record.payload, "id");
    record.id = kept.emplace_back(id ? json::decode_string(id->value) : std::string());
    record.place = static_cast<std::uint32_t>(records.size());
    record.parent = dialect.leads(record.kind) ? last : kNoRecord;
    if (dialect.leads(record.kind)) last = record.place;
    records.push_back(record);
  }
  fuzz_understanding(dialect, records);
}

}  // namespace quipu::dialect
