#include "search/analyser.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "search/characters.h"
#include "search/stemmer.h"

namespace quipu::search {
namespace {

// A name of more words goes on as another name.
constexpr std::size_t kNameWordsMax = 32;
// A word of more humps has none: it is no identifier.
constexpr std::size_t kHumpsMax = 12;
// An unbroken run of more letters is no text if it has fewer signs than one in so many.
constexpr std::size_t kBlobBytesMin = 200;
constexpr std::size_t kBlobBytesPerSign = 16;

// What base64 and its kin are made of.
bool is_blob_sign(char c) { return c == '+' || c == '/' || c == '=' || c == '_' || c == '-'; }

// A piece of `Splitter::name_`, and where in the source it is from.
struct Piece {
  std::size_t text_begin = 0;
  std::size_t text_end = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Word {
  Piece piece{};
  bool is_cut = false;
  /// Its humps in `Splitter::humps_`.
  std::size_t first_hump = 0;
  std::size_t last_hump = 0;
};

// A character of the word that is being read.
struct Letter {
  Kind kind = Kind::kEnd;
  Piece piece{};
};

class Splitter {
 public:
  Splitter(std::string_view text, TokenSink& sink) : text_(text), sink_(sink), characters_(text) {}

  void run() {
    advance();
    while (now_.kind != Kind::kEnd && !enough_) {
      if (now_.kind == Kind::kPair) {
        pairs();
      } else if (!is_word(now_.kind)) {
        advance();
      } else if (!plain_word() && !blob()) {
        name();
      }
    }
  }

 private:
  void advance() { characters_.next(now_); }
  void go_to(std::size_t at) {
    characters_.go_to(at);
    advance();
  }

  bool plain_word();
  void skip_separators(std::size_t at);
  bool blob();
  void name();
  void read_word();
  void find_humps();
  bool begins_hump(std::size_t at) const;
  void pairs();

  std::string_view text_of(const Piece& piece) const {
    return std::string_view(name_).substr(piece.text_begin, piece.text_end - piece.text_begin);
  }
  void emit(std::string_view text, std::size_t begin, std::size_t end, bool same_place) {
    if (enough_ || text.empty()) return;
    enough_ = !sink_.take({.text = text, .begin = begin, .end = end, .same_place = same_place});
  }
  void emit_stem(const Piece& piece, bool same_place);

  std::string_view text_;
  TokenSink& sink_;
  Characters characters_;
  Character now_;
  bool enough_ = false;

