#include "base/siphash.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace quipu {
namespace {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }

  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

// The same on machines of either byte order.
std::uint64_t little_endian(const char* bytes, std::size_t count) {
  std::uint64_t word = 0;
  if (count > 0) std::memcpy(&word, bytes, count);
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

}  // namespace

std::uint64_t siphash(SipKey key, std::string_view bytes) {
  SipState state{key.k0 ^ 0x736f6d6570736575, key.k1 ^ 0x646f72616e646f6d,
                 key.k0 ^ 0x6c7967656e657261, key.k1 ^ 0x7465646279746573};
  const std::size_t whole = bytes.size() & ~std::size_t{7};
  for (std::size_t i = 0; i < whole; i += 8) state.absorb(little_endian(bytes.data() + i, 8));
  state.absorb((std::uint64_t{bytes.size()} << 56) |
               little_endian(bytes.data() + whole, bytes.size() - whole));
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace quipu
