// Strings checked 64 bytes at a time, as one vector: a comparison gives the mask that is
// wanted, so that everything is asked of every block and nothing branches but the end.
#include "base/json_string_walk.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define QUIPU_TARGET_AVX512 __attribute__((target("avx512f,avx512bw")))

namespace quipu::json {
namespace {

using namespace vector;  // NOLINT: its tables are what this file is made of

QUIPU_TARGET_AVX512 inline __m512i look_up(const Nibbles& table, __m512i nibbles) {
  return _mm512_shuffle_epi8(_mm512_load_si512(table.of), nibbles);
}

QUIPU_TARGET_AVX512 inline __m512i low_nibbles(__m512i bytes) {
  return _mm512_and_si512(bytes, _mm512_set1_epi8(0x0f));
}

QUIPU_TARGET_AVX512 inline __m512i high_nibbles(__m512i bytes) {
  return low_nibbles(_mm512_srli_epi16(bytes, 4));
}

// Where a sequence that ends or should go on at this byte is wrong.
QUIPU_TARGET_AVX512 inline std::uint64_t utf8_errors(__m512i now, __m512i before) {
  // The 16 bytes before each 16 of `now`.
  // The form without a mask begins with an undefined vector, of which GCC 12 warns.
  const __m512i lanes_before = _mm512_maskz_alignr_epi64(0xff, now, before, 6);
  const __m512i first = _mm512_alignr_epi8(now, lanes_before, 15);
  const __m512i pairs =
      _mm512_and_si512(_mm512_and_si512(look_up(kByFirstHigh, high_nibbles(first)),
                                        look_up(kByFirstLow, low_nibbles(first))),
                       look_up(kBySecondHigh, high_nibbles(now)));
  // The third byte of a sequence of three and the last two of one of four must
  // be continuations after continuations, and nothing else may be.
  const __m512i third =
      _mm512_subs_epu8(_mm512_alignr_epi8(now, lanes_before, 14), _mm512_set1_epi8(0xe0 - 0x80));
  const __m512i fourth =
      _mm512_subs_epu8(_mm512_alignr_epi8(now, lanes_before, 13), _mm512_set1_epi8(0xf0 - 0x80));
  const __m512i must =
      _mm512_and_si512(_mm512_or_si512(third, fourth), _mm512_set1_epi8(static_cast<char>(0x80)));
  return _mm512_cmpneq_epi8_mask(must, pairs);
}

struct Avx512Walk {
  alignas(64) char last[64] = {};
  Escapes escapes;
  Stop stop;

  QUIPU_TARGET_AVX512 const char* next(const char* p, const char* end);
};

QUIPU_TARGET_AVX512 const char* Avx512Walk::next(const char* p, const char* end) {
  Escapes along = escapes;
  __m512i now = _mm512_load_si512(last);
  for (; p < end; p += 64) {
    const __m512i before = now;
    now = _mm512_loadu_si512(p);
    const std::uint64_t quotes = _mm512_cmpeq_epi8_mask(now, _mm512_set1_epi8('"'));
    const std::uint64_t escaped = along.next(_mm512_cmpeq_epi8_mask(now, _mm512_set1_epi8('\\')));
    const std::uint64_t closing = quotes & ~escaped;
    const std::uint64_t letters = _mm512_cmpeq_epi8_mask(now, look_up(kEscapeLetters, now));
    const std::uint64_t unicode = escaped & _mm512_cmpeq_epi8_mask(now, _mm512_set1_epi8('u'));
    const std::uint64_t no_plain_digits = _mm512_testn_epi8_mask(
        look_up(kDigitByLow, low_nibbles(now)), look_up(kDigitByHigh, high_nibbles(now)));
    const std::uint64_t look = (escaped & ~(quotes | letters)) | (unicode & kLastFour) |
                               (unicode * kFourDigits & no_plain_digits);
    const std::uint64_t bad =
        _mm512_cmplt_epu8_mask(now, _mm512_set1_epi8(' ')) | utf8_errors(now, before);
    if ((closing | look | bad) == 0) continue;
    stop = {.escaped = escaped, .closing = closing, .unclear = look != 0, .bad = bad};
    break;
  }
  escapes = along;
  _mm512_store_si512(last, now);
  return p;
}

}  // namespace

StringEnd check_string_avx512(const char* p, const char* end) {
  return vector::check_string_by<Avx512Walk>(p, end);
}

}  // namespace quipu::json

#endif
