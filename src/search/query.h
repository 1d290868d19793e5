// The query language: what somebody typed, as terms that an index understands.
//
//   word another      documents with any of the words, ranked
//   "two words"       must occur, in this order
//   +word -word       must, must not occur; also +"two words"
//   begin*            words that begin so; also "two wor"*
//   role:user         a field that the caller knows; of any other name, words. Also role:"a b"
//
// Signs, quotes and fields count at the beginning of a word. Every text is a query: what cannot
// be understood is words (one quote alone, --flag), and what has no words finds nothing.
//
// Words are the analyser's. Stop words are dropped unless nothing else remains. A name is searched
// by its parts and as a whole; after a sign, by its parts in order, so that it is found in longer
// names; before `*`, as a whole. A word before `*` is not finished and has no stem: it is looked up
// as it is written, together with the stems of what it may become. One character of a script
// without spaces is looked up as a prefix (analyser.h).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quipu::search {

/// Terms of a query, and bytes of its text; what is beyond is left out, and said (`Query::is_cut`).
inline constexpr std::size_t kTermsMax = 64;
inline constexpr std::size_t kQueryBytesMax = std::size_t{64} << 10;

/// Analysed tokens that follow each other; one token is a word.
struct Term {
  std::vector<std::string> tokens{};
  /// The last token is the beginning of a word.
  bool is_prefix = false;
  /// Then: stems of words that begin so and do not themselves (optimiz*: optim). A word that has
  /// one of them counts like one that begins so.
  std::vector<std::string> stems{};
  /// What it counts beside others. Less than 1 for other forms of what is asked for anyway.
  double weight = 1;

  bool operator==(const Term&) const = default;

  /// Whether a word of a text is the `nth` of the term.
  bool has(std::size_t nth, std::string_view word) const;
};

struct Query {
  /// All of `all` occur, or, when there are none, at least one of `any`. Both are ranked.
  std::vector<Term> any{};
  std::vector<Term> all{};
  std::vector<Term> none{};
  /// Fields in the order in which they were typed, values as they were typed.
  std::vector<std::pair<std::string, std::string>> fields{};
  bool is_cut = false;
  /// Three words or more, two of them no stop words, and nothing else but fields: what is meant is
  /// a matter, and not the words.
  bool is_question = false;

  bool is_empty() const { return any.empty() && all.empty(); }
};

Query parse_query(std::string_view text, std::span<const std::string_view> fields = {});

}  // namespace quipu::search
