#include "quipu/prices.h"

#include <gtest/gtest.h>

namespace quipu {
namespace {

std::string file_of(const std::string& models) {
  return "{\n\"version\": 1,\n\"updated\": \"2026-11-01\",\n\"currency\": \"USD\",\n\"models\": "
         "[\n" +
         models + "\n]}\n";
}

PriceList list_of(const std::string& models) {
  auto list = PriceList::parse(file_of(models));
  EXPECT_TRUE(list.ok()) << list.error().message();
  return list.ok() ? std::move(list).value() : PriceList();
}

TEST(Prices, AllMembers) {
  const PriceList list = list_of(
      R"({"match":"a*","provider":"p","from":"2026-03-01","note":"said by nobody",
          "inputPerMTok":3,"outputPerMTok":15.5,"cacheReadPerMTok":0.3,"cacheWritePerMTok":3.75,
          "reasoningPerMTok":0,
          "tiers":[{"aboveInputTokens":100,"inputPerMTok":6},{"aboveInputTokens":200,"outputPerMTok":1e1}]})");
  EXPECT_EQ(list.updated(), "2026-11-01");
  ASSERT_EQ(list.models().size(), 1u);
  const ModelPrice expected{
      .match = "a*",
      .provider = "p",
      .from = "2026-03-01",
      .prices = {.input = 3'000'000,
                 .output = 15'500'000,
                 .cache_read = 300'000,
                 .cache_write = 3'750'000,
                 .reasoning = 0},
      .tiers = {{.above_input_tokens = 100, .prices = {.input = 6'000'000}},
                {.above_input_tokens = 200, .prices = {.output = 10'000'000}}}};
  EXPECT_EQ(list.models().front(), expected);
}

struct Bad {
  const char* text;
  const char* says;  // in the message
};

TEST(Prices, WhatIsWrongAndWhere) {
  const Bad kBad[] = {
      {"", "line 1"},
      {"[]", "line 1"},
      {"{\n\n\"version\": }", "line 3"},
      {"{}", "line 1: there is no \"version\""},
      {R"({"version":1,"currency":"USD","models":[]})", "there is no \"updated\""},
      {R"({"version":1,"updated":"2026-11-01","models":[]})", "there is no \"currency\""},
      {R"({"version":1,"updated":"2026-11-01","currency":"USD"})", "there is no \"models\""},
      {R"({"version":1,"updated":"2026-11-31","currency":"USD","models":[]})",
       "\"updated\" is no date"},
      {R"({"version":1,"updated":20261101,"currency":"USD","models":[]})",
       "\"updated\" is no date"},
      {R"({"version":1,"updated":"2026-11-01","currency":"EUR","models":[]})",
       "\"currency\" is not"},
      {R"({"version":1,"updated":"2026-11-01","currency":"USD","models":{}})",
       "\"models\" is no array"},
      {R"({"version":1,"updated":"2026-11-01","currency":"USD","models":[],"modles":[]})",
       "\"modles\" is not known"},
      {R"({"version":1,"version":1})", "\"version\" is there twice"},
      {R"({"version":0})", "\"version\" is no version"},
      {R"({"version":1.5})", "\"version\" is no whole number"},
  };
  for (const Bad& bad : kBad) {
    const auto list = PriceList::parse(bad.text);
    ASSERT_FALSE(list.ok()) << bad.text;
    EXPECT_EQ(list.error().code(), Code::kInvalidArgument) << bad.text;
    EXPECT_NE(list.error().message().find(bad.says), std::string::npos)
        << bad.text << ": " << list.error().message();
  }
}

TEST(Prices, WhatIsWrongWithAModel) {
  const Bad kBad[] = {
      {"7", "line 6: a price is an object"},
      {R"({"inputPerMTok":1})", "line 6: there is no \"match\""},
      {R"({"match":""})", "there is no \"match\""},
      {R"({"match":7})", "\"match\" is no text"},
      {"{\"match\":\"a\",\n\"inputPerMtok\":1}", "line 7: \"inputPerMtok\" is not known"},
      {R"({"match":"a","inputPerMTok":"3"})", "\"inputPerMTok\" is no price"},
      {R"({"match":"a","inputPerMTok":-3})", "\"inputPerMTok\" is no price"},
      {R"({"match":"a","inputPerMTok":null})", "\"inputPerMTok\" is no price"},
      {R"({"match":"a","inputPerMTok":1e400})", "\"inputPerMTok\" is no price"},
      {R"({"match":"a","inputPerMTok":3000000})", "more than a dollar a token"},
      {R"({"match":"a","inputPerMTok":1,"inputPerMTok":2})", "\"inputPerMTok\" is there twice"},
      {R"({"match":"a","from":"March"})", "\"from\" is no date"},
      {R"({"match":"a","tiers":1})", "\"tiers\" is no array"},
      {R"({"match":"a","tiers":[1]})", "a tier is an object"},
      {R"({"match":"a","tiers":[{"inputPerMTok":1}]})", "there is no \"aboveInputTokens\""},
      {R"({"match":"a","tiers":[{"aboveInputTokens":-1}]})", "\"aboveInputTokens\" is no whole"},
      {R"({"match":"a","tiers":[{"aboveInputTokens":2},{"aboveInputTokens":2}]})", "lowest"},
      {"{\"match\":\"a\"},\n{\"match\":\"b\"},\n{\"match\":\"a\"}",
       "line 8: a second price for \"a\""},
  };
  for (const Bad& bad : kBad) {
    const auto list = PriceList::parse(file_of(bad.text));
    ASSERT_FALSE(list.ok()) << bad.text;
    EXPECT_EQ(list.error().code(), Code::kInvalidArgument) << bad.text;
    EXPECT_NE(list.error().message().find(bad.says), std::string::npos)
        << bad.text << ": " << list.error().message();
  }
}

TEST(Prices, ANewerVersionIsNotGuessedAt) {
  const auto list = PriceList::parse(R"({"version":2,"anything":{}})");
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code(), Code::kUnsupported);
}

