#include "base/uuid.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace quipu {

std::string uuid_v7(std::int64_t unix_ms, Random& random) {
  std::array<std::byte, 16> id{};
  random.fill(std::span(id).subspan(6));

  // A clock outside the 48 bits (before 1970, after 10889) must not wrap: ids
  // would sort wildly.
  constexpr std::int64_t kUuidMsMax = (std::int64_t{1} << 48) - 1;
  const auto ms = static_cast<std::uint64_t>(std::clamp<std::int64_t>(unix_ms, 0, kUuidMsMax));
  for (std::size_t i = 0; i < 6; ++i) id[i] = static_cast<std::byte>(ms >> (8 * (5 - i)));
  id[6] = (id[6] & std::byte{0x0f}) | std::byte{0x70};  // version 7
  id[8] = (id[8] & std::byte{0x3f}) | std::byte{0x80};  // variant of RFC 9562

  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    const auto byte = std::to_integer<unsigned>(id[i]);
    text.push_back(kHex[byte >> 4]);
    text.push_back(kHex[byte & 15]);
  }
  return text;
}

}  // namespace quipu
