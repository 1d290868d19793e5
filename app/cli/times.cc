#include "cli/times.h"

#include <array>
#include <charconv>
#include <chrono>
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

std::int64_t now_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

std::string ago_text(std::int64_t unix_ms, std::int64_t now_ms) {
  const std::int64_t minutes = (now_ms - unix_ms) / 60'000;
  if (minutes < 1) return "now";
  if (minutes < 60) return fmt::format("{} min ago", minutes);
  if (minutes < 48 * 60) return fmt::format("{} h ago", minutes / 60);
  if (minutes < 31 * 24 * 60) return fmt::format("{} d ago", minutes / (24 * 60));
  return local_text(unix_ms).substr(0, 10);
}

std::optional<std::int64_t> read_time(std::string_view text, std::int64_t now_ms) {
  std::tm parts{};
  const bool date = text.size() >= 10 && text[4] == '-' && text[7] == '-' &&
                    read_number(text, 0, 4, parts.tm_year) &&
                    read_number(text, 5, 2, parts.tm_mon) && read_number(text, 8, 2, parts.tm_mday);
  // mktime would take the 30th of February for a day in March.
  const std::chrono::year_month_day day{std::chrono::year{parts.tm_year},
                                        std::chrono::month{static_cast<unsigned>(parts.tm_mon)},
                                        std::chrono::day{static_cast<unsigned>(parts.tm_mday)}};
  if (date && !day.ok()) return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  parts.tm_isdst = -1;
  if (date && text.size() == 10) return std::int64_t{mktime(&parts)} * 1000;
  if (date) {
    const bool clock = text.size() >= 20 && text[10] == 'T' && text.ends_with('Z') &&
                       read_number(text, 11, 2, parts.tm_hour) &&
                       read_number(text, 14, 2, parts.tm_min) &&
                       read_number(text, 17, 2, parts.tm_sec);
    if (!clock || parts.tm_hour > 23 || parts.tm_min > 59 || parts.tm_sec > 60) return std::nullopt;
    return std::int64_t{timegm(&parts)} * 1000;
  }
  std::int64_t amount = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, amount);
  if (error != std::errc() || end - at != 1 || amount < 0 || amount > 100'000) return std::nullopt;
  constexpr std::int64_t kMinute = 60'000;
  switch (*at) {
    case 'm':
      return now_ms - amount * kMinute;
    case 'h':
      return now_ms - amount * 60 * kMinute;
    case 'd':
      return now_ms - amount * 24 * 60 * kMinute;
    case 'w':
      return now_ms - amount * 7 * 24 * 60 * kMinute;
    default:
      return std::nullopt;
  }
}

std::string count_text(std::uint64_t count) {
  if (count < 10'000) return std::to_string(count);
  if (count < 1'000'000) return fmt::format("{:.1f}k", static_cast<double>(count) / 1e3);
  if (count < 1'000'000'000) return fmt::format("{:.1f}M", static_cast<double>(count) / 1e6);
  return fmt::format("{:.1f}G", static_cast<double>(count) / 1e9);
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

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace quipu::cli
