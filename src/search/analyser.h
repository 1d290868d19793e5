// The analyser: what counts as a word. One for documents and queries, for all
// backends; what it says is in every index, so a change of it is a new version.
//
//   Fetched the URLs     fetch · the · url
//   parseQuery           parsequeri (parse, queri)                    humps
//   src/parse_query.cc   src (src/parse_query.cc) · pars · queri · cc  a name
//   2023-05-08           2023 (2023-05-08) · 05 · 08
//   数据库                数据 · 据库 (库)                               pairs
//
// Every dot is a place; in parentheses, other forms of what stands at a place. A document is as
// long as it has places, and a phrase goes from place to place.
//
// - Text is folded: NFKC, case and diacritics gone (characters.h). Words of a-z are stemmed
//   (stemmer.h).
// - A name is words joined by one `_`, `-`, `.` or `/` each. Its words are words as
//   everywhere, so that they are found, and phrases of them; the name itself stands at its first
//   word.
// - A word with humps is one word, however it is written: GitHub is github. Its humps stand at its
//   place.
// - Scripts without spaces become pairs of characters that overlap. The last character stands
// beside the
//   last pair, so that every character is the beginning of a token: looking for one
//   character is looking for a prefix.
//
// Long runs of letters that are no text (base64) count as one word each. Total: bytes that are no
// UTF-8 separate words. Costs the length of the text.
//
// Thread-safety: no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quipu::search {

/// Stored with every index; an index of another version is made anew.
inline constexpr int kAnalyserVersion = 1;

/// Longer words are cut: no one searches for them, and indexes have their limits.
inline constexpr std::size_t kTokenBytesMax = 64;

struct Token {
  std::string_view text{};  // valid during the call
  /// Bytes of the source that it was made from. `begin` never goes back from token to token.
  std::size_t begin = 0;
  std::size_t end = 0;
  /// Another form at the place of the token before it.
  bool same_place = false;
};

class TokenSink {
 public:
  virtual ~TokenSink() = default;
  /// False: enough.
  virtual bool take(const Token& token) = 0;
};

/// The tokens of a text in order.
void analyse(std::string_view text, TokenSink& sink);

/// Words that are in every text: they say nothing in a question. `word` as it is written, in
/// either case: stems of other words are the same (mining is mine, used is us).
bool is_stop_word(std::string_view word);

}  // namespace quipu::search
