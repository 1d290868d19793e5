// The pieces of JSON text that scanner, walk and writer share: strings, escapes, UTF-8.
//
// Long strings with an escape now and then are nearly all of what agents store,
// so strings are read 64 bytes at a time, escapes and closing quote found by
// arithmetic on bit masks without a branch for either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/byte_block.h"
#include "base/json_scan.h"

namespace quipu::json {

inline std::string_view view_of(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

inline const char* skip_space(const char* p, const char* end) {
  while (p < end && is_space(*p)) ++p;
  return p;
}

/// What kind of value starts with `first`, if any does.
inline Kind kind_of(char first) {
  switch (first) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
    case 'f':
      return Kind::kBool;
    case 'n':
      return Kind::kNull;
    default:
      return Kind::kNumber;
  }
}

/// Bytes of the UTF-8 sequence at `p` (RFC 3629: shortest form, no surrogates,
/// nothing above U+10FFFF); 0 when there is none.
std::size_t utf8_length(const char* p, const char* end);

/// Whether all of it is ASCII and no control character, as ids and names are
/// nearly always.
inline bool is_plain_ascii(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighBits = 0x80 * kOnes;
  // The high bit of a byte: itself of 0x80 or more, or below the space, or 0x7f.
  const auto unusual_in = [](std::uint64_t word) {
    return word | ~((word | kHighBits) - ' ' * kOnes) | ((word & ~kHighBits) + kOnes);
  };
  std::uint64_t unusual = 0;
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    unusual |= unusual_in(word);
  }
  word = ' ' * kOnes;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  unusual |= unusual_in(word);
  return (unusual & kHighBits) == 0;
}

/// Whether all of it is UTF-8.
bool is_utf8(std::string_view text);

/// Past the whole non-ASCII characters at `p`: the first byte that is ASCII or
/// begins no good sequence.
inline const char* skip_non_ascii(const char* p, const char* end) {
  while (p < end && static_cast<unsigned char>(*p) >= 0x80) {
    const std::size_t length = utf8_length(p, end);
    if (length == 0) break;
    p += length;
  }
  return p;
}

/// The four hex digits at `p`, or -1.
int hex4(const char* p, const char* end);

inline bool is_high_surrogate(int unit) { return unit >= 0xd800 && unit <= 0xdbff; }
inline bool is_low_surrogate(int unit) { return unit >= 0xdc00 && unit <= 0xdfff; }

/// Which bytes of a string are escaped, block by block.
class Escapes {
 public:
  /// Of the next block, given its backslashes: the bytes, other than
  /// backslashes, that a backslash escapes.
  std::uint64_t next(std::uint64_t backslashes) {
    // In a run of backslashes every other one escapes what comes next. The
    // subtraction borrows along each run from its first bit: it leaves a pattern
    // of alternating bits, whose phase the exclusive or takes out.
    const std::uint64_t runs = backslashes & ~escaped_first_;
    const std::uint64_t alternating = ((runs << 1 | kOddBits) - runs) ^ kOddBits;
    const std::uint64_t escaped = alternating ^ (backslashes | escaped_first_);
    escaped_first_ = (alternating & backslashes) >> 63;
    return escaped & ~backslashes;
  }

 private:
  static constexpr std::uint64_t kOddBits = 0xaaaaaaaaaaaaaaaa;
  std::uint64_t escaped_first_ = 0;
};

/// Past the plain bytes at `p`, but no more than 48 of them: keys and ids end
/// sooner, and sixteen at a time is the cheaper way to find that out.
inline const char* skip_plain_start(const char* p, const char* end) {
  for (int step = 0; step < 3 && end - p >= 16; ++step) {
    const char* const special = first_special_of_16(p);
    if (special != p + 16) return special;
    p = special;
  }
  return p;
}

/// The closing quote of the string whose text starts at `p`; nothing is checked
/// but escapes. `end` when there is none.
const char* skip_string(const char* p, const char* end);

struct StringEnd {
  const char* at = nullptr;     // the closing quote, or where it went wrong
  const char* error = nullptr;  // why, or null
};

/// The same with everything checked: escapes, control characters, UTF-8.
StringEnd check_string(const char* p, const char* end);
/// The same for who has looked at the plain bytes at the beginning already.
StringEnd check_string_from(const char* p, const char* end);
/// The same on every processor: the yardstick in tests, and for all others the
/// one that says what is wrong.
StringEnd check_string_portable(const char* p, const char* end);
#if defined(__x86_64__)
/// The same with AVX2, or AVX-512 (F and BW), which the processor must have.
StringEnd check_string_avx2(const char* p, const char* end);
StringEnd check_string_avx512(const char* p, const char* end);
#endif

/// Past the escape whose backslash is at `p`.
StringEnd check_escape(const char* p, const char* end);

}  // namespace quipu::json
