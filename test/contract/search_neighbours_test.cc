// What stands beside hits, on every engine.
#include "contract/search_fixture.h"

namespace quipu::test {
namespace {

class SearchNeighbours : public SearchContract {
 protected:
  /// Seven entries; "d" alone has the words of `kQuestion`.
  void make_talk() {
    make("s");
    append("s", {message("a", "user", "good morning to all"), message("b", "user", "we are late"),
                 message("c", "user", "what shall I say"),
                 message("d", "user", "the condor nests above the canyon"),
                 message("e", "assistant", "seen from the bridge in May"),
                 message("f", "assistant", "thank you very much"),
                 message("g", "assistant", "until tomorrow then")});
  }

  static constexpr const char* kQuestion = "where does the condor nest";
};

TEST_P(SearchNeighbours, NeighboursLiftEachOther) {
  make("s");
  std::vector<NewEntry> entries;
  for (int i = 0; i < 40; ++i) {
    const bool has = i == 5 || i == 20 || i == 21;
    entries.push_back(message("e" + std::to_string(i), "user",
                              has ? "puma lives here now" : "nothing of note there"));
  }
  append("s", entries);
  auto hits = page("puma").items;
  ASSERT_EQ(3u, hits.size());
  EXPECT_EQ("e5", hits[2].entry_id);
  SearchOptions alone = kEverywhere;
  alone.neighbour_weight = 0;
  hits = page("puma", alone).items;
  EXPECT_DOUBLE_EQ(hits[0].score, hits[2].score);
}

TEST_P(SearchNeighbours, OfAQuestionTheyJoin) {
  make_talk();
  const auto hits = page(kQuestion).items;
  ASSERT_EQ((Places{"s/c", "s/d", "s/e"}), places(hits));
  EXPECT_EQ("d", hits[0].entry_id);
  EXPECT_FALSE(hits[0].neighbour);
  EXPECT_FALSE(hits[0].marks.empty());
  for (std::size_t i = 1; i < hits.size(); ++i) {
    EXPECT_TRUE(hits[i].neighbour);
    EXPECT_TRUE(hits[i].marks.empty());
    EXPECT_DOUBLE_EQ(0.5 * hits[0].score, hits[i].score);
    EXPECT_EQ(hits[i].entry_id == "c" ? "what shall I say" : "seen from the bridge in May",
              hits[i].snippet);
  }
  SearchOptions alone = kEverywhere;
  alone.joined_weight = 0;
  EXPECT_EQ((Places{"s/d"}), find(kQuestion, alone));
}

TEST_P(SearchNeighbours, OnlyOfAQuestion) {
  make_talk();
  for (const char* query :
       {"condor", "condor nest", "where is the condor", "+condor nests above", "condor nests -puma",
        "\"the condor nests above\"", "condor nests canyon*", "where \"the condor\" nests"}) {
    EXPECT_EQ((Places{"s/d"}), find(query)) << query;
  }
}

TEST_P(SearchNeighbours, WhatNarrowsHoldsForThem) {
  make("s", "p1", "scribe");
  NewEntry early = message("a", "user", "good morning to all");
  early.timestamp = "2026-03-01T12:00:00.000Z";
  NewEntry hit = message("b", "user", "the condor nests above the canyon");
  hit.timestamp = "2026-03-02T12:00:00.000Z";
  NewEntry late = call("c", "t1", "Bash", "date");
  late.timestamp = "2026-03-03T12:00:00.000Z";
  NewEntry answer = result("d", "t1", "Tuesday");
  answer.timestamp = "2026-03-04T12:00:00.000Z";
  append("s", {early, hit, late, answer});
  const std::string question = std::string(kQuestion) + " ";
  EXPECT_EQ((Places{"s/a", "s/b", "s/c"}), find(question));
  EXPECT_EQ((Places{"s/a", "s/b"}), find(question + "role:user"));
  EXPECT_EQ((Places{"s/a", "s/b"}), find(question + "before:2026-03-03"));
  EXPECT_EQ((Places{"s/b", "s/c"}), find(question + "after:2026-03-02"));
  EXPECT_EQ((Places{"s/a", "s/b"}), find(question + "session:s branch:b"));
  EXPECT_EQ((Places{"s/a", "s/b", "s/c"}), find(question + "project:p1 agent:scribe"));
  EXPECT_EQ((Places{}), find(question + "project:p2"));
  // Nothing with the words, and so nothing beside it.
  EXPECT_EQ((Places{}), find(question + "tool:bash"));
  EXPECT_EQ((Places{}), find(question + "role:assistant"));
  SearchOptions options = kEverywhere;
  options.role = "user";
  options.to_ms = 1772884800000;  // 2026-03-07T12:00:00Z
  EXPECT_EQ((Places{"s/a", "s/b"}), find(question, options));
}

TEST_P(SearchNeighbours, TheToolMustHoldForThem) {
  make("s");
  append("s", {call("a", "t1", "Bash", "ls"), result("b", "t1", "the condor nests above"),
               message("c", "user", "so be it"), call("d", "t2", "Grep", "egg")});
  EXPECT_EQ((Places{"s/a", "s/b"}), find(std::string(kQuestion) + " tool:bash"));
  EXPECT_EQ((Places{"s/a", "s/b", "s/d"}), find(std::string(kQuestion) + " tool:bash tool:grep"));
}

TEST_P(SearchNeighbours, WhatIsHiddenOrSaysNothingDoesNot) {
  make("s");
  append("s", {message("a", "user", "good morning to all"),
               fact("session_info", R"({"title":"Of birds"})"), message("b", "user", ""),
               message("c", "user", "the condor nests above the canyon"),
               message("d", "user", "the key is tumi"), message("e", "user", "thank you")});
  EXPECT_EQ((Places{"s/a", "s/c", "s/d"}), find(kQuestion));
  append("s", {fact("redaction", R"({"targetEntryId":"d"})")});
  EXPECT_EQ((Places{"s/a", "s/c", "s/e"}), find(kQuestion));
}

TEST_P(SearchNeighbours, AForkJoinsWhatItSees) {
  make("s");
  append("s", {message("a", "user", "good morning to all"),
               message("b", "user", "the condor nests above the canyon"),
               message("c", "user", "left behind")});
  ForkOptions fork;
  fork.new_id = "f";
  ASSERT_TRUE(store_.sessions().branch_from_entry("s", "b", fork).ok());
  append("f", {message("d", "user", "another way")});
  EXPECT_EQ((Places{"s/a", "s/b"}), find(std::string(kQuestion) + " session:f"));
}

TEST_P(SearchNeighbours, PagesNeitherSkipNorRepeatThem) {
  make("s");
  std::vector<NewEntry> entries;
  for (int i = 0; i < 61; ++i) {
    const bool has = i % 7 == 3;
    entries.push_back(
        message("e" + std::to_string(i), "user",
                has ? "the condor nests here" : "nothing of note " + std::to_string(i)));
  }
  append("s", entries);
  const auto whole = page(kQuestion).items;
  EXPECT_EQ(9u + 18u, whole.size());
  std::vector<std::string> paged;
  std::string after;
  do {
    const auto part = page(kQuestion, kEverywhere, {.after = after, .limit = 4});
    EXPECT_EQ(whole.size(), part.total);
    for (const SearchHit& hit : part.items) paged.push_back(hit.entry_id);
    after = part.next;
  } while (!after.empty());
  ASSERT_EQ(whole.size(), paged.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(whole[i].entry_id, paged[i]);
}

// One that has a word, among so many that it was not ranked.
TEST_P(SearchNeighbours, WhatIsFoundByItsPlaceHasNoMarks) {
  make("s");
  std::vector<NewEntry> entries;
  for (int i = 0; i < 1002; ++i) entries.push_back(message({}, "user", "a condor, again"));
  entries.push_back(message("hit", "user", "condor nest"));
  std::string long_text = "It begins so";
  for (int i = 0; i < 300; ++i) long_text += " and goes on";
  entries.push_back(message("beside", "user", long_text + " to the condor"));
  append("s", entries);
  const auto hits = page(kQuestion).items;
  EXPECT_EQ(1000u, hits.size());
  const auto beside = std::find_if(hits.begin(), hits.end(),
                                   [](const SearchHit& hit) { return hit.entry_id == "beside"; });
  ASSERT_NE(hits.end(), beside);
  EXPECT_TRUE(beside->neighbour);
  EXPECT_TRUE(beside->marks.empty());
  EXPECT_TRUE(beside->snippet.starts_with("It begins so"));
}

INSTANTIATE_TEST_SUITE_P(Engines, SearchNeighbours,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
