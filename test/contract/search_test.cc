// Search, on every engine: what was appended is found, by whoever appended it, and nothing
// else is.
#include "quipu/search.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "quipu/project.h"
#include "support/fresh_store.h"
#include "support/wrapped_backend.h"
#include "view/session_index.h"

namespace quipu::test {
namespace {

const SearchOptions kEverywhere{.sessions = {.project = ProjectScope::all()}};

std::string quoted_json(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (c == '\n') {
      json += "\\n";
    } else {
      json += c;
    }
  }
  return json + '"';
}

NewEntry message(const std::string& id, const std::string& role, const std::string& text) {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"role":")" + role + R"(","content":)" + quoted_json(text) + "}";
  return entry;
}

NewEntry call(const std::string& id, const std::string& call_id, const std::string& tool,
              const std::string& argument) {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"role":"assistant","content":[{"type":"tool_use","id":")" + call_id +
                  R"(","name":")" + tool + R"(","input":{"x":)" + quoted_json(argument) + "}}]}";
  return entry;
}

NewEntry result(const std::string& id, const std::string& call_id, const std::string& text) {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"role":"tool","content":[{"type":"tool_result","toolUseId":")" + call_id +
                  R"(","content":)" + quoted_json(text) + "}]}";
  return entry;
}

NewEntry fact(const std::string& type, const std::string& payload) {
  NewEntry entry;
  entry.type = type;
  entry.payload = payload;
  return entry;
}

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

class Search : public ::testing::TestWithParam<Engine> {
 protected:
  Search() : place_(GetParam()), store_(open()), search_(store_) {}

  Store open() {
    auto store = Store::open(place_.url(), {.create = true});
    if (!store.ok()) {
      ADD_FAILURE() << store.error().message();
      std::abort();
    }
    return std::move(store).value();
  }

  void make(const std::string& id, const std::string& project = {}, const std::string& agent = {}) {
    NewSession session;
    session.id = id;
    session.project_id = project;
    session.agent_id = agent;
    const auto made = store_.sessions().create_session(session);
    ASSERT_TRUE(made.ok()) << made.error().message();
  }

  void append(const std::string& session, const std::vector<NewEntry>& entries) {
    append(store_, session, entries);
  }
  static void append(Store& store, const std::string& session,
                     const std::vector<NewEntry>& entries) {
    const auto added = store.sessions().append_session_entries(session, entries);
    ASSERT_TRUE(added.ok()) << added.error().message();
  }

  Page<SearchHit> page(const std::string& query, const SearchOptions& options = kEverywhere,
                       const PageRequest& request = {.after = {}, .limit = 1000}) {
    auto found = search_.search(query, options, request);
    EXPECT_TRUE(found.ok()) << query << ": " << found.error().message();
    return found.ok() ? std::move(found).value() : Page<SearchHit>();
  }

  /// "session/entry", sorted.
  static std::vector<std::string> places(const std::vector<SearchHit>& hits) {
    std::vector<std::string> places;
    for (const SearchHit& hit : hits) places.push_back(hit.session_id + "/" + hit.entry_id);
    std::sort(places.begin(), places.end());
    return places;
  }
  std::vector<std::string> find(const std::string& query,
                                const SearchOptions& options = kEverywhere) {
    return places(page(query, options).items);
  }

  using Places = std::vector<std::string>;

  FreshStore place_;
  Store store_;
  SessionSearch search_;
};

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

TEST_P(Search, NeighboursLiftEachOther) {
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

TEST_P(Search, ManyEntriesOfOneSession) {
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

TEST_P(Search, MadeAnewItAnswersTheSame) {
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

TEST_P(Search, SeveralMayIndexAtOnce) {
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
TEST_P(Search, MadeAnewWhileAnotherIndexesItIsWhole) {
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

TEST_P(Search, WhatIsAppendedBetweenLookingAndReadingIsIndexedOnce) {
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

TEST_P(Search, OthersThatCommitAllTheTimeDoNotKeepAnAnswerWaiting) {
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

TEST_P(Search, TablesThatAreGoneForAMomentAreMadeAndNothingElseIsLost) {
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

TEST_P(Search, AnErrorOfTheStoreIsNoDamageOfTheIndex) {
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

TEST_P(Search, ADamagedIndexIsMadeAnew) {
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

TEST_P(Search, TheFollowerLeavesLittleToDo) {
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

std::string engine_name(const ::testing::TestParamInfo<Engine>& one) {
  switch (one.param) {
    case Engine::kMemory:
      return "memory";
    case Engine::kFile:
      return "file";
    case Engine::kSqlite:
      return "sqlite";
    case Engine::kPostgres:
      return "postgres";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Engines, Search,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
