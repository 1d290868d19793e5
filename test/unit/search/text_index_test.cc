// Text indexes: the same documents and questions on SQLite and PostgreSQL.
#include "search/text_index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/clock.h"
#include "search/index_database.h"
#include "sql/postgres_engine.h"
#include "support/postgres_server.h"

namespace quipu::search {
namespace {

const IndexTables kTables{.name = "words", .version = "1", .text_indexes = {"words_text"}};

std::vector<Term> words(std::initializer_list<const char*> texts) {
  std::vector<Term> terms;
  for (const char* text : texts) terms.push_back({.tokens = {text}});
  return terms;
}

enum class Kind { kSqlite, kPostgres };

class TextIndexTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::kSqlite) {
      database_ = std::make_unique<IndexDatabase>(Clock::system());
    } else {
      static int number = 0;
      const std::string url =
          test::PostgresServer::shared().make_database("words" + std::to_string(number++));
      const auto open = [url] { return sql::open_postgres(url, {.schema = "public"}); };
      database_ = std::make_unique<IndexDatabase>(
          std::make_shared<sql::Pool>(open, Clock::system(), std::chrono::seconds(5)));
    }
    index_ = database_->text_index("words_text");
    const auto made = database_->prepare(kTables);
    ASSERT_TRUE(made.ok()) << made.error().message();
    EXPECT_TRUE(*made);
  }

  void commit(const Writes& writes) {
    const auto engine = database_->lease();
    ASSERT_TRUE(engine.ok());
    const auto done = (*engine)->commit(writes.commands, sql::Sync::kLater);
    ASSERT_TRUE(done.ok()) << done.error().message();
  }
  void add(std::vector<Document> documents) {
    Writes writes;
    index_->add(documents, writes);
    commit(writes);
  }
  std::vector<Match> match(const Query& query, const MatchOptions& options = {}) {
    const auto engine = database_->lease();
    EXPECT_TRUE(engine.ok());
    auto found = index_->match(**engine, query, options);
    EXPECT_TRUE(found.ok()) << found.error().message();
    return found.ok() ? *found : std::vector<Match>();
  }
  std::vector<std::int64_t> keys(const Query& query, const MatchOptions& options = {}) {
    std::vector<std::int64_t> keys;
    for (const Match& found : match(query, options)) keys.push_back(found.key);
    return keys;
  }

  std::unique_ptr<IndexDatabase> database_;
  std::unique_ptr<TextIndex> index_;
};

using Keys = std::vector<std::int64_t>;

TEST_P(TextIndexTest, FindsWhatHasAnyOfTheWordsRarestFirst) {
  add({{.key = 1, .text = "red apple"},
       {.key = 2, .text = "green apple"},
       {.key = 3, .text = "green pear"},
       {.key = 4, .text = "yellow apple"},
       {.key = 5, .text = "nothing here"},
       {.key = 6, .text = "or there"}});
  EXPECT_EQ(keys({.any = words({"red", "appl", "apple"})}), (Keys{1, 4, 2}));
  EXPECT_EQ(keys({.any = words({"pear"})}), Keys{3});
  EXPECT_EQ(keys({.any = words({"absent"})}), Keys{});
  EXPECT_EQ(keys({}), Keys{});
}

TEST_P(TextIndexTest, PhrasesBeginningsAndRefusals) {
  add({{.key = 1, .text = "alpha beta gamma"},
       {.key = 2, .text = "beta alpha gamma"},
       {.key = 3, .text = "alphabet soup"}});
  EXPECT_EQ(keys({.all = {{.tokens = {"alpha", "beta"}}}}), Keys{1});
  EXPECT_EQ(keys({.any = {{.tokens = {"alpha"}, .is_prefix = true}}}).size(), 3u);
  EXPECT_EQ(keys({.any = {{.tokens = {"beta", "alph"}, .is_prefix = true}}}), Keys{2});
  EXPECT_EQ(keys({.any = words({"gamma"}), .none = {{.tokens = {"alpha", "beta"}}}}), Keys{2});
  EXPECT_EQ(keys({.any = words({"soup"}), .all = words({"gamma"})}), (Keys{2, 1}));
  // Not across the end of the text.
  add({{.key = 4, .text = "one", .context = "two"}});
  EXPECT_EQ(keys({.all = {{.tokens = {"one", "two"}}}}), Keys{});
}

