// Strings checked by vectors, whatever their width: the tables, and what is done where
// the walk along a string stops.
//
// Text of agents is a random mix of words, escapes and non-ASCII characters; a
// branch for each is mispredicted half of the time, and that is most of the cost
// of the portable way. Here only rare things branch: the end of the string,
// escapes \b and \u with a d among their digits (it may be half of a surrogate
// pair), and errors, which are left to the portable way.
//
// UTF-8 is checked as in Keiser and Lemire, "Validating UTF-8 In Less Than One
// Instruction Per Byte": whatever can be wrong with two adjacent bytes is a bit
// in three tables, by the first one's nibbles and the second one's high nibble.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/json_text.h"

namespace quipu::json::vector {

/// A value for each nibble, as vectors look them up: 16 bytes of them at a time, so it
/// stands there as often as the widest one has room for.
struct Nibbles {
  alignas(64) std::uint8_t of[64];

  constexpr explicit Nibbles(const std::uint8_t (&values)[16]) : of{} {
    for (std::size_t i = 0; i < sizeof of; ++i) of[i] = values[i % 16];
  }
};

// What a pair of bytes can be; x stands for any bit.
inline constexpr std::uint8_t kTooShort = 1 << 0;       // 11xxxxxx, then no continuation
inline constexpr std::uint8_t kTooLong = 1 << 1;        // 0xxxxxxx, then a continuation
inline constexpr std::uint8_t kOverlong3 = 1 << 2;      // 11100000 100xxxxx
inline constexpr std::uint8_t kTooLarge = 1 << 3;       // 11110100 1001xxxx and above
inline constexpr std::uint8_t kSurrogate = 1 << 4;      // 11101101 101xxxxx
inline constexpr std::uint8_t kOverlong2 = 1 << 5;      // 1100000x 10xxxxxx
inline constexpr std::uint8_t kTooLarge1000 = 1 << 6;   // 11110101 1000xxxx and above
inline constexpr std::uint8_t kOverlong4 = 1 << 6;      // 11110000 1000xxxx
inline constexpr std::uint8_t kContinuations = 1 << 7;  // 10xxxxxx 10xxxxxx: in long ones only
inline constexpr std::uint8_t kCarry = kTooShort | kTooLong | kContinuations;
inline constexpr std::uint8_t kLarge = kCarry | kTooLarge | kTooLarge1000;
inline constexpr std::uint8_t kSecond = kTooLong | kOverlong2 | kContinuations;

inline constexpr Nibbles kByFirstHigh({kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong,
                                       kTooLong, kTooLong, kContinuations, kContinuations,
                                       kContinuations, kContinuations, kTooShort | kOverlong2,
                                       kTooShort, kTooShort | kOverlong3 | kSurrogate,
                                       kTooShort | kTooLarge | kTooLarge1000 | kOverlong4});
inline constexpr Nibbles kByFirstLow({kCarry | kOverlong3 | kOverlong2 | kOverlong4,
                                      kCarry | kOverlong2, kCarry, kCarry, kCarry | kTooLarge,
                                      kLarge, kLarge, kLarge, kLarge, kLarge, kLarge, kLarge,
                                      kLarge, kLarge | kSurrogate, kLarge, kLarge});
inline constexpr Nibbles kBySecondHigh(
    {kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort,
     kSecond | kOverlong3 | kTooLarge1000 | kOverlong4, kSecond | kOverlong3 | kTooLarge,
     kSecond | kSurrogate | kTooLarge, kSecond | kSurrogate | kTooLarge, kTooShort, kTooShort,
     kTooShort, kTooShort});

// The letter that a byte right after a backslash must be, by its low nibble. b has the
// nibble of r, and the quote is known already; no byte of text is 0xff.
inline constexpr Nibbles kEscapeLetters({0xff, 0xff, 'r', 0xff, 't', 'u', 'f', 0xff, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0xff, 'n', '/'});

// Hex digits but d: those whose two nibbles have a bit in common.
inline constexpr std::uint8_t kDigit = 1 << 0;
inline constexpr std::uint8_t kLetter = 1 << 1;
inline constexpr std::uint8_t kBoth = kDigit | kLetter;
inline constexpr Nibbles kDigitByLow({kDigit, kBoth, kBoth, kBoth, kDigit, kBoth, kBoth, kDigit,
                                      kDigit, kDigit, 0, 0, 0, 0, 0, 0});
inline constexpr Nibbles kDigitByHigh({0, 0, 0, kDigit, kLetter, 0, kLetter, 0, 0, 0, 0, 0, 0, 0, 0,
                                       0});

/// The four bits from the next one on: where the digits of a \u stand. Escapes that are
/// too close to each other to be right disturb only what is above the place where that
/// shows.
inline constexpr std::uint64_t kFourDigits = 0b11110;
/// A u here has digits in the next block.
inline constexpr std::uint64_t kLastFour = std::uint64_t{0xf} << 60;

/// Where a walk along a string stopped because there is something to decide.
struct Stop {
  std::uint64_t escaped = 0;
  std::uint64_t closing = 0;
  bool unclear = false;   // an escape to be looked at
  std::uint64_t bad = 0;  // control characters, and where UTF-8 goes wrong
};

/// `Walk::next(p, end)` gives the first of the blocks from `p` to `end` to stop at, with
/// `stop` filled in, or `end`. All that calls is here, outside of its loop: across a call
/// no vector stays in its register.
template <class Walk>
StringEnd check_string_by(const char* const begin, const char* const end) {
  const char* const whole_end = end - (end - begin) % 64;
  const char* checked = begin;  // an escape may reach beyond its block
  alignas(64) char padded[64];
  Walk walk;
  for (const char* p = begin; p < end; p += 64) {
    p = walk.next(p, whole_end);
    if (p == whole_end) {
      if (p == end) break;
      // Zero bytes, which are control characters, stand in for what is past the end.
      std::memset(padded, 0, sizeof padded);
      std::memcpy(padded, p, static_cast<std::size_t>(end - p));
      walk.next(padded, padded + 64);
    }
    const Stop& stop = walk.stop;
    const std::uint64_t inside = bits_below_lowest(stop.closing);
    // At the closing quote shows what a sequence cut short by it lacks.
    const std::uint64_t lowest = stop.closing & (~stop.closing + 1);
    if ((stop.bad & (inside | lowest)) != 0) return check_string_portable(begin, end);
    std::uint64_t look = stop.unclear ? stop.escaped & inside : 0;
    for (; look != 0; look &= look - 1) {
      const char* const at = p + lowest_bit(look) - 1;
      if (at < checked) continue;
      const StringEnd escape = check_escape(at, end);
      if (escape.error != nullptr) return escape;
      checked = escape.at;
    }
    if (stop.closing != 0) return {p + lowest_bit(stop.closing), nullptr};
  }
  return {end, "unterminated string"};
}

}  // namespace quipu::json::vector
