#include "search/snippet.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/json_text.h"
#include "support/scale.h"

namespace quipu::search {
namespace {

// With marks as [brackets] and cuts as dots.
std::string shown(std::string_view text, std::string_view query, std::size_t width) {
  const Snippet snippet = make_snippet(text, parse_query(query), width);
  std::string out = snippet.cut_before ? "…" : "";
  std::size_t at = 0;
  for (const auto& [begin, end] : snippet.marks) {
    out +=
        snippet.text.substr(at, begin - at) + "[" + snippet.text.substr(begin, end - begin) + "]";
    at = end;
  }
  return out + snippet.text.substr(at) + (snippet.cut_after ? "…" : "");
}

TEST(Snippet, ShortTextIsShownWhole) {
  EXPECT_EQ(shown("The pools are closed.", "pool", 100), "The [pools] are closed.");
  EXPECT_EQ(shown("  a\n\n\tpool\r\n ", "pool", 100), "a [pool]");
  EXPECT_EQ(shown("", "pool", 100), "");
  EXPECT_EQ(shown("pool", "", 100), "pool");
  EXPECT_EQ(shown("pool", "pool", 0), "…");
}

TEST(Snippet, WhatABeginningMayBecomeIsMarked) {
  EXPECT_EQ(shown("They optimized a query.", "optimiz*", 100), "They [optimized] a query.");
  EXPECT_EQ(shown("A query optimization.", "\"query optimiz\"*", 100), "A [query optimization].");
}

TEST(Snippet, CentresTheDensestGroup) {
  const std::string text =
      "pool pool pool and a lot of other words that nobody has asked for, then the connection to "
      "the "
      "pool is refused, and after that come many words again";
  EXPECT_EQ(shown(text, "pool connection refused", 60),
            "…then the [connection] to the [pool] is [refused], and after…");
  // Nothing matches: the beginning.
  EXPECT_EQ(shown(text, "nowhere", 30), "pool pool pool and a lot of…");
  // At the end all the room is used.
  EXPECT_EQ(shown(text, "again", 30), "…that come many words [again]");
}

TEST(Snippet, MarksPhrasesPrefixesNamesAndPairs) {
  EXPECT_EQ(shown("red house, house red, red\nhouse", "\"red house\"", 100),
            "[red house], house red, [red house]");
  EXPECT_EQ(shown("a b a b a c", "\"a b a c\"", 100), "a b [a b a c]");
  EXPECT_EQ(shown("beginning begins old", "begin*", 100), "[beginning] [begins] old");
  EXPECT_EQ(shown("see src/fs/fs.cc now", "src/fs/fs.cc", 100), "see [src/fs/fs.cc] now");
  EXPECT_EQ(shown("call parseQuery() now", "query", 100), "call parse[Query]() now");
  EXPECT_EQ(shown("我们的数据库索引", "数据库", 100), "我们的[数据库]索引");
  EXPECT_EQ(shown("她养了一只猫。猫很大", "猫", 100), "她养了一只[猫]。[猫]很大");
  EXPECT_EQ(shown("Ein Café", "cafe", 100), "Ein [Café]");
  EXPECT_EQ(shown("a pool", "-pool a", 100), "[a] pool");
}

TEST(Snippet, CutsBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "汉字";
  text += "目标";
  for (int i = 0; i < 50; ++i) text += "汉字";
  const Snippet snippet = make_snippet(text, parse_query("目标"), 40);
  EXPECT_TRUE(json::is_utf8(snippet.text));
  EXPECT_LE(snippet.text.size(), 40U);
  EXPECT_GE(snippet.text.size(), 34U);
  ASSERT_EQ(snippet.marks.size(), 1U);
  EXPECT_EQ(snippet.text.substr(snippet.marks[0].first, 6), "目标");
  EXPECT_TRUE(snippet.cut_before && snippet.cut_after);
}

TEST(Snippet, AWordLongerThanTheWidthIsShownFromItsBegin) {
  const std::string word(60, 'x');
  EXPECT_EQ(shown("aaa bbb " + word + " ccc", word, 20), "…[" + word.substr(0, 20) + "]…");
}

TEST(Snippet, IsALineOfUtf8ForAnyText) {
  std::mt19937 random(20262);
  static const std::string kPieces[] = {"pool ",  "数据", "\xFF",    "\x80",        "\n",
                                        "\t",     "é",    "e\u0301", "long_name/x", "\u2028",
                                        "\u3000", "\x01", "word ",   "㍿",          "\xE6\x95"};
  for (int round = 0; round < static_cast<int>(20'000 * test_scale()); ++round) {
    std::string text;
    for (unsigned n = random() % 60; n > 0; --n) text += kPieces[random() % std::size(kPieces)];
    const std::size_t width = random() % 80;
    const Snippet snippet = make_snippet(text, parse_query("pool 数据 \"word pool\" lo*"), width);
    ASSERT_TRUE(json::is_utf8(snippet.text)) << text;
    ASSERT_LE(snippet.text.size(), width * 3) << text;
    for (const char c : snippet.text) ASSERT_TRUE(static_cast<unsigned char>(c) >= ' ') << text;
    ASSERT_EQ(snippet.text.find("  "), std::string::npos) << text;
    std::size_t at = 0;
    for (const auto& [begin, end] : snippet.marks) {
      ASSERT_TRUE(begin == 0 || begin > at || (begin == at && at == 0)) << text;
      ASSERT_LT(begin, end) << text;
      ASSERT_LE(end, snippet.text.size()) << text;
      ASSERT_TRUE(json::is_utf8(snippet.text.substr(begin, end - begin))) << text;
      at = end;
    }
  }
}

}  // namespace
}  // namespace quipu::search