TEST_P(TextIndexTest, ABeginningIsFoundInWordsWhoseStemIsShorter) {
  add({{.key = 1, .text = "they optimize it"},
       {.key = 2, .text = "optimization, optimizing"},
       {.key = 3, .text = "query optimizers"},
       {.key = 4, .text = "an optimist"},
       {.key = 5, .text = "nothing"},
       {.key = 6, .text = "of note"},
       {.key = 7, .text = "in these"}});
  EXPECT_EQ(keys(parse_query("optimiz*")), (Keys{2, 3, 1}));
  EXPECT_EQ(keys(parse_query("+optimizat*")), (Keys{2, 3, 1}));
  EXPECT_EQ(keys(parse_query("\"query optimiz\"*")), Keys{3});
  EXPECT_EQ(keys(parse_query("they query -optimiz*")), Keys{});
}

TEST_P(TextIndexTest, TheContextCountsLess) {
  add({{.key = 1, .text = "kestrel", .context = "sparrow"},
       {.key = 2, .text = "sparrow", .context = "kestrel"},
       {.key = 3, .text = "wren", .context = "robin"},
       {.key = 4, .text = "wren", .context = "robin"},
       {.key = 5, .text = "wren", .context = "robin"}});
  EXPECT_EQ(keys({.any = words({"kestrel"})}), (Keys{1, 2}));
  EXPECT_EQ(keys({.any = words({"sparrow"})}), (Keys{2, 1}));
  EXPECT_EQ(keys({.any = words({"kestrel"})}, {.context_weight = 0}).front(), 1);
}

TEST_P(TextIndexTest, TermsCountByTheirWeight) {
  add({{.key = 1, .text = "kestrel"},
       {.key = 2, .text = "sparrow"},
       {.key = 3, .text = "wren"},
       {.key = 4, .text = "wren"},
       {.key = 5, .text = "wren"}});
  Query query{.any = words({"kestrel", "sparrow"})};
  EXPECT_EQ(keys(query), (Keys{2, 1}));
  query.any[1].weight = 0.5;
  const auto found = match(query);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].key, 1);
  EXPECT_NEAR(found[1].score, found[0].score / 2, 1e-9);
}

TEST_P(TextIndexTest, TagsNarrowAndAreNoWords) {
  add({{.key = 1, .text = "storm", .tags = {"agent=a", "kind=long"}},
       {.key = 2, .text = "storm", .tags = {"agent=b", "kind=short"}},
       {.key = 3, .text = "storm agent=a", .tags = {"agent=a b"}},
       {.key = 4, .text = "calm", .tags = {"agent=a", std::string(1000, 'x')}}});
  const Query storm{.any = words({"storm"})};
  EXPECT_EQ(keys(storm, {.tags = {"agent=a"}}), Keys{1});
  EXPECT_EQ(keys(storm, {.tags = {"agent=a b"}}), Keys{3});
  EXPECT_EQ(keys(storm, {.any_tags = {{"agent=a", "agent=b"}, {"kind=short"}}}), Keys{2});
  EXPECT_EQ(keys(storm, {.tags = {"agent=none"}}), Keys{});
  EXPECT_EQ(keys({.any = words({"kind=long"})}), Keys{});
  EXPECT_EQ(keys({.any = words({"calm"})}, {.tags = {std::string(1000, 'x')}}), Keys{4});
  EXPECT_EQ(keys({.any = words({"calm"})}, {.tags = {std::string(999, 'x')}}), Keys{});
  add({{.key = 5, .text = "storm", .tags = {"agent=\xff"}}});
  EXPECT_EQ(keys(storm, {.tags = {"agent=\xff"}}), Keys{5});
  EXPECT_EQ(keys(storm, {.tags = {"agent=\xfe"}}), Keys{});
}