  std::size_t searched_for_blobs_ = 0;  // source before it is text
  std::string name_;                    // folded, with its joiners; its words are cut
  std::vector<Word> words_;
  std::vector<Piece> humps_;
  std::vector<Letter> letters_;
  std::string pair_;
};

void Splitter::emit_stem(const Piece& piece, bool same_place) {
  std::string_view text = text_of(piece);
  std::array<char, kTokenBytesMax> letters;
  if (std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; })) {
    std::ranges::copy(text, letters.begin());
    text = {letters.data(), stem({letters.data(), text.size()})};
  }
  emit(text, piece.begin, piece.end, same_place);
}

// What nearly all words of prose are: ASCII letters of one case, the first perhaps a capital, and
// no part of a name. Here for its speed; `name` would say the same.
bool Splitter::plain_word() {
  const std::size_t begin = now_.begin;
  if (now_.end - begin != 1 || ascii_kind(text_[begin]) != now_.kind) return false;
  if (now_.kind == Kind::kDigit) return false;
  const auto kind_at = [&](std::size_t at) {
    return at < text_.size() ? ascii_kind(text_[at]) : Kind::kSeparator;
  };
  const Kind rest = kind_at(begin + 1) == Kind::kUpper ? now_.kind : Kind::kLower;
  std::array<char, kTokenBytesMax> letters;
  letters[0] = static_cast<char>(now_.code);
  std::size_t size = 1;
  for (; size < letters.size() && kind_at(begin + size) == rest; ++size) {
    letters[size] = static_cast<char>(text_[begin + size] | 0x20);
  }
  const std::size_t end = begin + size;
  Kind after = kind_at(end);
  if (after == Kind::kJoiner) after = kind_at(end + 1);
  if (after != Kind::kSeparator && after != Kind::kJoiner) return false;
  emit({letters.data(), stem({letters.data(), size})}, begin, end, false);
  skip_separators(end);
  return true;
}

// To the first byte that is no ASCII separator: there is one at `at`.
void Splitter::skip_separators(std::size_t at) {
  const auto is_separator = [](Kind kind) {
    return kind == Kind::kSeparator || kind == Kind::kJoiner;
  };
  while (at < text_.size() && is_separator(ascii_kind(text_[at]))) ++at;
  go_to(at);
}

// Keys, pictures and the like, as text. Split at their capitals they would be a flood of words that
// nobody looks for: only the beginning is taken.
bool Splitter::blob() {
  if (now_.begin < searched_for_blobs_) return false;
  std::size_t end = now_.begin;
  std::size_t signs = 0;
  for (; end < text_.size(); ++end) {
    const bool is_sign = is_blob_sign(text_[end]);
    const Kind kind = ascii_kind(text_[end]);
    if (!is_sign && (kind < Kind::kLower || kind > Kind::kDigit)) break;
    signs += is_sign ? 1U : 0U;
  }
  searched_for_blobs_ = end;
  if (end - now_.begin < kBlobBytesMin || signs * kBlobBytesPerSign > end - now_.begin)
    return false;
  name_.assign(text_.substr(now_.begin, kTokenBytesMax));
  for (char& c : name_) {
    if (ascii_kind(c) == Kind::kUpper) c = static_cast<char>(c | 0x20);
  }
  emit(name_, now_.begin, now_.begin + name_.size(), false);
  go_to(end);
  return true;
}

void Splitter::name() {
  name_.clear();
  words_.clear();
  humps_.clear();
  for (;;) {
    read_word();
    if (now_.kind != Kind::kJoiner || words_.size() == kNameWordsMax) break;
    const char32_t joiner = now_.code;
    advance();
    if (!is_word(now_.kind)) break;
    append_utf8(joiner, name_);
  }
  for (const Word& word : words_) {
    emit_stem(word.piece, false);
    if (&word == &words_.front() && words_.size() > 1) {
      emit(cut_utf8(name_, kTokenBytesMax), word.piece.begin, words_.back().piece.end, true);
    }
    for (std::size_t i = word.first_hump; i < word.last_hump; ++i) emit_stem(humps_[i], true);
  }
}

void Splitter::read_word() {
  Word word{.piece = {name_.size(), name_.size(), now_.begin, now_.begin}};
  letters_.clear();
  for (; is_word(now_.kind); advance()) {
    if (word.is_cut) continue;
    append_utf8(now_.code, name_);
    word.is_cut = name_.size() - word.piece.text_begin > kTokenBytesMax;
    if (word.is_cut) {
      name_.resize(word.piece.text_end);
      continue;
    }
    letters_.push_back({now_.kind, {word.piece.text_end, name_.size(), now_.begin, now_.end}});
    word.piece.text_end = name_.size();
    word.piece.end = now_.end;
  }
  word.first_hump = humps_.size();
  if (!word.is_cut) find_humps();
  word.last_hump = humps_.size();
  words_.push_back(word);
}

// A capital after a small letter, or the last of several capitals, or after a digit, before
// a small one: parse|Query, HTTP|Server, utf8|Text. But URLs is a plural.
bool Splitter::begins_hump(std::size_t at) const {
  const auto kind_at = [&](std::size_t i) {
    return i < letters_.size() ? letters_[i].kind : Kind::kEnd;
  };
  if (kind_at(at) != Kind::kUpper) return false;
  const Kind before = kind_at(at - 1);
  if (before == Kind::kLower) return true;
  if (kind_at(at + 1) != Kind::kLower) return false;
  if (before == Kind::kDigit) return true;
  const bool is_plural = text_of(letters_[at + 1].piece) == "s" && kind_at(at + 2) != Kind::kLower;
  return before == Kind::kUpper && !is_plural;
}

// Those of the word in `letters_`, if there are several. One letter alone is none worth finding.
void Splitter::find_humps() {
  const std::size_t first = humps_.size();
  std::size_t count = 0;
  std::size_t from = 0;
  for (std::size_t at = 1; at <= letters_.size(); ++at) {
    if (at < letters_.size() && !begins_hump(at)) continue;
    const Piece& begin = letters_[from].piece;
    const Piece& end = letters_[at - 1].piece;
    if (at - from > 1) humps_.push_back({begin.text_begin, end.text_end, begin.begin, end.end});
    from = at;
    ++count;
  }
  if (count < 2 || count > kHumpsMax) humps_.resize(first);
}

void Splitter::pairs() {
  Character last = now_;
  advance();
  bool is_lone = true;
  for (; now_.kind == Kind::kPair && !enough_; advance()) {
    pair_.clear();
    append_utf8(last.code, pair_);
    append_utf8(now_.code, pair_);
    emit(pair_, last.begin, now_.end, false);
    last = now_;
    is_lone = false;
  }
  pair_.clear();
  append_utf8(last.code, pair_);
  emit(pair_, last.begin, last.end, !is_lone);
}

}  // namespace

void analyse(std::string_view text, TokenSink& sink) { Splitter(text, sink).run(); }

}  // namespace quipu::search
