#include "cli/times.h"

#include <array>
#include <charconv>
#include <ctime>

#include <fmt/format.h>

namespace quipu::cli {
namespace {

bool read_number(std::string_view text, std::size_t at, std::size_t digits, int& value) {
  if (text.size() < at + digits) return false;
  const char* end = text.data() + at + digits;
  return std::from_chars(text.data() + at, end, value).ptr == end;
}

// Rounds towards the past, also before 1970.
std::int64_t floor_seconds(std::int64_t unix_ms) {
  return unix_ms / 1000 - (unix_ms % 1000 < 0 ? 1 : 0);
}

}  // namespace

std::string utc_text(std::int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(floor_seconds(unix_ms));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     unix_ms - static_cast<std::int64_t>(seconds) * 1000);
}

std::string local_text(std::int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(floor_seconds(unix_ms));
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

std::string local_text(std::string_view timestamp) {
  std::tm parts{};
  const bool readable =
      read_number(timestamp, 0, 4, parts.tm_year) && read_number(timestamp, 5, 2, parts.tm_mon) &&
      read_number(timestamp, 8, 2, parts.tm_mday) && read_number(timestamp, 11, 2, parts.tm_hour) &&
      read_number(timestamp, 14, 2, parts.tm_min) && timestamp.ends_with('Z');
  if (!readable) return std::string(timestamp);
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return local_text(std::int64_t{timegm(&parts)} * 1000);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits{"KB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto amount = static_cast<double>(bytes) / 1000.0;
  std::size_t unit = 0;
  while (amount >= 999.95 && unit + 1 < kUnits.size()) {
    amount /= 1000.0;
    ++unit;
  }
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace quipu::cli
