#include "search/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <span>

namespace quipu::search {
namespace {

constexpr std::array<Kind, 256> make_ascii_kinds() {
  std::array<Kind, 256> kinds{};
  for (std::size_t c = 0; c < 0x80; ++c) kinds[c] = Kind::kSeparator;
  for (std::size_t c = 'a'; c <= 'z'; ++c) kinds[c] = Kind::kLower;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) kinds[c] = Kind::kUpper;
  for (std::size_t c = '0'; c <= '9'; ++c) kinds[c] = Kind::kDigit;
  for (const char c : {'_', '-', '.', '/'}) kinds[static_cast<std::size_t>(c)] = Kind::kJoiner;
  return kinds;
}

struct Range {
  char32_t first;
  char32_t last;
};

bool is_in(char32_t code, std::span<const Range> ranges) {
  // Sorted: the first range that does not end before the code.
  const auto found = std::ranges::lower_bound(ranges, code, {}, &Range::last);
  return found != ranges.end() && found->first <= code;
}

// Scripts that are written without spaces between words, and Hangul, whose words carry their
// grammar with them.
constexpr Range kPairScripts[] = {
    {0x0E01, 0x0E4E},    // Thai
    {0x0E81, 0x0ECE},    // Lao
    {0x1000, 0x103F},    // Myanmar
    {0x1100, 0x11FF},    // Hangul Jamo
    {0x1780, 0x17D3},    // Khmer
    {0x2E80, 0x2FDF},    // radicals
    {0x3005, 0x3007},    // iteration mark, closing mark, zero
    {0x3021, 0x3029},    // Hangzhou numerals
    {0x3031, 0x3035},    // kana repeat marks
    {0x3041, 0x309F},    // Hiragana
    {0x30A1, 0x30FA},    // Katakana
    {0x30FC, 0x30FF},    // its long vowel mark, and after it
    {0x3105, 0x312F},    // Bopomofo
    {0x3131, 0x318E},    // Hangul compatibility Jamo
    {0x31A0, 0x31BF},    // Bopomofo
    {0x31F0, 0x31FF},    // Katakana
    {0x3400, 0x4DBF},    // Han
    {0x4E00, 0x9FFF},    // Han
    {0xA960, 0xA97F},    // Hangul Jamo
    {0xAC00, 0xD7FF},    // Hangul
    {0xF900, 0xFAFF},    // Han
    {0x1AFF0, 0x1B16F},  // kana
    {0x20000, 0x3FFFD},  // Han
};

// Marks that tell nothing apart that a reader would look for.
constexpr Range kDiacritics[] = {
    {0x0300, 0x036F},                    // Latin, Greek, Cyrillic
    {0x0483, 0x0489},                    // Cyrillic
    {0x0591, 0x05C7},                    // Hebrew
    {0x0610, 0x061A},                    // Arabic
    {0x064B, 0x065F}, {0x0670, 0x0670},  // Arabic
    {0x06D6, 0x06ED},                    // Arabic
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},  // Latin and others
    {0x20D0, 0x20FF},                    // of symbols
    {0xFE20, 0xFE2F},                    // halves
};

bool is_diacritic(char32_t code) { return code >= 0x300 && is_in(code, kDiacritics); }

// Most of what is neither ASCII nor Latin in practice. Folding leaves them as they are, unless
// something follows that belongs to them (`may_join`).
bool is_plain_pair(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0xAC00 && code <= 0xD7A3) ||
         (code >= 0x3041 && code <= 0x3096) || (code >= 0x30A1 && code <= 0x30FA) ||
         code == 0x30FC || (code >= 0x3400 && code <= 0x4DBF);
}

// Whether the character at `at` may belong to the one before it: told from its first bytes, often
// wrongly yes, never wrongly no.
bool may_join(std::string_view text, std::size_t at) {
  if (at >= text.size() || static_cast<unsigned char>(text[at]) < 0xCC) return false;
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte >= 0xE4 && byte <= 0xE9) return false;  // Han
  if (byte == 0xE3) {
    const std::string_view mark = text.substr(at + 1, 2);
    return mark == "\x82\x99" || mark == "\x82\x9A";
  }
  return true;
}

struct Decoded {
  utf8proc_int32_t code = -1;
  std::size_t bytes = 0;  // 0: no UTF-8
};

