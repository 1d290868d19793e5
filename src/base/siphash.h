// SipHash-2-4: a keyed hash for keys that an attacker may choose (entry ids).
#pragma once

#include <cstdint>
#include <string_view>

namespace quipu {

struct SipKey {
  std::uint64_t k0 = 0;
  std::uint64_t k1 = 0;
};

std::uint64_t siphash(SipKey key, std::string_view bytes);

}  // namespace quipu
