// What a word is, for SQLite's full-text search: a table made with `tokenize='quipu'` asks
// the tokenizer of its connection (sqlite_engine.h).
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace quipu::sql {

/// Thread-safety: every call from every thread.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  struct Word {
    std::string_view text{};
    std::size_t begin = 0;  // bytes of the text
    std::size_t end = 0;
    bool same_place = false;  // as the word before it
  };
  /// False: no more.
  using Sink = std::function<bool(const Word&)>;

  /// `is_query`: a text of a MATCH expression, not a document.
  virtual void tokenize(std::string_view text, bool is_query, const Sink& sink) const = 0;
};

}  // namespace quipu::sql
