#include "store/usage_sums.h"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <random>

#include "store/calendar.h"

namespace quipu {
namespace {

using view::Request;
using view::UsageRow;
using view::UsageRowPointer;

TEST(Calendar, NamesAreThoseOfTheCLibrary) {
  for (std::int64_t day = -200'000; day < 200'000; day += 13) {
    const std::time_t seconds = day * 86'400;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    const auto text = [&](const char* format) {
      char buffer[32];
      return std::string(buffer, std::strftime(buffer, sizeof buffer, format, &parts));
    };
    ASSERT_EQ(day_name(day), text("%Y-%m-%d"));
    ASSERT_EQ(month_name(day), text("%Y-%m"));
    ASSERT_EQ(week_name(day), text("%G-W%V"));
  }
  for (std::int64_t day = 19'000; day < 21'000; ++day) {  // every day of a few years
    const std::time_t seconds = day * 86'400;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char buffer[32];
    ASSERT_EQ(week_name(day), std::string(buffer, std::strftime(buffer, 32, "%G-W%V", &parts)));
  }
  EXPECT_EQ(day_of(0), 0);
  EXPECT_EQ(day_of(86'399'999), 0);
  EXPECT_EQ(day_of(86'400'000), 1);
  EXPECT_EQ(day_of(-1), -1);
}

TEST(Percentiles, NearestRank) {
  const auto of = [](std::vector<std::uint64_t> values) { return percentiles(values); };
  EXPECT_EQ(of({}), UsageLatency());
  EXPECT_EQ(of({7}), (UsageLatency{.requests = 1, .p50_ms = 7, .p90_ms = 7, .p99_ms = 7}));
  EXPECT_EQ(of({9, 1}), (UsageLatency{.requests = 2, .p50_ms = 1, .p90_ms = 9, .p99_ms = 9}));
  EXPECT_EQ(of({3, 1, 2}), (UsageLatency{.requests = 3, .p50_ms = 2, .p90_ms = 3, .p99_ms = 3}));
  std::vector<std::uint64_t> hundred;
  for (std::uint64_t i = 100; i > 0; --i) hundred.push_back(i);
  EXPECT_EQ(of(hundred), (UsageLatency{.requests = 100, .p50_ms = 50, .p90_ms = 90, .p99_ms = 99}));
  // By the definition: the smallest value that so many are not above.
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> values(1 + random() % 50);
    for (auto& value : values) value = random() % 20;
    const UsageLatency latency = of(values);
    for (const auto& [percent, answer] :
         {std::pair{50, latency.p50_ms}, std::pair{90, latency.p90_ms},
          std::pair{99, latency.p99_ms}}) {
      const auto at_most = [&](std::uint64_t limit) {
        return static_cast<int>(std::count_if(values.begin(), values.end(),
                                              [&](std::uint64_t value) { return value <= limit; }));
      };
      const int needed = percent * static_cast<int>(values.size());
      EXPECT_GE(at_most(answer) * 100, needed);
      EXPECT_TRUE(answer == 0 || at_most(answer - 1) * 100 < needed);
    }
  }
}

UsageRowPointer row_of(std::vector<Request> requests) {
  UsageRow row;
  row.session_id = "s";
  row.requests = view::pack_requests(requests);
  return std::make_shared<const UsageRow>(std::move(row));
}

TEST(UsageSums, DaysAreThoseOfTheZone) {
  // Five minutes before and after midnight in UTC.
  const UsageRowPointer row = row_of({{.key = {.low = 1}, .time_ms = -300'000, .tokens_in = 1},
                                      {.key = {.low = 2}, .time_ms = 300'000, .tokens_in = 2},
                                      {.key = {.low = 3}, .tokens_in = 4}});
  const auto days = [&](std::int64_t offset_ms) {
    UsageQuery query{.project = ProjectScope::all()};
    if (offset_ms != 0) query.utc_offset_ms = [=](std::int64_t) { return offset_ms; };
    std::string text;
    for (const UsageGroup& group : sum_up({row}, query).groups) {
      text += group.name + "=" + std::to_string(group.sum.tokens_in) + " ";
    }
    return text;
  };
  EXPECT_EQ(days(0), "=4 1969-12-31=1 1970-01-01=2 ");
  EXPECT_EQ(days(3'600'000), "=4 1970-01-01=3 ");
  EXPECT_EQ(days(-3'600'000), "=4 1969-12-31=3 ");
}

// A zone that puts its clocks back: each moment has the offset of its time.
TEST(UsageSums, AnOffsetMayChange) {
  constexpr std::int64_t kHour = 3'600'000;
  const UsageRowPointer row =
      row_of({{.key = {.low = 1}, .time_ms = 23 * kHour - 1, .tokens_in = 1},
              {.key = {.low = 2}, .time_ms = 23 * kHour, .tokens_in = 2}});
  UsageQuery query{.project = ProjectScope::all()};
  query.utc_offset_ms = [](std::int64_t time) { return time < 23 * kHour ? 2 * kHour : 0; };
  const UsageReport report = sum_up({row}, query);
  ASSERT_EQ(report.groups.size(), 2u);
  EXPECT_EQ(report.groups[0].sum.tokens_in, 2u);
  EXPECT_EQ(report.groups[1].sum.tokens_in, 1u);
}

TEST(UsageSums, WhateverADiskSaysNothingOverflows) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::vector<Request> requests;
  for (std::uint64_t i = 1; i <= 12; ++i) {
    requests.push_back({.key = {.low = i},
                        .tokens_in = kMost,
                        .tokens_out = kMost,
                        .cost_nano_usd = 1'000'000'000'000'000'000});
  }
  const UsageSum total = sum_up({row_of(requests)}, {.project = ProjectScope::all()}).total;
  EXPECT_EQ(total.requests, 12u);
  EXPECT_EQ(total.tokens_in, kMost);
  EXPECT_GT(total.cost_nano_usd(), 4'000'000'000'000'000'000);
}

}  // namespace
}  // namespace quipu
