#include "dialect/claude/slug.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/json_text.h"

namespace quipu::dialect::claude {
namespace {

constexpr std::size_t kLengthMax = 200;
constexpr std::uint32_t kReplacement = 0xFFFD;

// As JavaScript sees a string.
std::vector<std::uint16_t> utf16(std::string_view text) {
  std::vector<std::uint16_t> units;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length =
        first < 0x80 ? 1 : json::utf8_length(text.data(), text.data() + text.size());
    std::uint32_t code = length == 1 ? first : kReplacement;
    if (length > 1) {
      code = first & (0xFFu >> (length + 1));
      for (std::size_t i = 1; i < length; ++i) {
        code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
      }
    }
    if (code >= 0x10000) {
      units.push_back(static_cast<std::uint16_t>(0xD800 + ((code - 0x10000) >> 10)));
      code = 0xDC00 + (code & 0x3FF);
    }
    units.push_back(static_cast<std::uint16_t>(code));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return units;
}

std::string base36(std::uint64_t number) {
  std::string digits;
  do {
    digits += "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
    number /= 36;
  } while (number != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

std::string slug_of(std::string_view cwd) {
  std::string slug;
  std::uint32_t hash = 0;
  for (const std::uint16_t unit : utf16(cwd)) {
    const bool is_plain = (unit >= 'a' && unit <= 'z') || (unit >= 'A' && unit <= 'Z') ||
                          (unit >= '0' && unit <= '9');
    slug += is_plain ? static_cast<char>(unit) : '-';
    hash = hash * 31 + unit;
  }
  if (slug.size() <= kLengthMax) return slug;
  const std::int64_t number = static_cast<std::int32_t>(hash);
  return slug.substr(0, kLengthMax) + "-" +
         base36(static_cast<std::uint64_t>(number < 0 ? -number : number));
}

}  // namespace quipu::dialect::claude
