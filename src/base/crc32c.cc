#include "base/crc32c.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace quipu {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, lowest power in the highest bit

constexpr std::uint32_t times_x(std::uint32_t value) {
  return (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
}

// Of polynomials, modulo the one above.
constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (std::uint32_t bit = std::uint32_t{1} << 31; bit != 0; bit >>= 1, b = times_x(b)) {
    if ((a & bit) != 0) sum ^= b;
  }
  return sum;
}

// kTables[k][b]: what byte b does to the register when k more bytes follow it.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t little_endian_32(const unsigned char* p) {
  return std::uint32_t{p[0]} | (std::uint32_t{p[1]} << 8) | (std::uint32_t{p[2]} << 16) |
         (std::uint32_t{p[3]} << 24);
}

#if defined(__x86_64__)

// x^n modulo the polynomial.
constexpr std::uint32_t power_of_x(std::size_t n) {
  std::uint32_t value = 0x80000000;
  for (std::size_t i = 0; i < n; ++i) value = times_x(value);
  return value;
}

#define QUIPU_TARGET_CRC __attribute__((target("sse4.2,pclmul")))

QUIPU_TARGET_CRC std::uint64_t load_64(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// The product of two reversed 32-bit polynomials is one bit short of 64, which
// multiplies by x; _mm_crc32_u64 multiplies by x^32 more: hence the 33 below.
QUIPU_TARGET_CRC std::uint64_t carryless_product(std::uint64_t a, std::uint32_t b) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(a)),
                                               _mm_cvtsi64_si128(static_cast<long long>(b)), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

// The instruction takes three cycles but one can start in each: three lanes of
// kLane bytes run side by side, then the first two registers are moved past
// the bytes that follow them.
template <std::size_t kLane>
QUIPU_TARGET_CRC std::uint64_t extend_three_lanes(std::uint64_t crc, const char*& p,
                                                  const char* end) {
  static_assert(kLane % 8 == 0 && kLane * 8 > 33);
  constexpr std::uint32_t kPastOne = power_of_x(kLane * 8 - 33);
  constexpr std::uint32_t kPastTwo = power_of_x(kLane * 16 - 33);
  while (static_cast<std::size_t>(end - p) >= 3 * kLane) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLane; i += 8) {
      crc = _mm_crc32_u64(crc, load_64(p + i));
      second = _mm_crc32_u64(second, load_64(p + kLane + i));
      third = _mm_crc32_u64(third, load_64(p + 2 * kLane + i));
    }
    crc = third ^
          _mm_crc32_u64(0, carryless_product(crc, kPastTwo) ^ carryless_product(second, kPastOne));
    p += 3 * kLane;
  }
  return crc;
}

QUIPU_TARGET_CRC std::uint32_t extend_sse42(std::uint32_t crc, std::string_view bytes) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  std::uint64_t value = ~crc;
  if (bytes.size() >= 3 * 64) {
    value = extend_three_lanes<1024>(value, p, end);
    value = extend_three_lanes<256>(value, p, end);
    value = extend_three_lanes<64>(value, p, end);
  }
  for (; end - p >= 8; p += 8) value = _mm_crc32_u64(value, load_64(p));
  auto low = static_cast<std::uint32_t>(value);
  for (; p < end; ++p) low = _mm_crc32_u8(low, static_cast<unsigned char>(*p));
  return ~low;
}

#endif

using Extend = std::uint32_t (*)(std::uint32_t, std::string_view);

std::uint32_t choose_and_extend(std::uint32_t crc, std::string_view bytes);

// Set on first use and not during static initialisation, because another
// static object may want a checksum before this file's turn.
constinit std::atomic<Extend> chosen{&choose_and_extend};

std::uint32_t choose_and_extend(std::uint32_t crc, std::string_view bytes) {
  Extend best = &crc32c_extend_table;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul")) best = &extend_sse42;
#endif
  chosen.store(best, std::memory_order_relaxed);
  return best(crc, bytes);
}

}  // namespace

std::uint32_t crc32c_extend(std::uint32_t crc, std::string_view bytes) {
  return chosen.load(std::memory_order_relaxed)(crc, bytes);
}

// x^8 once for each byte.
Crc32cShift::Crc32cShift(std::size_t bytes) : factor_(std::uint32_t{1} << 31) {
  std::uint32_t power = std::uint32_t{1} << (31 - 8);
  for (; bytes != 0; bytes >>= 1, power = product(power, power)) {
    if ((bytes & 1) != 0) factor_ = product(factor_, power);
  }
}

std::uint32_t Crc32cShift::of(std::uint32_t crc) const { return product(factor_, crc); }

std::uint32_t crc32c_extend_table(std::uint32_t crc, std::string_view bytes) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto* const end = p + bytes.size();
  std::uint32_t value = ~crc;
  for (; end - p >= 8; p += 8) {
    const std::uint32_t low = little_endian_32(p) ^ value;
    const std::uint32_t high = little_endian_32(p + 4);
    value = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^
            kTables[5][(low >> 16) & 0xff] ^ kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^
            kTables[2][(high >> 8) & 0xff] ^ kTables[1][(high >> 16) & 0xff] ^
            kTables[0][high >> 24];
  }
  for (; p < end; ++p) value = (value >> 8) ^ kTables[0][(value ^ *p) & 0xff];
  return ~value;
}

}  // namespace quipu
