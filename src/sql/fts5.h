// SQLite's full-text search: our tokenizer, and what ranking needs to know of a match.
//
// A connection that `add_text_search` was called for has
//   tokenize='quipu'  for tables `USING fts5`, cutting texts by the Tokenizer;
//   tally(TABLE)      for rows that a MATCH found: bytes that `read_tally` understands.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "quipu/result.h"
#include "sql/tokenizer.h"

struct sqlite3;

namespace quipu::sql {

/// How often a phrase of the MATCH expression occurs in a row; phrases count from 0, in the
/// order in which the expression has them.
struct PhraseTally {
  std::uint32_t phrase = 0;
  /// In the first column, and in the second.
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

struct Tally {
  /// Words in the first two columns of the row.
  std::uint32_t row_words = 0;
  /// Of the whole table: rows, and words in their first two columns.
  std::int64_t rows = 0;
  std::int64_t words = 0;
  /// Those that occur there.
  std::vector<PhraseTally> phrases{};
};

/// Into `tally`, whose memory is used again. False: no tally.
bool read_tally(std::string_view bytes, Tally& tally);

Result<void> add_text_search(sqlite3* database, std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace quipu::sql
