#include "search/analyser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "support/scale.h"
#include "unit/search/tokens.h"

namespace quipu::search {
namespace {

using Cases = std::vector<std::pair<std::string, std::string>>;

void check(const Cases& cases) {
  for (const auto& [text, words] : cases) EXPECT_EQ(words_of(text), words) << text;
}

TEST(Analyser, EnglishIsFoldedAndStemmed) {
  check({
      {"", ""},
      {" \t\n.,;!?", ""},
      {"Fetched the URLs", "fetch the url"},
      {"She was running, he RAN.", "she wa run he ran"},
      {"relational databases", "relat databas"},
      {"a I", "a i"},
      {"the end.Next", "the end (end.next) next"},
  });
}

TEST(Analyser, ApostrophesSplit) {
  check({{"don't", "don t"},
         {"Caroline's", "carolin s"},
         {"Caroline’s", "carolin s"},
         {"I'll've", "i ll ve"}});
}

TEST(Analyser, NamesAreWordsAndThemselves) {
  check({
      {"parse_query", "pars (parse_query) queri"},
      {"src/fs/fs.cc", "src (src/fs/fs.cc) fs fs cc"},
      {"a.b/c-d", "a (a.b/c-d) b c d"},
      {"state-of-the-art", "state (state-of-the-art) of the art"},
      {"/usr/bin/", "usr (usr/bin) bin"},
      {"_private __init__ trailing_", "privat init trail"},
      {"std::vector", "std vector"},
      {"foo->bar", "foo bar"},
      {"x--y a__b", "x y a b"},
      {"e.g. U.S.", "e (e.g) g u (u.s) s"},
      {"joe@example.com", "joe exampl (example.com) com"},
  });
}

TEST(Analyser, HumpsStandAtTheirWord) {
  check({
      {"parseQuery", "parsequeri (pars) (queri)"},
      {"ParseQuery", "parsequeri (pars) (queri)"},
      {"HTTPServer", "httpserver (http) (server)"},
      {"getHTTPResponseCode", "gethttpresponsecod (get) (http) (respons) (code)"},
      {"GitHub", "github (git) (hub)"},
      {"github GITHUB Github", "github github github"},
      {"URLs IDs TVs", "url id tv"},
      {"URLsFound", "urlsfound (url) (found)"},
      {"utf8Text", "utf8text (utf8) (text)"},
      {"Base64Encoder", "base64encoder (base64) (encod)"},
      {"iPhone getX", "iphon (phone) getx (get)"},
      {"3FA9C0DE", "3fa9c0de"},
      {"src/parseQuery.cc", "src (src/parsequery.cc) parsequeri (pars) (queri) cc"},
      {"ИмяФайла", "имяфаила (имя) (фаила)"},
      {"ＨｅｌｌｏＷｏｒｌｄ", "helloworld (hello) (world)"},
  });
}

TEST(Analyser, NumbersAndDatesAreKept) {
  check({
      {"2023-05-08", "2023 (2023-05-08) 05 08"},
      {"3.14", "3 (3.14) 14"},
      {"v1.2.3", "v1 (v1.2.3) 2 3"},
      {"at 10:30, 42nd", "at 10 30 42nd"},
      {"sha256 0x1F", "sha256 0x1f"},
  });
}

TEST(Analyser, ChineseJapaneseKoreanAreOverlappingPairs) {
  check({
      {"数据库", "数据 据库 (库)"},
      {"猫", "猫"},
      {"数据。索引", "数据 (据) 索引 (引)"},
      {"第3章", "第 3 章"},
      {"使用SQLite数据库", "使用 (用) sqlite (sq) (lite) 数据 据库 (库)"},
      {"東京タワー", "東京 京タ タワ ワー (ー)"},
      {"한국어 검색", "한국 국어 (어) 검색 (색)"},
      {"カタカナ・ひらがな", "カタ タカ カナ (ナ) ひら らが がな (な)"},
      {"𠮷野家", "𠮷野 野家 (家)"},
      {"ภาษาไทย", "ภา าษ ษา าไ ไท ทย (ย)"},
  });
}

TEST(Analyser, CompatibilityFormsCaseAndDiacriticsAreFolded) {
  check({
      {"Café CAFÉ cafe\u0301", "cafe cafe cafe"},
      {"Ａｐｉ ＡＰＩ", "api api"},
      {"ｓｒｃ／ｆｓ．ｃｃ", "src (src/fs.cc) fs cc"},
      {"ﬁle straße", "file strass"},
      {"İstanbul ŁÓDŹ", "istanbul łodz"},
      {"Ёлка", "елка"},
      {"ｶﾞｷﾞ", "ガギ (ギ)"},
      {"か\u3099き", "がき (き)"},
      {"\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국 (국)"},
      {"㍿", "株式 式会 会社 (社)"},
      {"x² ½ №5", "x2 1 2 no5"},
      {"co\u00adoperate zero\u200dwidth", "cooper zerowidth"},
      {"שָׁלוֹם", "שלום"},
      {"हिन्दी", "हिन्दी"},
      {"naïve𝐁𝐨𝐥𝐝", "naivebold (naiv) (bold)"},
  });
}

TEST(Analyser, EmojiAndBrokenBytesSeparate) {
  check({
      {"hello🎉world 👩‍👩‍👧 ❤️", "hello world"},
      {"a\xFF"
       "b",
       "a b"},
      {"abc\xE6\x95", "abc"},
      {"\xC0\x80\xED\xA0\x80\xF4\x90\x80\x80", ""},
      {std::string("x\0y", 3), "x y"},
      {"\u0301\u0301", ""},
  });
}

TEST(Analyser, LongWordsAreCutBetweenCharacters) {
  const std::string a(100, 'a');
  EXPECT_EQ(words_of(a), a.substr(0, kTokenBytesMax));
  EXPECT_EQ(words_of(a.substr(0, kTokenBytesMax)), a.substr(0, kTokenBytesMax));
  std::string cyrillic;
  while (cyrillic.size() < 200) cyrillic += "ж";
  EXPECT_EQ(words_of("x" + cyrillic), "x" + cyrillic.substr(0, 62));
  // A name: its words whole, itself cut.
  const std::string name = std::string(40, 'b') + "_" + std::string(40, 'c');
  EXPECT_EQ(words_of(name), std::string(40, 'b') + " (" + name.substr(0, kTokenBytesMax) + ") " +
                                std::string(40, 'c'));
  // The cut word ends in the source where the cut is.
  const auto tokens = tokens_of(" " + a + " b");
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[0].begin, 1U);
  EXPECT_EQ(tokens[0].end, 1 + kTokenBytesMax);
  EXPECT_EQ(tokens[1].begin, 102U);
}

std::string base64(std::size_t bytes, std::mt19937& random) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  while (text.size() < bytes) text += kLetters[random() % kLetters.size()];
  return text;
}

