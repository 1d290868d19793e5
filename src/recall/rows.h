// Small things that all tables of recall need.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.h"
#include "search/text_index.h"

namespace quipu::recall {

/// A list as one parameter: a JSON array, which both engines can take apart.
std::string list_of(std::span<const std::string> texts);
std::string list_of(std::span<const std::int64_t> numbers);

/// Keeps a text until the commit.
std::string_view keep(search::Writes& writes, std::string text);

/// A text as every engine takes it: PostgreSQL has no place for the character 0.
std::string storable(std::string text);

/// The rows of an answer, each as `read` makes it.
template <class Row, class Read>
Result<std::vector<Row>> rows_of(sql::Engine& engine, const sql::Text& text,
                                 std::span<const sql::Param> params, Read read) {
  std::vector<Row> found;
  TRY_ASSIGN(const auto rows, engine.ask(text, params));
  for (;;) {
    TRY_ASSIGN(const bool is_there, rows->next());
    if (!is_there) return found;
    found.push_back(read(*rows));
  }
}

}  // namespace quipu::recall
