// Numbers in as many bytes as they need: groups of seven bits, lowest first, the high bit of a
// byte set when another follows (LEB128).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quipu {

inline void append_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

/// Takes one from the front of `from`. Nothing when there is no whole one; what was looked at is
/// gone then, too.
inline std::optional<std::uint64_t> take_varint(std::string_view& from) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

}  // namespace quipu