TEST(Prices, Patterns) {
  struct Case {
    const char* pattern;
    const char* name;
    bool matches;
  };
  const Case kCases[] = {
      {"a", "a", true},         {"a", "ab", false},      {"a*", "a", true},
      {"a*", "abc", true},      {"a*", "ba", false},     {"*", "", true},
      {"*", "anything", true},  {"*b", "aab", true},     {"*b", "aba", false},
      {"a*b*c", "axbyc", true}, {"a*b*c", "acb", false}, {"a**", "a", true},
      {"*ab", "aaab", true},    {"*aab", "aaaab", true}, {"", "", true},
      {"", "a", false},         {"a.b", "axb", false},   {"A", "a", false},
      {"*4*", "gpt-4o", true},  {"*4*", "gpt-5", false},
  };
  for (const Case& one : kCases) {
    EXPECT_EQ(matches_pattern(one.pattern, one.name), one.matches)
        << one.pattern << " " << one.name;
  }
}

TEST(Prices, TheOneThatSaysMostAndIsNewest) {
  const PriceList list = list_of(
      R"({"match":"*","inputPerMTok":1},
         {"match":"big-*","inputPerMTok":2},
         {"match":"big-4*","inputPerMTok":3},
         {"match":"big-4*","from":"2026-03-01","inputPerMTok":4},
         {"match":"big-4*","from":"2026-06-01","inputPerMTok":5},
         {"match":"big-4*","provider":"acme","inputPerMTok":6},
         {"match":"*-4-mini","from":"2026-06-01","inputPerMTok":7})");
  struct Case {
    const char* model;
    const char* provider;
    const char* day;
    std::int64_t dollars;
  };
  const Case kCases[] = {
      {"small", "", "2026-01-01", 1},
      {"", "", "", 1},
      {"big-3", "", "2026-01-01", 2},
      {"big-4", "", "2026-01-01", 3},
      {"big-4", "", "2026-02-28", 3},
      {"big-4", "", "2026-03-01", 4},
      {"big-4o", "other", "2026-05-31", 4},
      {"big-4", "", "2026-06-01", 5},
      {"big-4", "", "2027-01-01", 5},
      {"big-4", "", "", 3},  // no day: only what always holds
      {"big-4", "acme", "2026-06-01", 6},
      {"big-4-mini", "acme", "2026-06-01", 7},
      {"big-4-mini", "acme", "2026-05-31", 6},
  };
  for (const Case& one : kCases) {
    const ModelPrice* price =
        list.find({.model = one.model, .provider = one.provider, .day = one.day});
    ASSERT_NE(price, nullptr);
    EXPECT_EQ(price->prices.input, one.dollars * 1'000'000)
        << one.model << " " << one.provider << " " << one.day;
  }
  EXPECT_EQ(list_of(R"({"match":"a"})").find({.model = "b"}), nullptr);
}

