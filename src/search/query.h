// The query language: what somebody typed, as terms that an index understands.
//
//   word another      documents with any of the words, ranked
//   "two words"       must occur, in this order
//   +word -word       must, must not occur
//   begin*            words that begin so
//   role:user         a field that the caller knows; of any other name, words
//
// Every text is a query: what cannot be understood is words, and what has no words finds
// nothing. Stop words are dropped unless nothing else remains. What looks like a path or an
// identifier is searched by its parts and as a whole.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quipu::search {

/// Of a query; what is beyond is left out, and said (`Query::is_cut`).
inline constexpr std::size_t kTermsMax = 64;

/// Analysed tokens that follow each other; one token is a word.
struct Term {
  std::vector<std::string> tokens{};
  /// The last token is the beginning of a word.
  bool is_prefix = false;

  bool operator==(const Term&) const = default;
};

struct Query {
  /// All of `all` occur, or, when there are none, at least one of `any`. Both are ranked.
  std::vector<Term> any{};
  std::vector<Term> all{};
  std::vector<Term> none{};
  /// Fields in the order in which they were typed, values as they were typed.
  std::vector<std::pair<std::string, std::string>> fields{};
  bool is_cut = false;

  bool is_empty() const { return any.empty() && all.empty(); }
};

Query parse_query(std::string_view text, std::span<const std::string_view> fields = {});

}  // namespace quipu::search
