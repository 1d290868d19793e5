#include "backend/sql/log_head.h"

#include <charconv>

#include "backend/sql/statements.h"
#include "base/try.h"

namespace quipu::sqlstore {
namespace {

// Total: a row that was tampered with gives some state, and the keys refuse what does not
// fit.
void decode_last_facts(std::string_view text, FoldState& fold) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    std::size_t type = 0;
    Ordinal ordinal = 0;
    auto read = std::from_chars(at, end, type);
    if (read.ec != std::errc() || read.ptr == end) return;
    read = std::from_chars(read.ptr + 1, end, ordinal);
    if (read.ec != std::errc()) return;
    if (type < fold.last_fact.size()) fold.last_fact[type] = ordinal;
    at = read.ptr == end ? end : read.ptr + 1;
  }
}

}  // namespace

std::string encode_last_facts(const FoldState& fold) {
  std::string text;
  for (std::size_t type = 0; type < fold.last_fact.size(); ++type) {
    if (fold.last_fact[type] == kNone) continue;
    if (!text.empty()) text += ' ';
    text += std::to_string(type) + ":" + std::to_string(fold.last_fact[type]);
  }
  return text;
}

Placement placement(std::string_view type, std::optional<std::int64_t> parent, std::int64_t depth,
                    bool orphan) {
  return {.parent = parent ? static_cast<Ordinal>(*parent) : kNone,
          .depth = static_cast<std::uint32_t>(depth),
          .type = entry_type(type),
          .orphan = orphan};
}

sql::Param ordinal_param(Ordinal ordinal) {
  return ordinal == kNone ? sql::Param() : sql::Param(std::int64_t{ordinal});
}

sql::Param text_param(std::string_view text) {
  return text.empty() ? sql::Param() : sql::Param(text);
}

std::optional<std::int64_t> integer_or_null(const sql::Rows& rows, int column) {
  if (rows.is_null(column)) return std::nullopt;
  return rows.integer(column);
}

Result<std::optional<LogHead>> read_head(sql::Engine& engine, std::string_view session_id) {
  const sql::Param params[] = {session_id};
  TRY_ASSIGN(const auto rows, engine.ask(kReadHead, params));
  TRY_ASSIGN(const bool found, rows->next());
  if (!found) return std::optional<LogHead>();
  LogHead head;
  head.number = rows->integer(0);
  head.fold.count = static_cast<Ordinal>(rows->integer(1));
  head.bytes = static_cast<std::uint64_t>(rows->integer(2));
  head.modified_ms = rows->integer(3);
  head.fold.base = static_cast<Ordinal>(rows->integer(4));
  head.fold.head = rows->is_null(5) ? kNone : static_cast<Ordinal>(rows->integer(5));
  head.fold.head_depth = static_cast<std::uint32_t>(rows->integer(6));
  head.head_id = rows->text(7);
  head.tail_id = rows->text(8);
  decode_last_facts(rows->text(9), head.fold);
  if (!rows->is_null(10)) {
    head.computed = {.run_id = std::string(rows->text(10)),
                     .is_processing = rows->integer(11) != 0,
                     .generation = rows->integer(12),
                     .queued = std::string(rows->text(13)),
                     .pending = std::string(rows->text(14))};
  }
  return std::optional(std::move(head));
}

}  // namespace quipu::sqlstore
