// Thirty-two components at a time. The instruction that multiplies bytes takes one side without
// signs: the query gives its absolute values, and its signs are moved over to the row. Two
// products of at most 127 * 127 fit into 16 bits, so nothing saturates.
//
// What it waits for is memory, so rows are asked for some time before they are needed; that is
// worth an eighth. Several rows at a time, which share the loads of the query, are slower: memory
// likes to be read from one end to the other.
#include "recall/vector_scan.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define QUIPU_TARGET_AVX2 __attribute__((target("avx2")))

namespace quipu::recall {
namespace {

QUIPU_TARGET_AVX2 inline __m256i load(const std::int8_t* at) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(at));
}

QUIPU_TARGET_AVX2 inline std::int32_t total(__m256i sums) {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return _mm_cvtsi128_si32(half);
}

}  // namespace

QUIPU_TARGET_AVX2 void scan_rows_avx2(const std::int8_t* query, const std::int8_t* rows,
                                      std::size_t width, std::size_t count,
                                      std::int32_t* products) {
  // Behind the end of the rows it asks for what nobody needs, which is no error.
  constexpr std::size_t kBytesAhead = 2048;
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::size_t row = 0; row < count; ++row, rows += width) {
    __m256i sums = _mm256_setzero_si256();
    for (std::size_t i = 0; i < width; i += kRowAlignment) {
      _mm_prefetch(reinterpret_cast<const char*>(rows) + i + kBytesAhead, _MM_HINT_T0);
      const __m256i part = load(query + i);
      const __m256i signed_row = _mm256_sign_epi8(load(rows + i), part);
      const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(part), signed_row);
      sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, ones));
    }
    products[row] = total(sums);
  }
}

}  // namespace quipu::recall

#endif