TEST(Prices, Costs) {
  const PriceList list = list_of(
      R"({"match":"full","inputPerMTok":3,"outputPerMTok":15,"cacheReadPerMTok":0.3,"cacheWritePerMTok":3.75,
          "tiers":[{"aboveInputTokens":200000,"inputPerMTok":6},{"aboveInputTokens":500000,"outputPerMTok":30}]},
         {"match":"thinks","inputPerMTok":1,"outputPerMTok":2,"reasoningPerMTok":8},
         {"match":"part","inputPerMTok":1},
         {"match":"tiny","inputPerMTok":0.000001},
         {"match":"free","inputPerMTok":0,"outputPerMTok":0})");
  struct Case {
    const char* model;
    Usage usage;
    std::optional<std::int64_t> nano_usd;
  };
  const Case kCases[] = {
      {"full", {.tokens_in = 1'000'000}, 6'000'000'000},
      {"full", {.tokens_in = 200'000}, 600'000'000},
      {"full", {.tokens_in = 200'001}, 1'200'006'000},
      {"full", {.tokens_in = 1, .tokens_out = 1, .cache_read = 1, .cache_write = 1}, 22'050},
      // What comes from the cache is taken in as well.
      {"full", {.tokens_in = 1, .cache_read = 200'000}, 60'006'000},
      {"full", {.tokens_in = 1, .tokens_out = 1, .cache_write = 500'000}, 1'875'036'000},
      {"thinks", {.tokens_out = 10, .reasoning = 4}, 44'000},
      {"thinks", {.tokens_out = 10, .reasoning = 40}, 80'000},
      {"full", {.tokens_out = 10, .reasoning = 4}, 150'000},
      {"part", {.tokens_in = 7}, 7'000},
      {"part", {.tokens_in = 7, .tokens_out = 1}, std::nullopt},
      {"part", {.tokens_in = 7, .cache_read = 1}, std::nullopt},
      {"part", {.tokens_in = 7, .tokens_out = 0}, 7'000},
      {"tiny", {.tokens_in = 499}, 0},
      {"tiny", {.tokens_in = 500}, 1},
      {"free", {.tokens_in = 5, .tokens_out = 5}, 0},
      {"full", {}, 0},
      {"full", {.tokens_in = UINT64_MAX, .tokens_out = UINT64_MAX}, 1'000'000'000'000'000'000},
  };
  for (const Case& one : kCases) {
    const ModelPrice* price = list.find({.model = one.model});
    ASSERT_NE(price, nullptr);
    EXPECT_EQ(cost_nano_usd(*price, one.usage), one.nano_usd)
        << one.model << " " << one.usage.tokens_in.value_or(0) << " "
        << one.usage.tokens_out.value_or(0);
  }
}

}  // namespace
}  // namespace quipu
