// Search, on every engine: what was appended is found, by whoever appended it, and nothing
// else is.
#include <random>

#include "contract/search_fixture.h"
#include "quipu/project.h"

namespace quipu::test {
namespace {

class Search : public SearchContract {};

TEST_P(Search, WhatWasAppendedIsFoundAtOnce) {
  make("s");
  append("s", {message("a", "user", "Where is the Qorikancha?")});
  EXPECT_EQ((Places{"s/a"}), find("qorikancha"));
  append("s", {message("b", "assistant", "The Qorikancha is in Cusco.")});
  EXPECT_EQ((Places{"s/a", "s/b"}), find("qorikancha"));
  EXPECT_EQ((Places{"s/b"}), find("cusco"));
  EXPECT_EQ((Places{}), find("machu"));
}

TEST_P(Search, AHitSaysWhereAndWhat) {
  make("s", "p1", "scribe");
  NewEntry entry = message("b", "assistant", "It is in Cusco, of course.");
  entry.timestamp = "2026-02-03T04:05:06.000Z";
  append("s", {message("a", "user", "Where?"), entry,
               fact("session_info", R"({"title":"Of temples"})")});
  SearchOptions options = kEverywhere;
  options.paths = true;
  const auto hits = page("cusco", options).items;
  ASSERT_EQ(1u, hits.size());
  const SearchHit& hit = hits[0];
  EXPECT_EQ("s", hit.session_id);
  EXPECT_EQ("b", hit.entry_id);
  EXPECT_EQ(2u, hit.ordinal);
  EXPECT_EQ("message", hit.type);
  EXPECT_EQ((std::vector<std::string>{"assistant"}), hit.roles);
  EXPECT_EQ("2026-02-03T04:05:06.000Z", hit.timestamp);
  EXPECT_EQ("p1", hit.project_id);
  EXPECT_EQ("scribe", hit.agent_id);
  EXPECT_EQ("Of temples", hit.title);
  EXPECT_GT(hit.score, 0);
  ASSERT_EQ(1u, hit.marks.size());
  EXPECT_EQ("Cusco",
            hit.snippet.substr(hit.marks[0].first, hit.marks[0].second - hit.marks[0].first));
  EXPECT_EQ((std::vector<std::string>{"a", "b"}), hit.path);
}

TEST_P(Search, ByRoleToolAgentProjectAndSession) {
  make("s", "p1", "scribe");
  make("t", "p2", "reader");
  append("s", {message("a", "user", "llama"), message("b", "assistant", "llama"),
               call("c", "t1", "Bash", "llama"), result("d", "t1", "llama")});
  append("t", {message("e", "user", "llama"), call("f", "t2", "Grep", "llama")});
  EXPECT_EQ(6u, find("llama").size());
  EXPECT_EQ((Places{"s/a", "t/e"}), find("llama role:user"));
  EXPECT_EQ((Places{"s/c", "s/d"}), find("llama tool:bash"));
  EXPECT_EQ((Places{"s/d"}), find("llama tool:BASH role:tool"));
  EXPECT_EQ((Places{"s/c", "s/d", "t/f"}), find("tool:bash llama tool:grep"));
  EXPECT_EQ((Places{"t/e", "t/f"}), find("llama agent:reader"));
  EXPECT_EQ((Places{"t/e", "t/f"}), find("llama project:p2"));
  EXPECT_EQ((Places{"t/e", "t/f"}), find("llama session:t"));
  EXPECT_EQ((Places{}), find("llama session:nobody"));
  EXPECT_EQ((Places{}), find("llama project:p2 agent:scribe"));

  SearchOptions options = kEverywhere;
  options.role = "user";
  EXPECT_EQ((Places{"s/a", "t/e"}), find("llama", options));
  options.sessions.project = ProjectScope::of("p2");
  EXPECT_EQ((Places{"t/e"}), find("llama", options));
  options.role.reset();
  options.tool = "Grep";
  EXPECT_EQ((Places{"t/f"}), find("llama", options));
  options = kEverywhere;
  options.session = "s";
  options.sessions.agent = "reader";
  EXPECT_EQ((Places{}), find("llama", options));
}

TEST_P(Search, ByTheNameOfAProject) {
  Projects projects(store_);
  const auto project = projects.ensure("/nowhere/atlas");
  ASSERT_TRUE(project.ok()) << project.error().message();
  make("s", project->id);
  make("t");
  append("s", {message("a", "user", "condor")});
  append("t", {message("b", "user", "condor")});
  EXPECT_EQ((Places{"s/a"}), find("condor project:Atlas"));
}

TEST_P(Search, ByTime) {
  make("s");
  std::vector<NewEntry> entries;
  for (int day = 1; day <= 9; ++day) {
    NewEntry entry = message("d" + std::to_string(day), "user", "vicuna");
    entry.timestamp = "2026-03-0" + std::to_string(day) + "T12:00:00.000Z";
    entries.push_back(entry);
  }
  append("s", entries);
  EXPECT_EQ((Places{"s/d7", "s/d8", "s/d9"}), find("vicuna after:2026-03-07"));
  EXPECT_EQ((Places{"s/d1", "s/d2"}), find("vicuna before:2026-03-03"));
  EXPECT_EQ((Places{"s/d5"}), find("vicuna after:2026-03-05 before:2026-03-06"));
  EXPECT_EQ((Places{"s/d5"}),
            find("vicuna after:2026-03-05T12:00:00Z before:2026-03-05T12:00:01Z"));
  EXPECT_EQ((Places{}), find("vicuna after:2027-01-01"));
  SearchOptions options = kEverywhere;
  options.from_ms = 1772884800000;  // 2026-03-07T12:00:00Z
  EXPECT_EQ((Places{"s/d7", "s/d8", "s/d9"}), find("vicuna", options));
  options.to_ms = 1772884800000;
  EXPECT_EQ((Places{}), find("vicuna", options));
}

TEST_P(Search, ABranchIsThePathToItsEnd) {
  make("s");
  NewEntry other = message("c", "user", "quinoa markets");
  other.parent = Parent::of("a");
  append("s", {message("a", "user", "quinoa plan"), message("b", "user", "quinoa ruins")});
  append("s", {other});
  EXPECT_EQ((Places{"s/a", "s/b", "s/c"}), find("quinoa"));
  SearchOptions options = kEverywhere;
  options.session = "s";
  options.branch = "c";
  EXPECT_EQ((Places{"s/a", "s/c"}), find("quinoa", options));
  options.branch = "head";
  const auto head = store_.sessions().session_ends("s");
  ASSERT_TRUE(head.ok());
  EXPECT_EQ((Places{"s/a", "s/" + head->head}), find("quinoa", options));
  EXPECT_EQ((Places{"s/a", "s/" + head->head}), find("quinoa branch:head"));
  EXPECT_EQ((Places{"s/a", "s/b"}), find("quinoa session:s branch:b"));
}

TEST_P(Search, AForkIsFoundOnceAndSeesWhatItInherits) {
  make("s");
  append("s", {message("a", "user", "alpaca wool"), message("b", "assistant", "alpaca yarn"),
               message("c", "user", "alpaca left behind")});
  ForkOptions fork;
  fork.new_id = "f";
  ASSERT_TRUE(store_.sessions().branch_from_entry("s", "b", fork).ok());
  append("f", {message("d", "user", "alpaca scarf")});
  EXPECT_EQ((Places{"f/d", "s/a", "s/b", "s/c"}), find("alpaca"));
  EXPECT_EQ((Places{"f/d", "s/a", "s/b"}), find("alpaca session:f"));
  SearchOptions options = kEverywhere;
  options.session = "f";
  options.branch = "d";
  options.paths = true;
  EXPECT_EQ((Places{"f/d", "s/a", "s/b"}), find("alpaca", options));
  const auto hits = page("scarf", options).items;
  ASSERT_EQ(1u, hits.size());
  EXPECT_EQ((std::vector<std::string>{"a", "b", "d"}), hits[0].path);
}

TEST_P(Search, RedactedWordsAreGone) {
  make("s");
  append("s", {message("a", "user", "the password is tumi"), message("b", "user", "tumi again"),
               call("c", "t1", "Bash", "echo tumi"), result("d", "t1", "tumi")});
  EXPECT_EQ((Places{"s/a", "s/b", "s/c", "s/d"}), find("tumi"));
  append("s", {fact("redaction", R"({"targetEntryId":"a"})")});
  EXPECT_EQ((Places{"s/b", "s/c", "s/d"}), find("tumi"));
  // Twice, with others, and before it was ever indexed.
  append("s", {fact("redaction", R"({"targetEntryId":"a"})"),
               fact("redaction", R"({"targetEntryId":"d"})"), message("e", "user", "tumi new"),
               fact("redaction", R"({"targetEntryId":"e"})")});
  EXPECT_EQ((Places{"s/b", "s/c"}), find("tumi"));
  append("s", {message("f", "user", "after")});
  EXPECT_EQ((Places{"s/b", "s/c"}), find("tumi"));
  EXPECT_EQ((Places{}), find("password"));
  ASSERT_TRUE(search_.rebuild().ok());
  EXPECT_EQ((Places{"s/b", "s/c"}), find("tumi"));
}

TEST_P(Search, ARedactionThroughAForkHoldsForTheOwner) {
  make("s");
  append("s", {message("a", "user", "secret chicha")});
  ForkOptions fork;
  fork.new_id = "f";
  ASSERT_TRUE(store_.sessions().branch_from_entry("s", "a", fork).ok());
  EXPECT_EQ((Places{"s/a"}), find("chicha session:f"));
  append("f", {fact("redaction", R"({"targetEntryId":"a"})")});
  EXPECT_EQ((Places{}), find("chicha"));
}

TEST_P(Search, TitlesLabelsAndSummaries) {
  make("s");
  append("s", {message("a", "user", "hi"), fact("session_info", R"({"title":"Of khipu makers"})"),
               fact("label", R"({"targetEntryId":"a","label":"khipu-start"})"),
               fact("compaction_summary", R"({"summary":"They spoke of khipu."})")});
  EXPECT_EQ(3u, find("khipu").size());
  EXPECT_EQ(1u, find("khipu role:title").size());
  EXPECT_EQ(1u, find("khipu role:label").size());
  EXPECT_EQ(1u, find("khipu role:summary").size());
}

TEST_P(Search, PagesNeitherSkipNorRepeat) {
  make("s");
  std::vector<NewEntry> entries;
  for (int i = 0; i < 57; ++i) {
    entries.push_back(message("e" + std::to_string(i), "user",
                              std::string("maize") + (i % 3 == 0 ? " maize" : "") + " word" +
                                  std::to_string(i * 7 % 10)));
  }
  append("s", entries);
  const auto whole = page("maize").items;
  ASSERT_EQ(57u, whole.size());
  std::vector<SearchHit> paged;
  std::string after;
  do {
    const auto part = page("maize", kEverywhere, {.after = after, .limit = 10});
    EXPECT_EQ(57u, part.total);
    paged.insert(paged.end(), part.items.begin(), part.items.end());
    after = part.next;
  } while (!after.empty());
  ASSERT_EQ(whole.size(), paged.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(whole[i].entry_id, paged[i].entry_id);
  for (const char* wrong : {"x", "1", "1.", ".1", "3ff0.1x", "7ff8000000000000.1"}) {
    const auto refused = search_.search("maize", kEverywhere, {.after = wrong, .limit = 10});
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(Code::kInvalidArgument, refused.error().code());
  }
}

TEST_P(Search, AnyTextIsAQuery) {
  make("s");
  append("s", {message("a", "user", "plain words")});
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    std::string query;
    for (std::size_t n = random() % 40; n > 0; --n) query += static_cast<char>(random() % 256);
    page(query);
  }
  const char* const strange[] = {"",       "\"",         "-",           "+",
                                 "*",      "role:",      "role:nobody", "after:yesterday",
                                 "NEAR(",  "a AND",      "branch:x",    "session:\"",
                                 "words)", "before:1 x", "col:words",   "words^2"};
  for (const char* query : strange) page(query);
  SearchOptions by_tool = kEverywhere;
  for (const char* tool : {"\xff", "\xc3(", "a\xed\xa0\x80", "'\\"}) {
    EXPECT_EQ((Places{}), find(std::string("words tool:") + tool));
    by_tool.tool = tool;
    EXPECT_EQ((Places{}), find("words", by_tool));
  }
  EXPECT_EQ((Places{"s/a"}), find("role:nobody words"));
  EXPECT_EQ((Places{"s/a"}), find("words) OR (\"plain"));
  EXPECT_EQ((Places{"s/a"}), find("plain " + std::string(1 << 20, 'x')));
}

TEST_P(Search, WithoutAStoreThereIsNoAnswer) {
  make("s");
  SearchOptions options = kEverywhere;
  options.session = "nobody";
  auto refused = search_.search("x", options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(Code::kNotFound, refused.error().code());
  options = kEverywhere;
  options.role = "nobody";
  refused = search_.search("x", options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(Code::kInvalidArgument, refused.error().code());
  ASSERT_TRUE(store_.close().ok());
  EXPECT_FALSE(search_.search("x", kEverywhere).ok());
}

INSTANTIATE_TEST_SUITE_P(Engines, Search,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
