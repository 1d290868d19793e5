// Strings checked without a branch for what is in them.
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

// Bytes that are right after a backslash: the low nibble of each says which letter
// it must be. b has the nibble of r, and the quote is known already.
QUIPU_TARGET_AVX2 inline __m256i is_escape(__m256i now) {
  const __m256i letters =
      table(-1, -1, 'r', -1, 't', 'u', 'f', -1, -1, -1, -1, -1, -1, -1, 'n', '/');
  return _mm256_cmpeq_epi8(now, _mm256_shuffle_epi8(letters, now));
}

// All but hex digits, and d.
QUIPU_TARGET_AVX2 inline __m256i is_no_plain_digit(__m256i now) {
  constexpr int kDigit = 1 << 0;
  constexpr int kLetter = 1 << 1;
  constexpr int kBoth = kDigit | kLetter;
  const __m256i by_low = _mm256_shuffle_epi8(table(kDigit, kBoth, kBoth, kBoth, kDigit, kBoth,
                                                   kBoth, kDigit, kDigit, kDigit, 0, 0, 0, 0, 0, 0),
                                             _mm256_and_si256(now, _mm256_set1_epi8(0x0f)));
  const __m256i by_high = _mm256_shuffle_epi8(
      table(0, 0, 0, kDigit, kLetter, 0, kLetter, 0, 0, 0, 0, 0, 0, 0, 0, 0), high_nibbles(now));
  return _mm256_cmpeq_epi8(_mm256_and_si256(by_low, by_high), _mm256_setzero_si256());
}

// Sixty-four bytes of a string, and the 32 before them.
struct Bytes {
  __m256i before;
  __m256i low;
  __m256i high;

  QUIPU_TARGET_AVX2 std::uint64_t equal(char c) const {
    const __m256i wanted = _mm256_set1_epi8(c);
    return bits(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
  }
  QUIPU_TARGET_AVX2 std::uint64_t escapes() const { return bits(is_escape(low), is_escape(high)); }
  QUIPU_TARGET_AVX2 std::uint64_t no_plain_digits() const {
    return bits(is_no_plain_digit(low), is_no_plain_digit(high));
  }
  /// Control characters, and where UTF-8 goes wrong.
  QUIPU_TARGET_AVX2 std::uint64_t bad() const {
    return bits(is_bad(low, before), is_bad(high, low));
  }
  /// Whether there are any: the cheaper question, and cheaper still where all is ASCII.
  QUIPU_TARGET_AVX2 bool any_bad() const {
    const __m256i control = _mm256_subs_epu8(_mm256_set1_epi8(0x20), _mm256_min_epu8(low, high));
    const __m256i either = _mm256_or_si256(_mm256_or_si256(low, high), before);
    if (_mm256_movemask_epi8(either) == 0) return _mm256_testz_si256(control, control) == 0;
    const __m256i errors = _mm256_or_si256(utf8_errors(low, before), utf8_errors(high, low));
    const __m256i all = _mm256_or_si256(control, errors);
    return _mm256_testz_si256(all, all) == 0;
  }
};

// A walk along a string that stops where there is something to decide. All that
// calls is outside of its loop: across a call no vector stays in its register.
struct Walk {
  alignas(32) char last[32] = {};
  Escapes escapes;
  // Of the block where it stopped.
  std::uint64_t escaped = 0;
  std::uint64_t closing = 0;
  bool unclear = false;  // an escape to be looked at
  std::uint64_t bad = 0;

  /// The first of the blocks from `p` to `end` to stop at, or `end`.
  QUIPU_TARGET_AVX2 const char* next(const char* p, const char* end);
};

QUIPU_TARGET_AVX2 const char* Walk::next(const char* p, const char* end) {
  // Four bits from the next one on. Escapes that are too close to each other to be
  // right disturb only what is above the place where that shows.
  constexpr std::uint64_t kFourDigits = 0b11110;
  constexpr std::uint64_t kLastFour = std::uint64_t{0xf} << 60;
  Escapes along = escapes;
  Bytes bytes{
      .before = {}, .low = {}, .high = _mm256_load_si256(reinterpret_cast<const __m256i*>(last))};
  for (; p < end; p += 64) {
    bytes.before = bytes.high;
    bytes.low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    bytes.high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
    const std::uint64_t quotes = bytes.equal('"');
    const std::uint64_t after_backslash = along.next(bytes.equal('\\'));
    const std::uint64_t ends = quotes & ~after_backslash;
    const std::uint64_t unicode = after_backslash & bytes.equal('u');
    std::uint64_t look = (after_backslash & ~(quotes | bytes.escapes())) | (unicode & kLastFour);
    if (unicode != 0) look |= unicode * kFourDigits & bytes.no_plain_digits();
    if ((ends | look) == 0 && !bytes.any_bad()) continue;
    escaped = after_backslash;
    closing = ends;
    unclear = look != 0;
    bad = bytes.bad();
    break;
  }
  escapes = along;
  _mm256_store_si256(reinterpret_cast<__m256i*>(last), bytes.high);
  return p;
}

}  // namespace

QUIPU_TARGET_AVX2 StringEnd check_string_avx2(const char* const begin, const char* end) {
  const char* const whole_end = end - (end - begin) % 64;
  const char* checked = begin;  // an escape may reach beyond its block
  alignas(32) char padded[64];
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
    const std::uint64_t inside = bits_below_lowest(walk.closing);
    // At the closing quote shows what a sequence cut short by it lacks.
    const std::uint64_t lowest = walk.closing & (~walk.closing + 1);
    if ((walk.bad & (inside | lowest)) != 0) return check_string_portable(begin, end);
    std::uint64_t look = walk.unclear ? walk.escaped & inside : 0;
    for (; look != 0; look &= look - 1) {
      const char* const at = p + lowest_bit(look) - 1;
      if (at < checked) continue;
      const StringEnd escape = check_escape(at, end);
      if (escape.error != nullptr) return escape;
      checked = escape.at;
    }
    if (walk.closing != 0) return {p + lowest_bit(walk.closing), nullptr};
  }
  return {end, "unterminated string"};
}

}  // namespace quipu::json

#endif
