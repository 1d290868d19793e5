// The index of the sessions, on every engine: whoever makes it, drops it or damages it, it is
// what the logs say.
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "contract/search_fixture.h"
#include "support/wrapped_backend.h"
#include "view/session_index.h"

namespace quipu::test {
namespace {

/// Lets something happen once, between what an index knows of itself and what it commits.
class WatchedBackend : public WrappedBackend {
 public:
  using WrappedBackend::WrappedBackend;
  Result<std::vector<SurveyedLog>> survey() override {
    if (const auto work = std::exchange(at_survey, nullptr)) {
      if (const auto done = work(); !done.ok()) return Error(done.error());
    }
    auto logs = WrappedBackend::survey();
    if (const auto work = std::exchange(after_survey, nullptr)) work(*logs);
    return logs;
  }

  std::function<Result<void>()> at_survey;
  std::function<void(std::vector<SurveyedLog>& logs)> after_survey;
};

class SearchIndex : public SearchContract {};

TEST_P(SearchIndex, ManyEntriesOfOneSession) {
  make("s");
  for (int part = 0; part < 5; ++part) {
    std::vector<NewEntry> entries;
    for (int i = 0; i < 2000; ++i) {
      const int number = part * 2000 + i;
      entries.push_back(
          message("e" + std::to_string(number), "user", "number n" + std::to_string(number) + "n"));
    }
    append("s", entries);
    if (part % 2 == 0) {
      EXPECT_EQ((Places{"s/e1"}), find("n1n"));
    }
  }
  for (const int number : {0, 4094, 4095, 4096, 8191, 8192, 9999}) {
    const std::string text = std::to_string(number);
    EXPECT_EQ((Places{"s/e" + text}), find("n" + text + "n"));
  }
  append("s", {fact("redaction", R"({"targetEntryId":"e8192"})")});
  EXPECT_EQ((Places{}), find("n8192n"));
  EXPECT_EQ((Places{"s/e8191"}), find("n8191n"));
}

std::vector<std::string> ranking(SessionSearch& search, const std::string& query) {
  std::vector<std::string> ranked;
  const auto found = search.search(query, kEverywhere, {.after = {}, .limit = 1000});
  if (!found.ok()) return {found.error().message()};
  for (const SearchHit& hit : found->items) {
    char score[32];
    std::snprintf(score, sizeof score, "%.9g", hit.score);
    ranked.push_back(hit.session_id + "/" + hit.entry_id + " " + score + " " + hit.snippet);
  }
  std::sort(ranked.begin(), ranked.end());  // equals are in the order of their keys
  return ranked;
}

TEST_P(SearchIndex, MadeAnewItAnswersTheSame) {
  // Sessions of other tests, which are gone, count among the documents.
  ASSERT_TRUE(search_.rebuild().ok());
  std::mt19937 random(5);
  std::vector<std::string> ids;
  for (int step = 0; step < 60; ++step) {
    const std::string session = "s" + std::to_string(random() % 6);
    if (std::find(ids.begin(), ids.end(), session) == ids.end()) {
      make(session);
      ids.push_back(session);
    }
    std::vector<NewEntry> entries;
    for (int i = 0; i < 4; ++i) {
      std::string text;
      for (int n = 0; n < 6; ++n) text += "w" + std::to_string(random() % 30) + " ";
      entries.push_back(message(std::to_string(step) + "-" + std::to_string(i), "user", text));
    }
    append(session, entries);
    if (step % 7 == 0) {
      append(session,
             {fact("redaction", R"({"targetEntryId":")" + std::to_string(step) + R"(-2"})")});
    }
    if (step % 5 == 0) find("w1");
  }
  std::map<std::string, std::vector<std::string>> before;
  for (const char* query : {"w1", "w2 w3", "\"w4 w5\"", "+w6 -w7", "w1*"}) {
    before[query] = ranking(search_, query);
    EXPECT_FALSE(before[query].empty()) << query;
  }
  Store other = open();
  SessionSearch second(other);
  const auto report = search_.rebuild();
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(240u - 9u, report->entries);
  for (const auto& [query, answer] : before) {
    EXPECT_EQ(answer, ranking(search_, query)) << query;
    if (GetParam() == Engine::kMemory) continue;
    EXPECT_EQ(answer, ranking(second, query)) << query;
  }
}

TEST_P(SearchIndex, SeveralMayIndexAtOnce) {
  if (GetParam() == Engine::kMemory) return;  // one store, one process
  constexpr int kSessions = 20;
  for (int i = 0; i < kSessions; ++i) {
    const std::string id = "s" + std::to_string(i);
    make(id);
    append(id, {message("a", "user", "inti rises"), message("b", "user", "inti sets")});
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Store store = open();
      SessionSearch search(store);
      for (int n = 0; n < 3; ++n) {
        const auto found = search.search("inti", kEverywhere, {.after = {}, .limit = 1000});
        ASSERT_TRUE(found.ok()) << found.error().message();
        EXPECT_EQ(2u * kSessions, found->items.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(2u * kSessions, find("inti").size());
}

// Between its tables being made and its first commit an index is new to whoever knows the old one.
TEST_P(SearchIndex, MadeAnewWhileAnotherIndexesItIsWhole) {
  if (GetParam() == Engine::kMemory) return;
  for (const char* id : {"s", "t"}) {
    make(id);
    append(id, {message("a", "user", "chasqui")});
  }
  Store others = open();
  const auto watched = std::make_shared<WatchedBackend>(store_.backend());
  view::SessionIndex index(watched, store_.indexes());
  ASSERT_TRUE(index.refresh().ok());
  append("s", {message("b", "user", "chasqui")});
  watched->at_survey = [&]() -> Result<void> {
    const auto stopping = std::make_shared<WatchedBackend>(others.backend());
    stopping->at_survey = []() -> Result<void> { return Error(Code::kStorageGone, "stop here"); };
    EXPECT_FALSE(view::SessionIndex(stopping, others.indexes()).rebuild().ok());
    return {};
  };
  const auto report = index.refresh();
  ASSERT_TRUE(report.ok()) << report.error().message();
  {
    const auto engine = store_.indexes()->lease();
    ASSERT_TRUE(engine.ok());
    const auto state = view::read_state(**engine);
    ASSERT_TRUE(state.ok()) << state.error().message();
    EXPECT_EQ(2u, state->logs.size());
  }
  EXPECT_EQ((Places{"s/a", "s/b", "t/a"}), find("chasqui"));
}

/// Tables of somebody else beside those of the search.
const search::IndexTables kNeighbour{.name = "neighbour",
                                     .version = "1",
                                     .create = {"CREATE TABLE @neighbour (id BIGINT PRIMARY KEY)"},
                                     .drop = {"DROP TABLE IF EXISTS @neighbour"}};

TEST_P(SearchIndex, WhatIsAppendedBetweenLookingAndReadingIsIndexedOnce) {
  make("s");
  append("s", {message("a", "user", "chasqui")});
  const auto watched = std::make_shared<WatchedBackend>(store_.backend());
  view::SessionIndex index(watched, store_.indexes());
  ASSERT_TRUE(index.refresh().ok());
  append("s", {message("b", "user", "chasqui")});
  watched->after_survey = [&](std::vector<SurveyedLog>& logs) {
    append("s", {message("c", "user", "chasqui")});
    // Clocks of file systems are too coarse for a test that does not sleep.
    for (SurveyedLog& log : logs) log.modified_ms -= 1000;
  };
  EXPECT_EQ(2u, index.refresh().value().entries);
  EXPECT_EQ(0u, index.refresh().value().entries);
  EXPECT_EQ((Places{"s/a", "s/b", "s/c"}), find("chasqui"));
}

TEST_P(SearchIndex, OthersThatCommitAllTheTimeDoNotKeepAnAnswerWaiting) {
  if (GetParam() == Engine::kMemory) return;
  make("s");
  append("s", {message("a", "user", "chasqui")});
  ASSERT_TRUE(search_.refresh().ok());
  Store others = open();
  SessionSearch indexing(others);
  int commits = 0;
  view::Narrowing where;
  where.admits = [&](const std::string&, Ordinal, bool) {
    if (commits++ < 10) {
      append(others, "s", {message("b" + std::to_string(commits), "user", "puma")});
      EXPECT_TRUE(indexing.refresh().ok());
    }
    return true;
  };
  view::SessionIndex index(store_.backend(), store_.indexes());
  const auto found = index.match(search::parse_query("chasqui"), where);
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(1u, found->size());
  EXPECT_EQ(1, commits) << "it was asked again";
}

TEST_P(SearchIndex, TablesThatAreGoneForAMomentAreMadeAndNothingElseIsLost) {
  if (GetParam() == Engine::kMemory) return;
  make("s");
  append("s", {message("a", "user", "chasqui")});
  Store others = open();
  const auto watched = std::make_shared<WatchedBackend>(store_.backend());
  view::SessionIndex index(watched, store_.indexes());
  ASSERT_TRUE(store_.indexes()->prepare(kNeighbour).ok());
  ASSERT_TRUE(index.refresh().ok());
  append("s", {message("b", "user", "chasqui")});
  watched->at_survey = [&] { return others.indexes()->drop(view::search_tables()); };
  const auto report = index.refresh();
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ((Places{"s/a", "s/b"}), find("chasqui"));
  ASSERT_TRUE(others.indexes()->drop(view::search_tables()).ok());
  SearchOptions as_it_is = kEverywhere;
  as_it_is.refresh = false;
  EXPECT_EQ((Places{"s/a", "s/b"}), find("chasqui", as_it_is));
  EXPECT_FALSE(store_.indexes()->prepare(kNeighbour).value()) << "they were made again";
}

TEST_P(SearchIndex, AnErrorOfTheStoreIsNoDamageOfTheIndex) {
  make("s");
  append("s", {message("a", "user", "chasqui")});
  const auto watched = std::make_shared<WatchedBackend>(store_.backend());
  view::SessionIndex index(watched, store_.indexes());
  ASSERT_TRUE(store_.indexes()->prepare(kNeighbour).ok());
  ASSERT_TRUE(index.refresh().ok());
  for (const Code code : {Code::kCorrupt, Code::kInvalidArgument}) {
    watched->at_survey = [&]() -> Result<void> { return Error(code, "of the store"); };
    const auto refused = index.refresh();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(code, refused.error().code());
  }
  EXPECT_EQ(0u, index.refresh().value().entries);
  EXPECT_FALSE(store_.indexes()->prepare(kNeighbour).value()) << "they were made again";
}

TEST_P(SearchIndex, ADamagedIndexIsMadeAnew) {
  make("s");
  append("s", {message("a", "user", "pututu")});
  EXPECT_EQ((Places{"s/a"}), find("pututu"));
  {
    const auto engine = store_.indexes()->lease();
    ASSERT_TRUE(engine.ok());
    const sql::Command damage{.text = "UPDATE @search_state SET logs = logs + 1"};
    ASSERT_TRUE((*engine)->commit({&damage, 1}).ok());
  }
  EXPECT_EQ((Places{"s/a"}), find("pututu"));
}

TEST_P(SearchIndex, TheFollowerLeavesLittleToDo) {
  make("s");
  append("s", {message("a", "user", "apu")});
  std::uint64_t added = 0;
  {
    const SearchFollower follower(search_, std::chrono::milliseconds(1));
    for (int i = 0; i < 20; ++i) {
      append("s", {message("e" + std::to_string(i), "user", "apu " + std::to_string(i))});
      EXPECT_EQ(static_cast<std::size_t>(i) + 2, find("apu").size());
    }
  }
  const auto left = search_.refresh();
  ASSERT_TRUE(left.ok());
  added = left->entries;
  EXPECT_EQ(0u, added);
}

INSTANTIATE_TEST_SUITE_P(Engines, SearchIndex,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