TEST(Analyser, BlobsAreOneWord) {
  std::mt19937 random(7);
  const std::string blob = base64(100'000, random);
  const auto tokens = tokens_of("data:image/png;base64," + blob + "== and then");
  ASSERT_EQ(tokens.size(), 8U) << "data, image, image/png, png, base64, the blob, and, then";
  EXPECT_EQ(tokens[5].text.size(), kTokenBytesMax);
  EXPECT_EQ(tokens[7].text, "then");
  // A long path is none.
  std::string path = "src";
  while (path.size() < 1000) path += "/folder/some-name";
  EXPECT_GT(tokens_of(path).size(), 100U);
}

TEST(Analyser, ManyPartsAreBounded) {
  std::string name = "a";
  for (int i = 0; i < 1000; ++i) name += ".a";
  const auto tokens = tokens_of(name);
  std::size_t places = 0;
  for (const auto& token : tokens) places += token.same_place ? 0 : 1;
  EXPECT_EQ(places, 1001U);
  EXPECT_LT(tokens.size(), 1001U + 40U);
}

TEST(Analyser, StopsWhenTheSinkHasEnough) {
  struct Three : TokenSink {
    bool take(const Token&) override { return ++count < 3; }
    int count = 0;
  };
  for (const std::string_view text :
       {"a b c d e f", "数据库数据库数据库", "a_b_c_d_e", "aB cDeFgHiJkLm"}) {
    Three sink;
    analyse(text, sink);
    EXPECT_EQ(sink.count, 3) << text;
  }
}

// Pieces of everything, glued together.
std::string any_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"word",
                                                   "Word",
                                                   "parseQuery",
                                                   "HTTP",
                                                   "_",
                                                   "-",
                                                   ".",
                                                   "/",
                                                   " ",
                                                   "\n",
                                                   "'",
                                                   "数",
                                                   "据",
                                                   "库",
                                                   "か",
                                                   "\u3099",
                                                   "ｶ",
                                                   "ﾞ",
                                                   "한",
                                                   "\u1112",
                                                   "\u1161",
                                                   "é",
                                                   "e\u0301",
                                                   "\u0301",
                                                   "ß",
                                                   "İ",
                                                   "㍿",
                                                   "½",
                                                   "🎉",
                                                   "\u200d",
                                                   "\xFF",
                                                   "\xE6",
                                                   "\x80",
                                                   "12",
                                                   "+",
                                                   "=",
                                                   "ﷺ",
                                                   "ภ",
                                                   std::string(1, '\0'),
                                                   std::string(70, 'q'),
                                                   "URLs",
                                                   "ǅ",
                                                   "\U0001F1E6"};
  std::string text;
  for (unsigned n = random() % 40; n > 0; --n) text += kPieces[random() % kPieces.size()];
  return text;
}

TEST(Analyser, PropertiesHoldForAnyText) {
  const unsigned seed = 20260;
  std::mt19937 random(seed);
  const int rounds = static_cast<int>(20'000 * test_scale());
  for (int round = 0; round < rounds; ++round) {
    const std::string text = any_text(random);
    std::size_t begin = 0;
    bool is_first = true;
    for (const OwnedToken& token : tokens_of(text)) {
      ASSERT_GE(token.begin, begin) << text;
      ASSERT_LT(token.begin, token.end) << text;
      ASSERT_LE(token.end, text.size()) << text;
      ASSERT_FALSE(token.text.empty()) << text;
      ASSERT_LE(token.text.size(), kTokenBytesMax) << text;
      ASSERT_TRUE(json::is_utf8(token.text)) << text;
      ASSERT_FALSE(is_first && token.same_place) << text;
      is_first = false;
      begin = token.begin;
    }
    // Words do not reach over a space.
    ASSERT_EQ(words_of(text + " \n" + text),
              words_of(text) + (words_of(text).empty() ? "" : " ") + words_of(text))
        << text;
  }
}

TEST(Analyser, StopWordsAreKnownAsTheyAreWritten) {
  for (const std::string_view text :
       {"the", "The", "was", "THIS", "does", "very", "because", "s", "t", "a", "ain"}) {
    EXPECT_TRUE(is_stop_word(text)) << text;
  }
  for (const std::string_view text : {"", "theory", "will", "quipu", "猫", "5", "mining", "owned",
                                      "use", "used", "AR", "hi", "ha", "a an"}) {
    EXPECT_FALSE(is_stop_word(text)) << text;
  }
}

}  // namespace
}  // namespace quipu::search
