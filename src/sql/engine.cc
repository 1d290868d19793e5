#include "sql/engine.h"

#include <algorithm>

#include "base/try.h"

namespace quipu::sql {
std::string expanded(std::string_view text, const Names& names) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, 2) == "@@") {  // an operator of PostgreSQL
      out += "@@";
      at += 2;
    } else if (text[at] == '@') {
      out += names.table;
      ++at;
    } else if (text[at] == '{') {
      const std::size_t end = std::min(text.find('}', at), text.size() - 1);
      const std::string_view word = text.substr(at + 1, end - at - 1);
      const std::string_view* name = word == "schema"      ? &names.schema
                                     : word == "key"       ? &names.key
                                     : word == "bytes"     ? &names.bytes
                                     : word == "clustered" ? &names.clustered
                                                           : nullptr;
      // Else it is JSON in a text.
      out += name != nullptr ? *name : "{";
      at = name != nullptr ? end + 1 : at + 1;
    } else {
      out += text[at++];
    }
  }
  return out;
}

Result<std::optional<std::int64_t>> Engine::number(const Text& text,
                                                   std::span<const Param> params) {
  TRY_ASSIGN(const auto rows, ask(text, params));
  TRY_ASSIGN(const bool found, rows->next());
  if (!found || rows->is_null(0)) return std::optional<std::int64_t>();
  return std::optional(rows->integer(0));
}

Result<std::optional<std::string>> Engine::word(const Text& text, std::span<const Param> params) {
  TRY_ASSIGN(const auto rows, ask(text, params));
  TRY_ASSIGN(const bool found, rows->next());
  if (!found || rows->is_null(0)) return std::optional<std::string>();
  return std::optional(std::string(rows->text(0)));
}

}  // namespace quipu::sql
