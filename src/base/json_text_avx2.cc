// Strings checked without a branch for what is in them.
//
// Text of agents is a random mix of words, escapes and non-ASCII characters; a
// branch for each is mispredicted half of the time, and that is most of the cost
// of the portable way. Here only rare things branch: the end of the string,
// escapes other than \n \t \", and errors, which are left to the portable way.
//
// UTF-8 is checked as in Keiser and Lemire, "Validating UTF-8 In Less Than One
// Instruction Per Byte": whatever can be wrong with two adjacent bytes is a bit
// in three tables, by the first one's nibbles and the second one's high nibble.
#include "base/json_text.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define QUIPU_TARGET_AVX2 __attribute__((target("avx2")))

namespace quipu::json {
namespace {

// What a pair of bytes can be; x stands for any bit.
constexpr int kTooShort = 1 << 0;       // 11xxxxxx, then no continuation
constexpr int kTooLong = 1 << 1;        // 0xxxxxxx, then a continuation
constexpr int kOverlong3 = 1 << 2;      // 11100000 100xxxxx
constexpr int kTooLarge = 1 << 3;       // 11110100 1001xxxx and above
constexpr int kSurrogate = 1 << 4;      // 11101101 101xxxxx
constexpr int kOverlong2 = 1 << 5;      // 1100000x 10xxxxxx
constexpr int kTooLarge1000 = 1 << 6;   // 11110101 1000xxxx and above
constexpr int kOverlong4 = 1 << 6;      // 11110000 1000xxxx
constexpr int kContinuations = 1 << 7;  // 10xxxxxx 10xxxxxx: right in long sequences only
constexpr int kCarry = kTooShort | kTooLong | kContinuations;

struct Masks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t plain = 0;  // n and t, as escapes need no further look
  std::uint64_t bad = 0;    // control characters, and where UTF-8 goes wrong
};

QUIPU_TARGET_AVX2 inline std::uint64_t bits(__m256i low, __m256i high) {
  return std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(high))} << 32 |
         static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
}

// The bytes of `now`, each replaced by the one `kBack` places before it.
template <int kBack>
QUIPU_TARGET_AVX2 inline __m256i shifted(__m256i now, __m256i before) {
  return _mm256_alignr_epi8(now, _mm256_permute2x128_si256(before, now, 0x21), 16 - kBack);
}

QUIPU_TARGET_AVX2 inline __m256i table(int t0, int t1, int t2, int t3, int t4, int t5, int t6,
                                       int t7, int t8, int t9, int t10, int t11, int t12, int t13,
                                       int t14, int t15) {
  const auto c = [](int value) { return static_cast<char>(value); };
  const __m128i half = _mm_setr_epi8(c(t0), c(t1), c(t2), c(t3), c(t4), c(t5), c(t6), c(t7), c(t8),
                                     c(t9), c(t10), c(t11), c(t12), c(t13), c(t14), c(t15));
  return _mm256_broadcastsi128_si256(half);
}

QUIPU_TARGET_AVX2 inline __m256i high_nibbles(__m256i bytes) {
  return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0f));
}

// Nonzero where a sequence that ends or should go on at this byte is wrong.
QUIPU_TARGET_AVX2 inline __m256i utf8_errors(__m256i now, __m256i before) {
  const __m256i first = shifted<1>(now, before);
  const __m256i by_first_high = _mm256_shuffle_epi8(
      table(kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong,
            kContinuations, kContinuations, kContinuations, kContinuations, kTooShort | kOverlong2,
            kTooShort, kTooShort | kOverlong3 | kSurrogate,
            kTooShort | kTooLarge | kTooLarge1000 | kOverlong4),
      high_nibbles(first));
  constexpr int kLarge = kCarry | kTooLarge | kTooLarge1000;
  const __m256i by_first_low = _mm256_shuffle_epi8(
      table(kCarry | kOverlong3 | kOverlong2 | kOverlong4, kCarry | kOverlong2, kCarry, kCarry,
            kCarry | kTooLarge, kLarge, kLarge, kLarge, kLarge, kLarge, kLarge, kLarge, kLarge,
            kLarge | kSurrogate, kLarge, kLarge),
      _mm256_and_si256(first, _mm256_set1_epi8(0x0f)));
  constexpr int kSecond = kTooLong | kOverlong2 | kContinuations;
  const __m256i by_second_high = _mm256_shuffle_epi8(
      table(kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort,
            kSecond | kOverlong3 | kTooLarge1000 | kOverlong4, kSecond | kOverlong3 | kTooLarge,
            kSecond | kSurrogate | kTooLarge, kSecond | kSurrogate | kTooLarge, kTooShort,
            kTooShort, kTooShort, kTooShort),
      high_nibbles(now));
  const __m256i pairs =
      _mm256_and_si256(_mm256_and_si256(by_first_high, by_first_low), by_second_high);
  // The third byte of a sequence of three and the last two of one of four must
  // be continuations after continuations, and nothing else may be.
  const __m256i third = _mm256_subs_epu8(shifted<2>(now, before), _mm256_set1_epi8(0xe0 - 0x80));
  const __m256i fourth = _mm256_subs_epu8(shifted<3>(now, before), _mm256_set1_epi8(0xf0 - 0x80));
  const __m256i must =
      _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8(static_cast<char>(0x80)));
  return _mm256_xor_si256(must, pairs);
}

