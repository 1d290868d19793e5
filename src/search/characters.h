// The characters of a text as the analyser sees them: folded, and of what kind they are.
//
//   É ｅ ﬁ ß      e · e · f i · s s     compatibility forms, case and diacritics are gone (NFKC)
//   ｶ ﾞ, ᄒ ᅡ ᆫ   ガ · 한                what is written in pieces is put together
//
// Points of Hebrew and Arabic are diacritics; vowel signs of Indic scripts are letters. What cannot
// be seen (joiners of emoji, soft hyphens) is left out. Bytes that are no UTF-8 are separators, one
// by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quipu::search {

enum class Kind : std::uint8_t {
  kEnd,
  kSeparator,
  kJoiner,  // between two words it makes them one name: _ - . /
  kLower,
  kUpper,
  kDigit,
  kLetter,  // without case
  kPair,    // of a script without spaces between words
};

inline bool is_word(Kind kind) { return kind >= Kind::kLower && kind <= Kind::kLetter; }

struct Character {
  Kind kind = Kind::kEnd;
  char32_t code = 0;
  /// Bytes of the source that it was made from. Several characters can be made from the same.
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Of an ASCII byte; kEnd for the others.
extern const std::array<Kind, 256> kAsciiKinds;

inline Kind ascii_kind(char byte) { return kAsciiKinds[static_cast<unsigned char>(byte)]; }

class Characters {
 public:
  explicit Characters(std::string_view text) : text_(text) {}

  /// The next one; at the end kEnd, again and again. Written in place, member by member: copying
  /// what was just written in pieces stalls the processor, once a byte of text.
  void next(Character& into) {
    if (made_at_ == made_count_ && at_ < text_.size()) {
      const char byte = text_[at_];
      const Kind kind = ascii_kind(byte);
      if (kind != Kind::kEnd) {
        into.kind = kind;
        into.code = static_cast<unsigned char>(byte) | (kind == Kind::kUpper ? 0x20U : 0U);
        into.begin = at_;
        into.end = ++at_;
        return;
      }
    }
    into = next_folded();
  }

  /// Goes on at a byte of the source.
  void go_to(std::size_t at) {
    at_ = at;
    made_at_ = made_count_ = 0;
  }

 private:
  Character next_folded();
  void fold(std::size_t end);

  // What one cluster can become: a character becomes at most 18, and clusters are cut.
  static constexpr std::size_t kMadeMax = 192;

  std::string_view text_;
  std::size_t at_ = 0;  // the first byte that is not folded
  // What the cluster that ends there became: [made_at_, made_count_) are still to be given. One
  // place more, for the zero that utf8proc may write behind them.
  std::array<std::int32_t, kMadeMax + 1> made_;
  std::size_t made_at_ = 0;
  std::size_t made_count_ = 0;
  std::size_t made_from_ = 0;
};

void append_utf8(char32_t code, std::string& to);

/// At most `bytes` of the beginning, no character cut in two.
std::string_view cut_utf8(std::string_view text, std::size_t bytes);

/// Whether it is one character of kPair and nothing else.
bool is_lone_pair_character(std::string_view text);

}  // namespace quipu::search