Decoded decode(std::string_view text, std::size_t at) {
  Decoded decoded;
  const auto bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                       static_cast<utf8proc_ssize_t>(text.size() - at), &decoded.code);
  if (bytes > 0) decoded.bytes = static_cast<std::size_t>(bytes);
  return decoded;
}

bool is_extension(char32_t code) {
  return (code >= 0x1160 && code <= 0x11FF) ||  // vowels and last consonants of Hangul
         code == 0xFF9E || code == 0xFF9F ||    // half-width voicing marks
         utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class != 0;
}

Kind kind_of(char32_t code) {
  if (code < 0x80) return ascii_kind(static_cast<char>(code));
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return Kind::kUpper;
    case UTF8PROC_CATEGORY_LL:
      return Kind::kLower;
    case UTF8PROC_CATEGORY_ND:
      return Kind::kDigit;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return is_in(code, kPairScripts) ? Kind::kPair : Kind::kLetter;
    default:
      return Kind::kSeparator;
  }
}

}  // namespace

constinit const std::array<Kind, 256> kAsciiKinds = make_ascii_kinds();

Character Characters::next_folded() {
  while (made_at_ == made_count_) {
    if (at_ >= text_.size()) return {.begin = text_.size(), .end = text_.size()};
    const std::size_t begin = at_;
    const Decoded first = decode(text_, begin);
    const auto code = static_cast<char32_t>(first.code);
    if (first.bytes == 0) {
      ++at_;
      return {.kind = Kind::kSeparator, .begin = begin, .end = at_};
    }
    std::size_t end = begin + first.bytes;
    if (is_plain_pair(code) && !may_join(text_, end)) {
      at_ = end;
      return {.kind = Kind::kPair, .code = code, .begin = begin, .end = end};
    }
    // A cluster: a character and what belongs to it. It is cut after some, where a text only wants
    // to be strange.
    for (int more = 0; more < 8 && may_join(text_, end); ++more) {
      const Decoded next = decode(text_, end);
      if (next.bytes == 0 || !is_extension(static_cast<char32_t>(next.code))) break;
      end += next.bytes;
    }
    fold(end);
  }
  Character made{.code = static_cast<char32_t>(made_[made_at_]), .begin = made_from_, .end = at_};
  made.kind = kind_of(made.code);
  // Case is folded by now; where a hump begins is seen from the source.
  if (made_at_ == 0 && made.kind == Kind::kLower) {
    const Kind source = kind_of(static_cast<char32_t>(decode(text_, made_from_).code));
    if (source == Kind::kUpper) made.kind = source;
  }
  ++made_at_;
  return made;
}

// Makes the characters of the cluster [at_, end); none if nothing of it can be seen.
void Characters::fold(std::size_t end) {
  constexpr auto kDecompose = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                                             UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  constexpr auto kCompose = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  const std::string_view cluster = text_.substr(at_, end - at_);
  made_from_ = at_;
  at_ = end;
  made_at_ = made_count_ = 0;
  const auto count = utf8proc_decompose(reinterpret_cast<const utf8proc_uint8_t*>(cluster.data()),
                                        static_cast<utf8proc_ssize_t>(cluster.size()), made_.data(),
                                        static_cast<utf8proc_ssize_t>(kMadeMax), kDecompose);
  if (count <= 0 || count > static_cast<utf8proc_ssize_t>(kMadeMax)) return;
  const auto last = std::remove_if(made_.begin(), made_.begin() + count, [](std::int32_t code) {
    return is_diacritic(static_cast<char32_t>(code));
  });
  const auto composed = utf8proc_normalize_utf32(made_.data(), last - made_.begin(), kCompose);
  if (composed > 0) made_count_ = static_cast<std::size_t>(composed);
}

void append_utf8(char32_t code, std::string& to) {
  if (code < 0x80) {
    to.push_back(static_cast<char>(code));
    return;
  }
  utf8proc_uint8_t bytes[4];
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  to.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

std::string_view cut_utf8(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  // More than three bytes back it was no UTF-8.
  return text.substr(0, bytes - end > 3 ? bytes : end);
}

bool is_lone_pair_character(std::string_view text) {
  const Decoded decoded = decode(text, 0);
  return decoded.bytes == text.size() && decoded.bytes > 0 &&
         is_in(static_cast<char32_t>(decoded.code), kPairScripts);
}

}  // namespace quipu::search
