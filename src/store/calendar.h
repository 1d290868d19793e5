// Days, weeks and months as people name them. A day is a number of days since 1970-01-01.
#pragma once

#include <cstdint>
#include <string>

namespace quipu {

/// The day of a moment in UTC.
std::int64_t day_of(std::int64_t unix_ms);

std::string day_name(std::int64_t day);    // "2026-03-01"
std::string week_name(std::int64_t day);   // "2026-W09": ISO 8601
std::string month_name(std::int64_t day);  // "2026-03"

}  // namespace quipu
