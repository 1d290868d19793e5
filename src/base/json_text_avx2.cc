// Strings checked 64 bytes at a time, as two vectors of 32.
#include "base/json_string_walk.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define QUIPU_TARGET_AVX2 __attribute__((target("avx2")))

namespace quipu::json {
namespace {

using namespace vector;  // NOLINT: its tables are what this file is made of

QUIPU_TARGET_AVX2 inline std::uint64_t bits(__m256i low, __m256i high) {
  return std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(high))} << 32 |
         static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
}

// The bytes of `now`, each replaced by the one `kBack` places before it.
template <int kBack>
QUIPU_TARGET_AVX2 inline __m256i shifted(__m256i now, __m256i before) {
  return _mm256_alignr_epi8(now, _mm256_permute2x128_si256(before, now, 0x21), 16 - kBack);
}

QUIPU_TARGET_AVX2 inline __m256i look_up(const Nibbles& table, __m256i nibbles) {
  return _mm256_shuffle_epi8(_mm256_load_si256(reinterpret_cast<const __m256i*>(table.of)),
                             nibbles);
}

QUIPU_TARGET_AVX2 inline __m256i low_nibbles(__m256i bytes) {
  return _mm256_and_si256(bytes, _mm256_set1_epi8(0x0f));
}

QUIPU_TARGET_AVX2 inline __m256i high_nibbles(__m256i bytes) {
  return low_nibbles(_mm256_srli_epi16(bytes, 4));
}

// Nonzero where a sequence that ends or should go on at this byte is wrong.
QUIPU_TARGET_AVX2 inline __m256i utf8_errors(__m256i now, __m256i before) {
  const __m256i first = shifted<1>(now, before);
  const __m256i pairs =
      _mm256_and_si256(_mm256_and_si256(look_up(kByFirstHigh, high_nibbles(first)),
                                        look_up(kByFirstLow, low_nibbles(first))),
                       look_up(kBySecondHigh, high_nibbles(now)));
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

QUIPU_TARGET_AVX2 inline __m256i is_escape(__m256i now) {
  return _mm256_cmpeq_epi8(now, look_up(kEscapeLetters, now));
}

QUIPU_TARGET_AVX2 inline __m256i is_no_plain_digit(__m256i now) {
  const __m256i common = _mm256_and_si256(look_up(kDigitByLow, low_nibbles(now)),
                                          look_up(kDigitByHigh, high_nibbles(now)));
  return _mm256_cmpeq_epi8(common, _mm256_setzero_si256());
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

struct Avx2Walk {
  alignas(32) char last[32] = {};
  Escapes escapes;
  Stop stop;

  QUIPU_TARGET_AVX2 const char* next(const char* p, const char* end);
};

QUIPU_TARGET_AVX2 const char* Avx2Walk::next(const char* p, const char* end) {
  Escapes along = escapes;
  Bytes bytes{
      .before = {}, .low = {}, .high = _mm256_load_si256(reinterpret_cast<const __m256i*>(last))};
  for (; p < end; p += 64) {
    bytes.before = bytes.high;
    bytes.low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    bytes.high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
    const std::uint64_t quotes = bytes.equal('"');
    const std::uint64_t escaped = along.next(bytes.equal('\\'));
    const std::uint64_t closing = quotes & ~escaped;
    const std::uint64_t unicode = escaped & bytes.equal('u');
    std::uint64_t look = (escaped & ~(quotes | bytes.escapes())) | (unicode & kLastFour);
    if (unicode != 0) look |= unicode * kFourDigits & bytes.no_plain_digits();
    if ((closing | look) == 0 && !bytes.any_bad()) continue;
    stop = {.escaped = escaped, .closing = closing, .unclear = look != 0, .bad = bytes.bad()};
    break;
  }
  escapes = along;
  _mm256_store_si256(reinterpret_cast<__m256i*>(last), bytes.high);
  return p;
}

}  // namespace

StringEnd check_string_avx2(const char* p, const char* end) {
  return vector::check_string_by<Avx2Walk>(p, end);
}

}  // namespace quipu::json

#endif