TEST_P(TextIndexTest, HowRareAWordIsIsCountedWhereOneSearches) {
  std::vector<Document> documents;
  // `river` is rare among all and common in scope `s`; `hill` the other way round.
  for (int i = 0; i < 20; ++i) {
    documents.push_back({.key = i, .text = i == 0 ? "river hill" : "river", .tags = {"s"}});
  }
  for (int i = 20; i < 300; ++i) documents.push_back({.key = i, .text = "hill", .tags = {"t"}});
  add(documents);
  const Query both{.any = words({"river", "hill"})};
  EXPECT_EQ(keys(both, {.tags = {"s"}}).front(), 0);
  const double in_scope = match(both, {.tags = {"s"}}).front().score;
  EXPECT_NEAR(in_scope, std::log(19.5 / 1.5), 0.7);
}

TEST_P(TextIndexTest, WhatIsTakenOutIsGone) {
  const Document first{.key = 7, .text = "secret plan", .context = "of ours", .tags = {"x"}};
  add({first, {.key = 8, .text = "plan"}});
  Writes writes;
  index_->remove({&first, 1}, writes);
  commit(writes);
  EXPECT_EQ(keys({.any = words({"secret", "plan", "ours"})}), Keys{8});
  Writes all;
  index_->clear(all);
  index_->purge(all);
  commit(all);
  EXPECT_EQ(keys({.any = words({"plan"})}), Keys{});
  add({first});
  EXPECT_EQ(keys({.any = words({"secret"})}), Keys{7});
}

TEST_P(TextIndexTest, AFilterIsAskedAndOthersTakeThePlaces) {
  std::vector<Document> documents;
  for (int i = 0; i < 50; ++i) documents.push_back({.key = i, .text = "rain"});
  add(documents);
  const MatchOptions even{.filter = [](std::int64_t key) { return key % 2 == 0; }, .limit = 3};
  EXPECT_EQ(keys({.any = words({"rain"})}, even), (Keys{48, 46, 44}));
}

TEST_P(TextIndexTest, WhatAFilterRefusesDoesNotHideWhatIsOlder) {
  std::vector<Document> documents;
  for (int i = 0; i < kCounted + 2000; ++i) documents.push_back({.key = i, .text = "rain"});
  add(documents);
  const MatchOptions old{.filter = [](std::int64_t key) { return key < 1000; }, .limit = 3};
  EXPECT_EQ(keys({.any = words({"rain"})}, old), (Keys{999, 998, 997}));
  EXPECT_EQ(keys({.all = words({"rain"})}, old), (Keys{999, 998, 997}));
}

TEST_P(TextIndexTest, TheBestOfVeryManyIsFirstHoweverOldItIs) {
  const std::string texts[] = {"rain falls on the hill", "rain rain", "wind"};
  std::vector<Document> documents;
  for (int i = 0; i < 6000; ++i) {
    documents.push_back({.key = i, .text = texts[i % 3 == 0 ? 0 : 2]});
  }
  documents[30].text = texts[1];
  documents[31].context = texts[1];
  documents[32].text = "rain now rain and then rain again or some rain";
  add(documents);
  const auto found = keys({.any = words({"rain"})}, {.limit = 100});
  ASSERT_EQ(found.size(), 100u);
  EXPECT_EQ(Keys(found.begin(), found.begin() + 4), (Keys{30, 32, 31, 5997}));
}

TEST_P(TextIndexTest, OfVeryManyTheWeightOfTheirTermsDecides) {
  std::vector<Document> documents;
  for (int i = 0; i < 6000; ++i) {
    documents.push_back({.key = i, .text = i < 1000 ? "kestrel" : i >= 5100 ? "sparrow" : "wren"});
  }
  add(documents);
  Query query{.any = words({"kestrel", "sparrow"})};
  EXPECT_EQ(keys(query).front(), 5999);
  query.any[1].weight = 0.25;
  EXPECT_EQ(keys(query).front(), 999);
}

