#include "base/sha256.h"

#include <algorithm>
#include <atomic>
#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace quipu {
namespace {

constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kDigestDigits = 64;

alignas(16) constexpr std::array<std::uint32_t, 64> kRounds{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian_32(const char* p) {
  const auto byte = [p](int i) { return std::uint32_t{static_cast<unsigned char>(p[i])}; };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

#if defined(__x86_64__)

#define QUIPU_TARGET_SHA __attribute__((target("sha,sse4.1,ssse3")))

// The instructions keep the state as (a b e f) and (c d g h), and take four words
// of the schedule at a time.
QUIPU_TARGET_SHA void sha256_blocks_x86(Sha256State& state, const char* bytes, std::size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* const words = reinterpret_cast<__m128i*>(state.data());
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
  for (; blocks > 0; --blocks, bytes += kBlockBytes) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i schedule[4];  // the last sixteen words
    for (std::size_t i = 0; i < 16; ++i) {
      __m128i& now = schedule[i % 4];
      if (i < 4) {
        const auto* const from = reinterpret_cast<const __m128i*>(bytes + 16 * i);
        now = _mm_shuffle_epi8(_mm_loadu_si128(from), swap);
      } else {
        const __m128i last = schedule[(i + 3) % 4];
        const __m128i seven_back = _mm_alignr_epi8(last, schedule[(i + 2) % 4], 4);
        now = _mm_add_epi32(_mm_sha256msg1_epu32(now, schedule[(i + 1) % 4]), seven_back);
        now = _mm_sha256msg2_epu32(now, last);
      }
      const auto* const constants = reinterpret_cast<const __m128i*>(kRounds.data() + 4 * i);
      const __m128i input = _mm_add_epi32(now, _mm_load_si128(constants));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

// GCC 12 and Clang 14 have no name for it in __builtin_cpu_supports.
bool has_sha_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSha = 1u << 29;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0 &&
         __builtin_cpu_supports("sse4.1");
}

#endif

using Blocks = void (*)(Sha256State&, const char*, std::size_t);

void choose_and_take(Sha256State& state, const char* bytes, std::size_t blocks);

// Set on first use and not during static initialisation, as in crc32c.cc.
constinit std::atomic<Blocks> chosen{&choose_and_take};

void choose_and_take(Sha256State& state, const char* bytes, std::size_t blocks) {
  Blocks best = &sha256_blocks_portable;
#if defined(__x86_64__)
  if (has_sha_instructions()) best = &sha256_blocks_x86;
#endif
  chosen.store(best, std::memory_order_relaxed);
  best(state, bytes, blocks);
}

}  // namespace

void sha256_blocks_portable(Sha256State& state, const char* bytes, std::size_t blocks) {
  using std::rotr;
  for (; blocks > 0; --blocks, bytes += kBlockBytes) {
    std::array<std::uint32_t, 64> words;
    for (std::size_t i = 0; i < 16; ++i) words[i] = big_endian_32(bytes + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t x = words[i - 15];
      const std::uint32_t y = words[i - 2];
      words[i] = words[i - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ (x >> 3)) + words[i - 7] +
                 (rotr(y, 17) ^ rotr(y, 19) ^ (y >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t first = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
                                  ((e & f) ^ (~e & g)) + kRounds[i] + words[i];
      const std::uint32_t second =
          (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const Sha256State rounds{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += rounds[i];
  }
}

void sha256_blocks(Sha256State& state, const char* bytes, std::size_t blocks) {
  chosen.load(std::memory_order_relaxed)(state, bytes, blocks);
}

void Sha256::update(std::string_view bytes) {
  const std::size_t waiting = bytes_ % kBlockBytes;
  bytes_ += bytes.size();
  if (waiting > 0) {
    const std::string_view more = bytes.substr(0, kBlockBytes - waiting);
    std::copy(more.begin(), more.end(), block_.begin() + waiting);
    bytes.remove_prefix(more.size());
    if (waiting + more.size() < kBlockBytes) return;
    sha256_blocks(state_, block_.data(), 1);
  }
  const std::size_t whole = bytes.size() / kBlockBytes;
  sha256_blocks(state_, bytes.data(), whole);
  bytes.remove_prefix(whole * kBlockBytes);
  std::copy(bytes.begin(), bytes.end(), block_.begin());
}

// A one bit, zeros, and the number of bits in the last eight bytes of a block.
std::string Sha256::finish() {
  const std::uint64_t bits = bytes_ * 8;
  const std::size_t waiting = bytes_ % kBlockBytes;
  std::array<char, 2 * kBlockBytes> end{};
  std::copy_n(block_.begin(), waiting, end.begin());
  end[waiting] = '\x80';
  const std::size_t blocks = waiting < kBlockBytes - 8 ? 1 : 2;
  for (std::size_t i = 0; i < 8; ++i) {
    end[blocks * kBlockBytes - 1 - i] = static_cast<char>((bits >> (8 * i)) & 0xff);
  }
  sha256_blocks(state_, end.data(), blocks);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(kDigestDigits);
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += kDigits[(word >> shift) & 15];
  }
  return hex;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == kDigestDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace quipu
