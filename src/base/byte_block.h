// Sixty-four bytes looked at together: each question answers with one bit a byte,
// bit 0 for the first. SSE2 on x86-64, where it is always there; eight words elsewhere.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace quipu::json {

/// The portable one, and the yardstick for the other in tests.
class WordBlock {
 public:
  explicit WordBlock(const char* bytes) {
    for (std::size_t i = 0; i < 64; ++i) {
      words_[i / 8] |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * (i % 8));
    }
  }

  std::uint64_t equal(char c) const {
    return gather([c](std::uint64_t word) { return zero_bytes(word ^ repeat(c)); });
  }
  std::uint64_t equal_any(char a, char b) const { return equal(a) | equal(b); }
  /// Equal to `c` when bit 5 of the byte is taken as set: '[' counts as '{'.
  std::uint64_t equal_with_bit5(char c) const {
    return gather([c](std::uint64_t word) { return zero_bytes((word | repeat(' ')) ^ repeat(c)); });
  }
  /// Control characters and bytes of 0x80 and more.
  std::uint64_t unusual() const {
    return gather([](std::uint64_t word) {
      const std::uint64_t control = ~((word & repeat('\x60')) + repeat('\x7f'));
      return (word | control) & kHighBits;
    });
  }

 private:
  static constexpr std::uint64_t kOnes = 0x0101010101010101;
  static constexpr std::uint64_t kHighBits = 0x8080808080808080;

  static constexpr std::uint64_t repeat(char c) { return kOnes * static_cast<unsigned char>(c); }
  static std::uint64_t zero_bytes(std::uint64_t word) {
    return ~(((word & ~kHighBits) + ~kHighBits) | word | ~kHighBits);
  }

  // `marks` gives the high bit of each byte that answers yes; the product brings
  // the eight of them together.
  template <class Marks>
  std::uint64_t gather(Marks marks) const {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      bits |= (((marks(words_[i]) >> 7) * 0x0102040810204080) >> 56) << (8 * i);
    }
    return bits;
  }

  std::uint64_t words_[8] = {};
};

#if defined(__x86_64__)

class SseBlock {
 public:
  explicit SseBlock(const char* bytes) : bytes_(bytes) {}

  std::uint64_t equal(char c) const {
    const __m128i wanted = _mm_set1_epi8(c);
    return gather([wanted](__m128i part) { return _mm_cmpeq_epi8(part, wanted); });
  }
  std::uint64_t equal_any(char a, char b) const {
    const __m128i first = _mm_set1_epi8(a);
    const __m128i second = _mm_set1_epi8(b);
    return gather([first, second](__m128i part) {
      return _mm_or_si128(_mm_cmpeq_epi8(part, first), _mm_cmpeq_epi8(part, second));
    });
  }
  std::uint64_t equal_with_bit5(char c) const {
    const __m128i wanted = _mm_set1_epi8(c);
    const __m128i bit5 = _mm_set1_epi8(' ');
    return gather(
        [wanted, bit5](__m128i part) { return _mm_cmpeq_epi8(_mm_or_si128(part, bit5), wanted); });
  }
  // The comparison is signed, so bytes of 0x80 and more are below the space too.
  std::uint64_t unusual() const {
    const __m128i space = _mm_set1_epi8(' ');
    return gather([space](__m128i part) { return _mm_cmplt_epi8(part, space); });
  }

 private:
  template <class Marks>
  std::uint64_t gather(Marks marks) const {
    const auto bits = [&](std::size_t i) {
      return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(marks(part(i))))};
    };
    return bits(0) | (bits(1) << 16) | (bits(2) << 32) | (bits(3) << 48);
  }

  __m128i part(std::size_t i) const {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes_ + 16 * i));
  }

  // Not the vectors themselves: compilers keep those in registers on their own,
  // but would move an array of them to the stack and back.
  const char* bytes_;
};

using Block = SseBlock;
#else
using Block = WordBlock;
#endif

/// Gives blocks of a text that need not end with a whole one.
class BlockReader {
 public:
  explicit BlockReader(const char* end) : end_(end) {}

  /// The block at `p`, which is below the end; zero bytes stand in for what is
  /// past it. The block before it is no longer valid then.
  Block at(const char* p) {
    const auto left = static_cast<std::size_t>(end_ - p);
    if (left >= 64) return Block(p);
    std::memset(padded_, 0, sizeof padded_);
    std::memcpy(padded_, p, left);
    return Block(padded_);
  }

 private:
  const char* end_;
  char padded_[64];
};

/// The first quote, backslash, control character or non-ASCII byte of the sixteen
/// at `p`; `p + 16` when there is none.
inline const char* first_special_of_16(const char* p) {
#if defined(__x86_64__)
  const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(part, _mm_set1_epi8('"')),
                                                    _mm_cmpeq_epi8(part, _mm_set1_epi8('\\'))),
                                       _mm_cmplt_epi8(part, _mm_set1_epi8(' ')));
  const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(special));
  return p + std::countr_zero(bits | 0x10000);
#else
  const char* const stop = p + 16;
  while (p < stop && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) - 0x20u < 0x60u) ++p;
  return p;
#endif
}

inline std::size_t lowest_bit(std::uint64_t bits) {
  return static_cast<std::size_t>(std::countr_zero(bits));
}

/// The bits below the lowest one that is set; all of them when none is.
inline std::uint64_t bits_below_lowest(std::uint64_t bits) { return (bits - 1) & ~bits; }

}  // namespace quipu::json
