#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "base/clock.h"
#include "base/time_text.h"
#include "base/uuid.h"

namespace quipu {
namespace {

class FixedRandom final : public Random {
 public:
  explicit FixedRandom(std::byte byte) : byte_(byte) {}
  void fill(std::span<std::byte> bytes) override {
    std::fill(bytes.begin(), bytes.end(), byte_);
    asked_ += bytes.size();
  }
  std::size_t asked() const { return asked_; }

 private:
  std::byte byte_;
  std::size_t asked_ = 0;
};

TEST(UuidTest, LayoutOfRfc9562) {
  FixedRandom ones(std::byte{0xff});
  EXPECT_EQ(uuid_v7(0x0192f0c12b5e, ones), "0192f0c1-2b5e-7fff-bfff-ffffffffffff");
  FixedRandom zeros(std::byte{0});
  EXPECT_EQ(uuid_v7(0x017f22e279b0, zeros), "017f22e2-79b0-7000-8000-000000000000");
  EXPECT_GE(zeros.asked(), 10u);  // 74 random bits
}

TEST(UuidTest, SortsByTime) {
  Random& random = Random::system();
  std::string before = uuid_v7(0, random);
  for (std::int64_t ms = 1; ms < (std::int64_t{1} << 48); ms = ms * 3 + 1) {
    std::string now = uuid_v7(ms, random);
    EXPECT_LT(before, now);
    before = std::move(now);
  }
}

TEST(UuidTest, TimesOutsideAreClamped) {
  FixedRandom zeros(std::byte{0});
  EXPECT_EQ(uuid_v7(-1, zeros), "00000000-0000-7000-8000-000000000000");
  EXPECT_EQ(uuid_v7(std::numeric_limits<std::int64_t>::max(), zeros),
            "ffffffff-ffff-7000-8000-000000000000");
}

TEST(TimeTextTest, KnownTimes) {
  EXPECT_EQ(format_timestamp(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_timestamp(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_timestamp(1'772'357'400'000), "2026-03-01T09:30:00.000Z");
  EXPECT_EQ(format_timestamp(951'782'399'999), "2000-02-28T23:59:59.999Z");
  EXPECT_EQ(format_timestamp(951'782'400'000), "2000-02-29T00:00:00.000Z");
}

TEST(TimeTextTest, TimesOutsideAreClamped) {
  EXPECT_EQ(format_timestamp(std::numeric_limits<std::int64_t>::min()), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(format_timestamp(-62'167'219'200'001), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(format_timestamp(253'402'300'800'000), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_timestamp(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59.999Z");
}

TEST(TimeTextTest, ParsesWhatItShould) {
  const auto at = [](std::string_view text) { return parse_timestamp(text).value_or(-424242); };
  EXPECT_EQ(at("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(at("1970-01-01T00:00:00.5Z"), 500);
  EXPECT_EQ(at("1970-01-01T00:00:00.05Z"), 50);
  EXPECT_EQ(at("1970-01-01T00:00:00.0019Z"), 1);  // cut, not rounded
  EXPECT_EQ(at("1970-01-01T00:00:00.999999999Z"), 999);
  EXPECT_EQ(at("1969-12-31T23:59:59.999Z"), -1);
  EXPECT_EQ(at("2026-03-01T09:30:00.000Z"), 1'772'357'400'000);
  EXPECT_EQ(at("2016-12-31T23:59:60Z"), 1'483'228'800'000);
  EXPECT_EQ(at("2024-02-29T00:00:00Z"), 1'709'164'800'000);
  EXPECT_EQ(at("0000-01-01T00:00:00.000Z"), -62'167'219'200'000);
  EXPECT_EQ(at("9999-12-31T23:59:59.999Z"), 253'402'300'799'999);
}

TEST(TimeTextTest, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      "Z",
                                      "2026-03-01",
                                      "2026-03-01T09:30:00",
                                      "2026-03-01T09:30:00.Z",
                                      "2026-03-01T09:30:00.1234567890Z",
                                      "2026-03-01T09:30:00.12x4Z",
                                      "2026-03-01T09:30:00,5Z",
                                      "2026-03-01t09:30:00Z",
                                      "2026-03-01T09:30:00z",
                                      "2026-03-01 09:30:00Z",
                                      "2026-03-01T09:30:00+00:00",
                                      "2026-03-01T09:30:00ZZ",
                                      " 2026-03-01T09:30:00Z",
                                      "2026-03-01T09:30:00Z ",
                                      "2026-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-01-00T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:60:00Z",
                                      "2026-01-01T00:00:60Z",
                                      "2026-01-01T23:58:60Z",
                                      "2026-01-01T23:59:61Z",
                                      "26-01-01T00:00:00Z",
                                      "02026-01-01T00:00:00Z",
                                      "-026-01-01T00:00:00Z",
                                      "2026/01/01T00:00:00Z",
                                      "2026-1-01T00:00:00Z",
                                      "2026-01-01T0:00:00Z",
                                      "2026-01-01T00-00-00Z",
                                      "2026-01-01T00:00:0\xd9\xa0Z"}) {
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
  }
}

TEST(TimeTextTest, RoundTrip) {
  std::mt19937_64 random(11);
  std::uniform_int_distribution<std::int64_t> any(-62'167'219'200'000, 253'402'300'799'999);
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t ms = any(random);
    const std::string text = format_timestamp(ms);
    ASSERT_EQ(text.size(), 24u);
    ASSERT_EQ(parse_timestamp(text), ms) << text;
  }
}

// Text order is time order: lists may be sorted by the text alone.
TEST(TimeTextTest, TextSortsAsTimeDoes) {
  std::mt19937_64 random(12);
  std::uniform_int_distribution<std::int64_t> any(-62'167'219'200'000, 253'402'300'799'999);
  for (int i = 0; i < 2'000; ++i) {
    const std::int64_t a = any(random);
    const std::int64_t b = any(random);
    ASSERT_EQ(a < b, format_timestamp(a) < format_timestamp(b));
  }
}

}  // namespace
}  // namespace quipu