QUIPU_TARGET_AVX2 inline __m256i is_bad(__m256i now, __m256i before) {
  const __m256i last_control = _mm256_set1_epi8(0x1f);
  const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(now, last_control), now);
  const __m256i good = _mm256_cmpeq_epi8(utf8_errors(now, before), _mm256_setzero_si256());
  return _mm256_or_si256(control, _mm256_xor_si256(good, _mm256_set1_epi8(-1)));
}

// Of the 64 bytes at `p`; `before` are the 32 before them, and then their last 32.
QUIPU_TARGET_AVX2 inline Masks masks_of(const char* p, __m256i& before) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
  const __m256i quote = _mm256_set1_epi8('"');
  const __m256i backslash = _mm256_set1_epi8('\\');
  const __m256i feed = _mm256_set1_epi8('n');
  const __m256i tab = _mm256_set1_epi8('t');
  Masks masks;
  masks.quotes = bits(_mm256_cmpeq_epi8(low, quote), _mm256_cmpeq_epi8(high, quote));
  masks.backslashes = bits(_mm256_cmpeq_epi8(low, backslash), _mm256_cmpeq_epi8(high, backslash));
  masks.plain = bits(_mm256_or_si256(_mm256_cmpeq_epi8(low, feed), _mm256_cmpeq_epi8(low, tab)),
                     _mm256_or_si256(_mm256_cmpeq_epi8(high, feed), _mm256_cmpeq_epi8(high, tab)));
  masks.bad = bits(is_bad(low, before), is_bad(high, low));
  before = high;
  return masks;
}

}  // namespace

QUIPU_TARGET_AVX2 StringEnd check_string_avx2(const char* const begin, const char* end) {
  __m256i before = _mm256_setzero_si256();
  Escapes escapes;
  const char* checked = begin;  // an escape may reach beyond its block
  alignas(32) char padded[64];
  for (const char* p = begin; p < end; p += 64) {
    const char* block = p;
    if (end - p < 64) {
      // Zero bytes, which are control characters, stand in for what is past the end.
      std::memset(padded, 0, sizeof padded);
      std::memcpy(padded, p, static_cast<std::size_t>(end - p));
      block = padded;
    }
    const Masks masks = masks_of(block, before);
    const std::uint64_t escaped = escapes.next(masks.backslashes);
    const std::uint64_t closing = masks.quotes & ~escaped;
    const std::uint64_t inside = bits_below_lowest(closing);
    // At the closing quote shows what a sequence cut short by it lacks.
    const std::uint64_t lowest = closing & (~closing + 1);
    if ((masks.bad & (inside | lowest)) != 0) return check_string_portable(begin, end);
    std::uint64_t look = escaped & ~(masks.quotes | masks.plain) & inside;
    for (; look != 0; look &= look - 1) {
      const char* const at = p + lowest_bit(look) - 1;
      if (at < checked) continue;
      const StringEnd escape = check_escape(at, end);
      if (escape.error != nullptr) return escape;
      checked = escape.at;
    }
    if (closing != 0) return {p + lowest_bit(closing), nullptr};
  }
  return {end, "unterminated string"};
}

}  // namespace quipu::json

#endif
