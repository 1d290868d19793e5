#include "base/time_text.h"

#include <algorithm>
#include <chrono>

namespace quipu {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::sys_days;
using std::chrono::sys_time;
using std::chrono::year_month_day;

constexpr sys_days kFirstDay{
    year_month_day{std::chrono::year{0}, std::chrono::January, std::chrono::day{1}}};
constexpr sys_days kEndDay{
    year_month_day{std::chrono::year{10'000}, std::chrono::January, std::chrono::day{1}}};
constexpr std::int64_t kMsMin = milliseconds{kFirstDay.time_since_epoch()}.count();
constexpr std::int64_t kMsMax = milliseconds{kEndDay.time_since_epoch()}.count() - 1;

void put(char* at, int digits, std::int64_t value) {
  for (int i = digits - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads exactly `digits` digits; -1 when there is anything else.
int get(std::string_view text, std::size_t at, std::size_t digits) {
  int value = 0;
  for (const char c : text.substr(at, digits)) {
    if (!is_digit(c)) return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

// ".123456789Z" to milliseconds, further digits cut off; -1 when malformed.
int fraction_ms(std::string_view text) {
  if (text == "Z") return 0;
  if (text.size() < 3 || text.size() > 11 || text.front() != '.' || text.back() != 'Z') return -1;
  int ms = 0;
  int weight = 100;
  for (const char c : text.substr(1, text.size() - 2)) {
    if (!is_digit(c)) return -1;
    ms += (c - '0') * weight;
    weight /= 10;
  }
  return ms;
}

}  // namespace

std::string format_timestamp(std::int64_t unix_ms) {
  const milliseconds since_epoch{std::clamp(unix_ms, kMsMin, kMsMax)};
  const sys_days day = std::chrono::floor<days>(sys_time<milliseconds>{since_epoch});
  const year_month_day date{day};
  const std::int64_t ms = (since_epoch - day.time_since_epoch()).count();

  std::string text = "0000-00-00T00:00:00.000Z";
  put(&text[0], 4, static_cast<int>(date.year()));
  put(&text[5], 2, static_cast<unsigned>(date.month()));
  put(&text[8], 2, static_cast<unsigned>(date.day()));
  put(&text[11], 2, ms / 3'600'000);
  put(&text[14], 2, ms / 60'000 % 60);
  put(&text[17], 2, ms / 1'000 % 60);
  put(&text[20], 3, ms % 1'000);
  return text;
}

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kShape.size()) return std::nullopt;
  bool fits = true;  // without a way out of the loop all places are compared at once
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    fits &= kShape[i] == 'd' ? is_digit(text[i]) : text[i] == kShape[i];
  }
  if (!fits) return std::nullopt;
  const year_month_day date{std::chrono::year{get(text, 0, 4)},
                            std::chrono::month{static_cast<unsigned>(get(text, 5, 2))},
                            std::chrono::day{static_cast<unsigned>(get(text, 8, 2))}};
  const int hour = get(text, 11, 2);
  const int minute = get(text, 14, 2);
  const int second = get(text, 17, 2);
  const int ms = fraction_ms(text.substr(kShape.size()));
  // In UTC a leap second is the last of its day.
  const bool leap = second == 60 && hour == 23 && minute == 59;
  if (!date.ok() || hour > 23 || minute > 59 || (second > 59 && !leap) || ms < 0) {
    return std::nullopt;
  }
  const milliseconds day = sys_days{date}.time_since_epoch();
  return day.count() + (std::int64_t{hour} * 3600 + minute * 60 + second) * 1000 + ms;
}

}  // namespace quipu
