// The analyser: what counts as a word. One for documents and queries, for all
// backends; what it says is in every index, so a change of it is a new version.
//
//   Fetched the URLs          fetch · url           (folded, stemmed; `the` is a word here)
//   parse_query, parseQuery   parse_query, parse · query      whole and parts, see below
//   src/fs/fs.cc              src/fs/fs.cc, src · fs · fs · cc
//   数据库                     数据 · 据库              pairs of characters
//
// Names made of parts are words as a whole, too: the whole stands at the place of its first
// part, so that phrases of parts match and places go on by the parts. Text is folded first (NFKC,
// lower case, no diacritics), Latin words are stemmed by Porter's rules, a lone Chinese,
// Japanese or Korean character is a word of its own.
//
// Total: bytes that are no UTF-8 separate words. Costs the length of the text.
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
  /// Bytes of the source that it was made from.
  std::size_t begin = 0;
  std::size_t end = 0;
  /// At the place of the token before it: the same words in another form.
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

/// Words that are in every text: they say nothing in a question. `token` as the analyser
/// gives it.
bool is_stop_word(std::string_view token);

}  // namespace quipu::search