TEST_P(TextIndexTest, CommonWordsAddToTheScoreOfRareOnes) {
  std::vector<Document> documents;
  for (int i = 0; i < kCounted + 2000; ++i) {
    documents.push_back({.key = i, .text = i % 1000 == 7 ? "common rare" : "common word"});
  }
  documents[7].text = "rare alone";
  add(documents);
  const auto found = keys({.any = words({"common", "rare"})}, {.limit = 100});
  EXPECT_EQ(found.size(), static_cast<std::size_t>(kCounted + 2000) / 1000);
  EXPECT_EQ(found.front(), kCounted + 1007);
  EXPECT_EQ(found.back(), 7);
  // Alone it finds the newest, with others like it those that have both.
  EXPECT_EQ(keys({.any = words({"common"})}, {.limit = 2}),
            (Keys{kCounted + 1999, kCounted + 1998}));
  EXPECT_EQ(keys({.any = words({"common", "word"})}, {.limit = 1}), Keys{kCounted + 1999});
}

// PostgreSQL ranks by bytes of our own, which it gives at once or later, by how many there are.
TEST_P(TextIndexTest, LongDocumentsCountLikeShortOnes) {
  std::string filling;
  for (int i = 0; i < 2000; ++i) filling += " filling" + std::to_string(i);
  std::string more;  // where words are is not kept of so many
  for (int i = 0; i < 9000; ++i) more += " more" + std::to_string(i);
  const std::string long_one = "heron pond" + filling;
  const std::string better = "heron heron heron pond pond" + filling;
  const std::string best = "heron heron heron heron heron pond pond pond" + filling;
  const std::string longest = "heron pond" + more + filling;
  add({{.key = 1, .text = best},
       {.key = 2, .text = "a heron at the pond"},
       {.key = 3, .text = long_one},
       {.key = 4, .text = longest},
       {.key = 5, .text = better},
       {.key = 6, .text = "wren"}});
  EXPECT_EQ(keys({.any = words({"heron", "pond"})}), (Keys{1, 2, 5, 3, 4}));
  EXPECT_EQ(keys({.any = {{.tokens = {"heron", "pond"}}}}).front(), 3);
  const MatchOptions odd{.filter = [](std::int64_t key) { return key % 2 == 1; }};
  EXPECT_EQ(keys({.any = words({"heron", "pond"})}, odd), (Keys{1, 5, 3}));
  if (GetParam() == Kind::kSqlite) return;
  // As many of the long ones as may be read, the newest, and all others.
  EXPECT_EQ(keys({.any = words({"heron"})}, {.read_bytes_max = 100}), (Keys{2}));
  EXPECT_EQ(keys({.any = words({"heron"})}, {.read_bytes_max = 50'000}), (Keys{2, 5}));
}

TEST_P(TextIndexTest, AnyBytesAreADocumentAndATerm) {
  std::mt19937 random(4711);
  std::vector<std::string> texts;
  std::vector<Document> documents;
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int k = 0; k < 40; ++k) text += static_cast<char>(random() % 256);
    texts.push_back(text);
  }
  for (int i = 0; i < 200; ++i) {
    documents.push_back(
        {.key = i, .text = texts[static_cast<std::size_t>(i)], .tags = {"it's \\"}});
  }
  add(documents);
  for (const char* token : {"'", "\"", "\\", "(", "*", "a'b", "NOT", "\" OR \"", ":", "{text}"}) {
    keys({.any = words({token})}, {.tags = {token}});
  }
  EXPECT_EQ(database_->prepare(kTables).value(), false);
}

INSTANTIATE_TEST_SUITE_P(Engines, TextIndexTest, testing::Values(Kind::kSqlite, Kind::kPostgres),
                         [](const auto& engine) {
                           return engine.param == Kind::kSqlite ? "Sqlite" : "Postgres";
                         });

}  // namespace
}  // namespace quipu::search
