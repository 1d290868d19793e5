// Documents and queries in the words of PostgreSQL's text search.
//
// The server is given words as the analyser made them, with their places; it normalises
// nothing. Places of the text have the label A, those of the context B; tags have none and begin
// with `#`, as no word of a text does.
//
// Its limits: a place is at most 16,383, a word has at most 255 of them, and all of it is at most
// 1 MiB. A document that is longer is kept without places, so that its words find it and
// count once; of one that is still too long, the words that came last are left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/candidates.h"
#include "search/text_index.h"

namespace quipu::search {

struct TsvectorText {
  std::string words{};
  std::uint32_t length = 0;  // in words
};
TsvectorText tsvector_text(const Document& document);

std::string term_query(const Term& term);
/// " & …" for everything that narrows a search; empty when nothing does.
std::string tag_query(const MatchOptions& options);
std::string refused(const Query& query);
/// In brackets.
std::string joined(std::span<const std::string> queries, std::string_view by);

/// An array as the server reads it.
std::string array_text(std::span<const std::string> elements);

/// The words whose places must be known to count terms.
class Lexemes {
 public:
  explicit Lexemes(const Terms& terms);

  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::string>& prefixes() const { return prefixes_; }

  /// The terms in a document. `places`: a line a word, `WORD PLACE,PLACE LABELS`.
  std::vector<Found> found_in(std::string_view places) const;

 private:
  const Terms& terms_;
  std::vector<std::string> words_;
  std::vector<std::string> prefixes_;
};

}  // namespace quipu::search
