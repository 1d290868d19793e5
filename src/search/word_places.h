// Where the words of a document are, as bytes beside PostgreSQL's tsvector: what ranks a document
// that the server has found.
//
// The server could be asked for the places of single words; it takes ten times as long over that as
// over giving out these bytes, which it need not understand.
//
//   bytes  = form word*                           words in the order of their bytes
//   form   = 1: places, 0: counts
//   word   = length text length places|counts     numbers are LEB128
//   places = number*                              2 * (place - the one before) + is context
//   counts = in the text, in the context
//
// Bytes that are no such thing are read up to there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "search/candidates.h"

namespace quipu::search {

struct Place {
  std::uint32_t at = 0;
  bool is_context = false;

  auto operator<=>(const Place&) const = default;
};

/// Of a document whose bytes would be more than that, how often a word is there is kept, and not
/// where.
inline constexpr std::size_t kPlacesBytesMax = std::size_t{64} << 10;

/// The places of each word are in order.
std::string word_places(const std::map<std::string, std::vector<Place>>& words);

/// The terms of a query, to be looked for in many documents.
class TermFinder {
 public:
  /// `terms` must outlive it.
  explicit TermFinder(const Terms& terms);

  /// Each term once. Valid until the next call.
  const std::vector<Found>& found_in(std::string_view bytes);

 private:
  /// A word that the terms ask for.
  struct Word {
    std::string_view text{};
    std::string_view places{};
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void read_words(std::string_view bytes);
  bool begins_asked(std::string_view word) const;
  std::vector<Place> places_of(const Term& term, std::size_t nth) const;
  Occurrence occurrence(std::size_t term) const;

  const Terms& terms_;
  std::vector<std::string> asked_;     // in order
  std::vector<std::string> prefixes_;  // words that begin so
  std::vector<std::size_t> single_;    // of each term that is one word: which of `asked_`
  // Of the document that is looked at:
  bool has_places_ = false;
  std::vector<Word> words_;
  std::vector<std::size_t> there_;  // of each of `asked_`: which of `words_`
  std::vector<Found> found_;
};

}  // namespace quipu::search
