// Times as some agents write them: a number.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time_text.h"

namespace quipu::dialect {

/// RFC 3339 for the milliseconds since 1970, or for the seconds when the number is too
/// small to be milliseconds of this century. Empty when it is no number.
inline std::string time_of(std::string_view number) {
  constexpr std::int64_t kSecondsMax = 100'000'000'000;
  std::int64_t time = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), time);
  if (read.ec != std::errc() || time <= 0) return {};
  return format_timestamp(time < kSecondsMax ? time * 1000 : time);
}

}  // namespace quipu::dialect
