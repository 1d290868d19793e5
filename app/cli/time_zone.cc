#include "cli/time_zone.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include <fmt/format.h>

namespace quipu::cli {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "+05:30", "-03": as the TZ variable has it, with the sign the other way round; empty: none.
std::string fixed_zone(const std::string& name) {
  const bool has_minutes = name.size() == 6 && name[3] == ':';
  if (name.size() != 3 && !has_minutes) return {};
  if (name[0] != '+' && name[0] != '-') return {};
  for (const std::size_t at : {1U, 2U, 4U, 5U}) {
    if (at < name.size() && !is_digit(name[at])) return {};
  }
  const int hours = (name[1] - '0') * 10 + (name[2] - '0');
  const bool is_hour = hours <= 14 && (!has_minutes || name[4] < '6');
  if (!is_hour) return {};
  return fmt::format("LOC{}{}", name[0] == '+' ? '-' : '+', name.substr(1));
}

bool is_known_zone(const std::string& name) {
  const char* place = std::getenv("TZDIR");
  const std::filesystem::path zones = place != nullptr ? place : "/usr/share/zoneinfo";
  std::error_code failed;
  return !name.empty() && name[0] != '/' && name.find("..") == std::string::npos &&
         std::filesystem::is_regular_file(zones / name, failed);
}

}  // namespace

Result<void> use_time_zone(const std::string& name) {
  std::string zone = name == "UTC" ? "UTC0" : fixed_zone(name);
  if (zone.empty() && is_known_zone(name)) zone = name;
  if (zone.empty() && name != "local") {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is no time zone", name))
        .with_hint("UTC, local, +05:30, or a name such as Europe/Berlin.");
  }
  if (!zone.empty()) ::setenv("TZ", zone.c_str(), 1);
  ::tzset();
  return {};
}

std::int64_t utc_offset_ms(std::int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000 - (unix_ms % 1000 < 0 ? 1 : 0));
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return 0;
  return std::int64_t{parts.tm_gmtoff} * 1000;
}

}  // namespace quipu::cli
