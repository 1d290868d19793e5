#include "store/calendar.h"

#include <chrono>

namespace quipu {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

std::string padded(std::int64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

year_month_day date_of(std::int64_t day) { return sys_days{days{static_cast<int>(day)}}; }

}  // namespace

std::int64_t day_of(std::int64_t unix_ms) {
  return std::chrono::floor<days>(std::chrono::milliseconds{unix_ms}).count();
}

std::string month_name(std::int64_t day) {
  const year_month_day date = date_of(day);
  return padded(int{date.year()}, 4) + "-" + padded(unsigned{date.month()}, 2);
}

std::string day_name(std::int64_t day) {
  return month_name(day) + "-" + padded(unsigned{date_of(day).day()}, 2);
}

// A week belongs to the year that its Thursday is in.
std::string week_name(std::int64_t day) {
  const sys_days at{days{static_cast<int>(day)}};
  const unsigned weekday = std::chrono::weekday{at}.iso_encoding();  // Monday is 1
  const sys_days thursday = at + days{4 - static_cast<int>(weekday)};
  const std::chrono::year year = year_month_day{thursday}.year();
  const auto since = (thursday - sys_days{year / std::chrono::January / 1}).count();
  return padded(int{year}, 4) + "-W" + padded(since / 7 + 1, 2);
}

}  // namespace quipu
