#include "search/query.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "search/analyser.h"
#include "support/scale.h"

namespace quipu::search {
namespace {

constexpr std::string_view kFields[] = {"role", "tool"};

std::string written(const std::vector<Term>& terms) {
  std::string text;
  for (const Term& term : terms) {
    if (!text.empty()) text += ", ";
    for (std::size_t i = 0; i < term.tokens.size(); ++i)
      text += (i == 0 ? "" : " ") + term.tokens[i];
    if (term.is_prefix) text += "*";
  }
  return text;
}

/// any | all | none | fields
std::string parsed(std::string_view text) {
  const Query query = parse_query(text, kFields);
  std::string all = written(query.any) + "|" + written(query.all) + "|" + written(query.none) + "|";
  for (const auto& [name, value] : query.fields) all += name + "=" + value + ";";
  return all;
}

using Cases = std::vector<std::pair<std::string, std::string>>;

void check(const Cases& cases) {
  for (const auto& [text, result] : cases) EXPECT_EQ(parsed(text), result) << text;
}

TEST(Query, WordsAreAlternatives) {
  check({
      {"", "|||"},
      {"  ?! ", "|||"},
      {"connection pool", "connect, pool|||"},
      {"What did Caroline research?", "carolin, research|||"},
      {"pools pool POOL", "pool|||"},
      {"don't panic", "panic|||"},
  });
}

TEST(Query, StopWordsStayWhenNothingElseDoes) {
  check({
      {"who are you", "who, ar, you|||"},
      {"to be or not to be", "to, be, or, not|||"},
      {"the \"red house\"", "|red hous||"},
      {"the -house", "the||hous|"},
      {"+the house", "hous|the||"},
      // Stems of stop words are stems of others, too.
      {"who was mining", "mine|||"},
      {"use of the AR", "us, ar|||"},
      {"The OWNED", "own|||"},
  });
}

TEST(Query, PhrasesAndSigns) {
  check({
      {"\"connection pool\" size", "size|connect pool||"},
      {"+pool -timeout", "|pool|timeout|"},
      {"-\"connection pool\" +\"time out\"", "|time out|connect pool|"},
      {"\"to be\"", "|to be||"},
      {"\"\" \"?\"", "|||"},
      {"\"open end", "open, end|||"},
      {"5\" pipe", "5, pipe|||"},
      {"a - b + c", "b, c|||"},
      {"--verbose x", "verbos, x|||"},
      {"+don't", "|don t||"},
      {"well-known", "well, well-known, known|||"},
      {"\"one\"\"two\"", "|on, two||"},
      {"+", "|||"},
      {"-", "|||"},
      {"\"", "|||"},
      {"pool +pool -pool", "pool|pool|pool|"},
  });
}

TEST(Query, Prefixes) {
  check({
      {"begin*", "begin*|||"},
      {"+begin*", "|begin*||"},
      {"-begin*", "||begin*|"},
      {"\"two wor\"*", "|two wor*||"},
      {"src/fs/*", "src/fs*|||"},
      {"parse_q*", "parse_q*|||"},
      {"数据库*", "数据 据库*|||"},
      {"*", "|||"},
      {"*bold*", "bold|||"},
      {"a*b", "b|||"},
      {"the*", "the*|||"},
  });
}

TEST(Query, ABeginningHasTheStemsOfWhatItMayBecome) {
  const auto stems = [](std::string_view text) {
    const Query query = parse_query(text);
    return query.any.empty() ? std::vector<std::string>() : query.any[0].stems;
  };
  const std::pair<const char*, const char*> cases[] = {
      {"optimiz*", "optim"},       {"Optimizat*", "optim"},    {"connecti*", "connect"},
      {"configurat*", "configur"}, {"authentica*", "authent"}, {"availab*", "avail"},
      {"running*", "run"},         {"faile*", "fail"},         {"processe*", "process"},
      {"colourfu*", "colour"},     {"querie*", "queri"}};
  for (const auto& [text, stem] : cases) {
    const auto found = stems(text);
    EXPECT_NE(found.end(), std::find(found.begin(), found.end(), stem)) << text;
    EXPECT_LE(found.size(), 16u) << text;
  }
  for (const char* text : {"perf*", "conf*", "api*", "login*", "admin*", "form*", "connect*",
                           "src/fs/*", "数据库*", "été*", "optimiz"}) {
    EXPECT_TRUE(stems(text).empty()) << text;
  }
  check({{"optimiz*", "optimiz*|||"}, {"query*", "query*|||"}});
}

TEST(Query, NamesAreSearchedByPartsAndWhole) {
  check({
      {"parse_query", "pars, parse_query, queri|||"},
      {"parseQuery", "parsequeri, pars, queri|||"},
      {"src/fs/fs.cc", "src, src/fs/fs.cc, fs, cc|||"},
      {"+parse_query", "|pars queri||"},
      {"+parseQuery", "|parsequeri||"},
      {"2023-05-08", "2023, 2023-05-08, 05, 08|||"},
  });
}

TEST(Query, OtherFormsOfAWordCountLess) {
  const Query query = parse_query("parse_query query parseUrl url");
  EXPECT_EQ(written(query.any), "pars, parse_query, queri, parseurl, url");
  for (const Term& term : query.any) {
    EXPECT_EQ(term.weight < 1, term.tokens[0] == "parse_query") << term.tokens[0];
  }
}

TEST(Query, ScriptsWithoutSpaces) {
  check({
      {"数据库", "数据, 据库|||"},
      {"猫", "猫*|||"},
      {"+猫 -库", "|猫*|库*|"},
      {"+数据库", "|数据 据库||"},
      {"\"数据库\"", "|数据 据库||"},
      {"数据　-索引", "数据||索引|"},
      {"한국어", "한국, 국어|||"},
  });
}

TEST(Query, FieldsAreTheCallers) {
  check({
      {"role:user pool", "pool|||role=user;"},
      {"tool:\"a b\" role:x role:y", "|||tool=a b;role=x;role=y;"},
      {"colour:red", "colour, red|||"},
      {"role: user", "role, user|||"},
      {"ROLE:user", "role, user|||"},
      {"xrole:user", "xrole, user|||"},
      {"-role:user", "||role user|"},
      {"role:\"\"", "role|||"},
  });
  EXPECT_TRUE(parse_query("role:user").fields.empty());
}

TEST(Query, WhatIsBeyondTheLimitIsLeftOutAndSaid) {
  std::string text;
  for (std::size_t i = 0; i < kTermsMax; ++i) text += "w" + std::to_string(i) + " ";
  Query query = parse_query(text + " w0 the");
  EXPECT_EQ(query.any.size(), kTermsMax);
  EXPECT_FALSE(query.is_cut);
  query = parse_query(text + "one +two -three role:user", kFields);
  EXPECT_EQ(query.any.size(), kTermsMax);
  EXPECT_TRUE(query.all.empty() && query.none.empty());
  EXPECT_TRUE(query.is_cut);
  EXPECT_EQ(query.fields.size(), 1U);
  query = parse_query("\"" + text + " more\"");
  ASSERT_EQ(query.all.size(), 1U);
  EXPECT_EQ(query.all[0].tokens.size(), kTermsMax);
  EXPECT_TRUE(query.is_cut);
}

TEST(Query, TenMegabytesAreAQuery) {
  for (const std::string& piece :
       {std::string("word"), std::string("the "), std::string("a b\" +"), std::string("数据"),
        std::string("\""), std::string("-x "), std::string("*"), std::string("\xFF"),
        std::string("role:"), std::string("a."), std::string("aB"), std::string("e\u0301")}) {
    std::string text;
    while (text.size() < 10'000'000) text += piece;
    const Query query = parse_query(text, kFields);
    EXPECT_LE(query.any.size() + query.all.size() + query.none.size(), kTermsMax);
    EXPECT_TRUE(query.is_cut);
  }
}

TEST(Query, TextBeyondItsLimitIsLeftOutAndSaid) {
  const std::string spaces(kQueryBytesMax - 4, ' ');
  EXPECT_EQ(parsed(spaces + "pool"), "pool|||");
  EXPECT_FALSE(parse_query(spaces + "pool").is_cut);
  EXPECT_TRUE(parse_query(spaces + "pool word").is_cut);
  EXPECT_EQ(parsed(spaces + "库库"), "库*|||");
}

TEST(Query, AnyBytesAreAQuery) {
  std::mt19937 random(20261);
  static constexpr std::string_view kBytes = "ab \"+-*:\\()^~{}[]'&|!\n\t._/0Aé数\xFF\x80";
  for (int round = 0; round < static_cast<int>(50'000 * test_scale()); ++round) {
    std::string text;
    for (unsigned n = random() % 30; n > 0; --n) text += kBytes[random() % kBytes.size()];
    const Query query = parse_query(text, kFields);
    for (const auto* terms : {&query.any, &query.all, &query.none}) {
      for (const Term& term : *terms) {
        ASSERT_FALSE(term.tokens.empty()) << text;
        for (const std::string& token : term.tokens) {
          ASSERT_FALSE(token.empty()) << text;
          ASSERT_LE(token.size(), kTokenBytesMax) << text;
        }
      }
    }
  }
}

TEST(Query, AQuestionIsSeveralWordsAndNothingElse) {
  for (const char* question :
       {"connection pool timeout", "where does the pool close", "why is src/fs/fs.cc slow",
        "connection pool role:user timeout", "数据库 连接 超时", "数据库连接超时"}) {
    EXPECT_TRUE(parse_query(question, kFields).is_question) << question;
  }
  for (const char* words :
       {"", "pool", "connection pool", "where is the pool", "who is the", "src/fs/fs.cc",
        "parseQuery HTTPServer", "数据库", "数据库 连接", "role:user connection pool",
        "connection pool time*", "+connection pool timeout", "connection pool timeout -close",
        "\"connection pool\" timeout is", "the pool and the pools"}) {
    EXPECT_FALSE(parse_query(words, kFields).is_question) << words;
  }
}

}  // namespace
}  // namespace quipu::search
