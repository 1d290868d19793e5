// MemoryStore on all engines: the same nodes, the same answers.
#include "quipu/memory.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <utility>

#include "contract/recall_fixture.h"
#include "quipu/copy.h"
#include "search/index_database.h"
#include "support/wrapped_backend.h"

namespace quipu::test {
namespace {

class Memory : public RecallContract {
 protected:
  UpsertReport upsert(std::vector<MemoryNode> nodes, const UpsertOptions& options = {}) {
    return must(memory_.upsert(nodes, options));
  }
  Ids found(std::string_view query, const MemorySearchOptions& options = {}, std::size_t k = 10) {
    return ids_of(must(memory_.search(query, k, options)));
  }
  static MemorySearchOptions of_agent(std::string agent) {
    MemorySearchOptions options;
    options.scope.agent_id = std::move(agent);
    return options;
  }

  MemoryStore memory_{*store_};
};

TEST_P(Memory, WhatIsStoredIsFound) {
  MemoryNode whole = node("m1", "Ada prefers tabs over spaces");
  whole.kind = MemoryKind::kAgent;
  whole.context = "talking about the style of the engine";
  whole.agent_id = "coder";
  whole.project_id = "engine";
  whole.meta = R"({"a":[1]})";
  whole.sources = {{.session_id = "s1", .entry_id = "e1"}};
  whole.importance = 0.25;
  whole.pinned = true;
  const UpsertReport report = upsert({whole, node("m2", "Bob likes trains")});
  EXPECT_EQ(2u, report.added);
  EXPECT_EQ((Ids{"m1", "m2"}), report.ids);

  const auto hits = must(memory_.search("who prefers TABS?", 10));
  ASSERT_EQ(Ids{"m1"}, ids_of(hits));
  EXPECT_EQ(whole, hits.items[0].memory.node);
  EXPECT_EQ(kNowMs, hits.items[0].memory.created_ms);
  EXPECT_GT(hits.items[0].score, 0);
  EXPECT_EQ(1u, hits.items[0].reason.lexical_rank);
  EXPECT_FALSE(hits.is_hybrid);
  const Excerpt& excerpt = hits.items[0].excerpt;
  ASSERT_FALSE(excerpt.marks.empty());
  EXPECT_EQ("prefers", excerpt.text.substr(excerpt.marks[0].first,
                                           excerpt.marks[0].second - excerpt.marks[0].first));
}

TEST_P(Memory, TheContextIsSearchedAndCountsLess) {
  MemoryNode beside = node("beside", "yes, that one");
  beside.context = "shall we take the red bicycle";
  upsert({beside, node("inside", "the red bicycle it is"), node("other", "nothing of the kind")});
  EXPECT_EQ((Ids{"inside", "beside"}), found("red bicycle"));
}

TEST_P(Memory, SameIdReplacesSameContentDoesNothing) {
  upsert({node("m", "the build uses make")});
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(1u, upsert({node("m", "the build uses make")}).unchanged);
  EXPECT_EQ(kNowMs, must(memory_.list()).items[0].updated_ms);
  EXPECT_EQ(1u, upsert({node("m", "the build uses ninja")}).replaced);
  EXPECT_EQ(Ids{}, found("make"));
  EXPECT_EQ(Ids{"m"}, found("ninja"));
  const auto page = must(memory_.list());
  ASSERT_EQ(1u, page.items.size());
  EXPECT_EQ(kNowMs, page.items[0].created_ms);
  EXPECT_EQ(kNowMs + 3'600'000, page.items[0].updated_ms);
}

TEST_P(Memory, OfTwoNodesWithOneIdTheSecondCounts) {
  const UpsertReport report =
      upsert({node("m", "first words"), node("m", "second words"), node("m", "second words")});
  EXPECT_EQ(1u, report.added);
  EXPECT_EQ(1u, report.replaced);
  EXPECT_EQ(1u, report.unchanged);
  EXPECT_EQ(Ids{}, found("first"));
  EXPECT_EQ(Ids{"m"}, found("second"));
}

TEST_P(Memory, WithoutAnIdOneIsMade) {
  const UpsertReport report = upsert({node("", "made up"), node("", "made up as well")});
  ASSERT_EQ(2u, report.ids.size());
  EXPECT_NE(report.ids[0], report.ids[1]);
  EXPECT_EQ(2u, must(memory_.list()).total);
}

TEST_P(Memory, ScopesNarrowAndRankByThemselves) {
  std::vector<MemoryNode> nodes;
  for (int i = 0; i < 30; ++i) {
    MemoryNode one = node("a" + std::to_string(i), "wolf number " + std::to_string(i));
    one.agent_id = "a";
    nodes.push_back(one);
  }
  MemoryNode both = node("b1", "wolf and sheep");
  both.agent_id = "b";
  both.kind = MemoryKind::kShort;
  MemoryNode project = node("b2", "sheep of the project");
  project.agent_id = "b";
  project.project_id = "p";
  nodes.push_back(both);
  nodes.push_back(project);
  upsert(nodes);
  EXPECT_EQ(Ids{"b1"}, found("wolf", of_agent("b")));
  EXPECT_EQ(Ids{}, found("wolf", of_agent("c")));
  MemorySearchOptions options = of_agent("b");
  options.scope.project_id = "p";
  EXPECT_EQ(Ids{"b2"}, found("sheep", options));
  options.scope.project_id = "";
  EXPECT_EQ(Ids{"b1"}, found("sheep", options)) << "those without a project";
  options = {};
  options.scope.kinds = {MemoryKind::kShort, MemoryKind::kAgent};
  EXPECT_EQ(Ids{"b1"}, found("wolf sheep", options));
  // Rare among all, common in the scope: the statistics are those of the scope.
  MemorySearchOptions in_b = of_agent("b");
  const auto hits = must(memory_.search("wolf sheep", 10, in_b));
  ASSERT_EQ(2u, hits.items.size());
  EXPECT_EQ("b1", hits.items[0].memory.node.id);
}

TEST_P(Memory, ForgottenIsGoneAtOnce) {
  upsert({node("m1", "the red key"), node("m2", "the red door")});
  EXPECT_EQ(1u, must(memory_.forget(Ids{"m1", "nobody"})));
  EXPECT_EQ(Ids{"m2"}, found("red"));
  EXPECT_EQ(0u, must(memory_.forget(Ids{"m1"})));
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(1u, upsert({node("m1", "the red key")}).added) << "it may come back";
  EXPECT_EQ(kNowMs + 3'600'000, must(memory_.list()).items[0].created_ms);
  EXPECT_EQ(2u, found("red").size());
}

TEST_P(Memory, WhatIsForgottenDuringASearchLeavesTheOthersTheirPlaces) {
  upsert({node("best", "swan swan swan"), node("other", "a swan, and other words with it")});
  const auto before = must(memory_.search("swan", 5));
  ASSERT_EQ((Ids{"best", "other"}), ids_of(before));
  {
    // Between the list of the words and the nodes.
    const auto engine = must(store_->indexes()->lease());
    const sql::Command gone{.text = "DELETE FROM @memory_nodes WHERE id = 'best'"};
    must(engine->commit({&gone, 1}));
  }
  const auto hits = must(memory_.search("swan", 5));
  ASSERT_EQ(Ids{"other"}, ids_of(hits));
  EXPECT_EQ(before.items[1].score, hits.items[0].score);
  EXPECT_EQ(2u, hits.items[0].reason.lexical_rank);
}

TEST_P(Memory, WhatHasExpiredIsNotFound) {
  MemoryNode brief = node("brief", "the token is swordfish");
  brief.expires_ms = kNowMs + 1000;
  upsert({brief, node("lasting", "swordfish live in the sea")});
  EXPECT_EQ(2u, found("swordfish").size());
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(Ids{"lasting"}, found("swordfish"));
  EXPECT_EQ(2u, must(memory_.list()).total);
  EXPECT_EQ(Ids{"brief"}, must(memory_.evict({})).ids);
  EXPECT_EQ(1u, must(memory_.list()).total);
}

TEST_P(Memory, SinceIsAboutTheLastWriting) {
  upsert({node("old", "green apple"), node("renewed", "green pear")});
  clock_.advance(std::chrono::hours(1));
  upsert({node("renewed", "green pears"), node("new", "green plum")});
  MemorySearchOptions options;
  options.since_ms = kNowMs + 1;
  const Ids ids = found("green", options);
  EXPECT_EQ(2u, ids.size());
  EXPECT_EQ(ids.end(), std::find(ids.begin(), ids.end(), "old"));
}

TEST_P(Memory, EvictionTakesTheLeastUseful) {
  MemoryNode pinned = node("pinned", "alpha pinned");
  pinned.pinned = true;
  pinned.kind = MemoryKind::kShort;
  MemoryNode passing = node("short", "beta passing");
  passing.kind = MemoryKind::kShort;
  MemoryNode weighty = node("weighty", "delta weighty");
  weighty.importance = 0.5;
  upsert({pinned, passing, node("used", "gamma used"), weighty, node("plain", "epsilon plain")});
  EXPECT_EQ(Ids{"used"}, found("gamma"));
  EvictOptions options;
  options.max_nodes = 2;
  options.dry_run = true;
  EXPECT_EQ((Ids{"short", "plain", "weighty"}), must(memory_.evict(options)).ids);
  EXPECT_EQ(5u, must(memory_.list()).total);
  options.dry_run = false;
  const EvictReport report = must(memory_.evict(options));
  EXPECT_EQ((Ids{"short", "plain", "weighty"}), report.ids);
  EXPECT_EQ(2u, report.kept);
  EXPECT_EQ(Ids{}, found("beta delta epsilon"));
  EXPECT_EQ(2u, must(memory_.list()).total);
}

TEST_P(Memory, EvictionIsWithinItsScope) {
  MemoryNode other = node("theirs", "same words");
  other.agent_id = "b";
  MemoryNode ours = node("ours", "other words");
  ours.agent_id = "a";
  upsert({other, ours});
  EvictOptions options;
  options.scope.agent_id = "a";
  options.max_nodes = 0;
  EXPECT_EQ(Ids{"ours"}, must(memory_.evict(options)).ids);
}

TEST_P(Memory, UseIsCounted) {
  upsert({node("m", "a lighthouse")});
  for (int i = 0; i < 3; ++i) found("lighthouse");
  clock_.advance(std::chrono::minutes(5));
  found("lighthouse");
  const auto page = must(memory_.list());
  EXPECT_EQ(4u, page.items[0].hits);
  EXPECT_EQ(kNowMs + 300'000, page.items[0].used_ms);
  upsert({node("m", "a lighthouse by the sea")});
  EXPECT_EQ(4u, must(memory_.list()).items[0].hits);
}

TEST_P(Memory, DuplicatesAreReported) {
  const std::string words =
      "the deployment runs every night at two and takes about forty minutes on the small machine";
  upsert({node("m1", words)});
  MemoryNode elsewhere = node("elsewhere", words);
  elsewhere.agent_id = "other";
  const UpsertReport report =
      upsert({node("exact",
                   "The deployment runs every NIGHT at two, and "
                   "takes about forty minutes on the small machine!"),
              node("near", words + " now"), elsewhere, node("different", "nothing of the kind")});
  ASSERT_EQ(2u, report.duplicates.size());
  EXPECT_EQ("exact", report.duplicates[0].id);
  EXPECT_EQ("m1", report.duplicates[0].of);
  EXPECT_EQ(1, report.duplicates[0].likeness);
  EXPECT_EQ("near", report.duplicates[1].id);
  EXPECT_GE(report.duplicates[1].likeness, 0.9);
  EXPECT_LT(report.duplicates[1].likeness, 1);
  EXPECT_EQ(4u, report.added) << "kept, unless one asks otherwise";
}

TEST_P(Memory, DuplicatesCanBeLeftOut) {
  upsert({node("m1", "tea at five")});
  UpsertOptions options;
  options.duplicates = Duplicates::kSkip;
  const UpsertReport report = upsert(
      {node("m2", "Tea at five."), node("m3", "coffee at ten"), node("m4", "coffee, at ten")},
      options);
  EXPECT_EQ(1u, report.added);
  EXPECT_EQ(2u, report.skipped);
  EXPECT_EQ(2u, must(memory_.list()).total);
  EXPECT_EQ(0u, upsert({node("m1", "tea at five")}, options).skipped) << "it is no twin of itself";
}

TEST_P(Memory, TheSameTextIsFoundAmongManyThatAreNearlyTheSame) {
  const auto ticket = [](const std::string& id, int number) {
    return node(id, "User asked about ticket " + std::to_string(number) + " today");
  };
  std::vector<MemoryNode> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back(ticket("m" + std::to_string(i), i));
  upsert(nodes);
  UpsertOptions options;
  options.duplicates = Duplicates::kSkip;
  for (const int number : {0, 500, 900}) {
    const UpsertReport report = upsert({ticket("again", number)}, options);
    ASSERT_EQ(1u, report.duplicates.size()) << number;
    EXPECT_EQ("m" + std::to_string(number), report.duplicates[0].of);
    EXPECT_EQ(1, report.duplicates[0].likeness);
  }
  // Also within one batch.
  nodes.clear();
  for (int i = 0; i < 1000; ++i) nodes.push_back(ticket("n" + std::to_string(i), 1000 + i));
  nodes.push_back(ticket("again", 1400));
  EXPECT_EQ(1u, upsert(nodes, options).skipped);
}

TEST_P(Memory, DuplicatesCanBeMerged) {
  MemoryNode first = node("m1", "tea at five");
  first.sources = {{.session_id = "s", .entry_id = "e1"}};
  first.importance = 0.1;
  first.embedding = {1, 2};
  upsert({first});
  UpsertOptions options;
  options.duplicates = Duplicates::kMerge;
  MemoryNode second = node("m2", "Tea at five!");
  second.sources = {{.session_id = "s", .entry_id = "e1"}, {.session_id = "s", .entry_id = "e2"}};
  second.importance = 0.7;
  MemoryNode third = node("m3", "coffee at ten");
  MemoryNode fourth = node("m4", "Coffee at ten");
  fourth.sources = {{.session_id = "s", .entry_id = "e4"}};
  upsert({second, third, fourth}, options);
  const auto hits = must(memory_.search("tea coffee", 10));
  ASSERT_EQ(2u, hits.items.size());
  for (const MemoryHit& hit : hits.items) {
    const MemoryNode& stored = hit.memory.node;
    if (stored.id == "m1") {
      EXPECT_EQ(second.sources, stored.sources);
      EXPECT_EQ(0.7, stored.importance);
    } else {
      EXPECT_EQ("m3", stored.id);
      EXPECT_EQ(fourth.sources, stored.sources);
    }
  }
}

// Does something right before the next append.
class MeddlingBackend : public WrappedBackend {
 public:
  using WrappedBackend::WrappedBackend;
  Result<AppendResult> append(const std::string& id, const Batch& batch,
                              const AppendOptions& options) override {
    if (const auto first = std::exchange(meddle, nullptr)) first();
    return WrappedBackend::append(id, batch, options);
  }

  std::function<void()> meddle;
};

TEST_P(Memory, WhatIsForgottenMeanwhileIsNotMergedInto) {
  const auto backend = std::make_shared<MeddlingBackend>(store_->backend());
  Store store(backend, nullptr, nullptr, store_->indexes());
  MemoryStore theirs(store);
  upsert({node("m1", "tea at five")});
  backend->meddle = [&] { must(memory_.forget(Ids{"m1"})); };
  MemoryNode second = node("m2", "Tea at five!");
  second.importance = 1;
  const auto report = must(theirs.upsert(std::vector{second}, {.duplicates = Duplicates::kMerge}));
  EXPECT_EQ(1u, report.added);
  EXPECT_EQ(0u, report.skipped);
  EXPECT_EQ(Ids{"m2"}, found("tea"));
}

TEST_P(Memory, WhatABatchChangesIsComparedAsItWillBe) {
  for (const Duplicates duplicates : {Duplicates::kSkip, Duplicates::kMerge}) {
    must(memory_.forget(Ids{"m1", "m2"}));
    upsert({node("m1", "tea at five")});
    MemoryNode second = node("m2", "Tea at five!");
    second.sources = {{.session_id = "s", .entry_id = "e"}};
    upsert({second, node("m1", "coffee at ten")}, {.duplicates = duplicates});
    EXPECT_EQ(Ids{"m2"}, found("tea")) << "nobody else says so any more";
    EXPECT_EQ(Ids{"m1"}, found("coffee"));
  }
}

TEST_P(Memory, WhatIsChangedAndSaysTheSameIsStillTheOne) {
  upsert({node("m1", "tea at five")});
  MemoryNode renewed = node("m1", "tea at five");
  renewed.importance = 0.5;
  MemoryNode second = node("m2", "Tea at five!");
  second.sources = {{.session_id = "s", .entry_id = "e"}};
  upsert({second, renewed}, {.duplicates = Duplicates::kMerge});
  const auto page = must(memory_.list());
  ASSERT_EQ(1u, page.items.size());
  EXPECT_EQ("m1", page.items[0].node.id);
  EXPECT_EQ(0.5, page.items[0].node.importance);
  EXPECT_EQ(second.sources, page.items[0].node.sources);
}

TEST_P(Memory, WhatHasExpiredHasNoDuplicates) {
  MemoryNode brief = node("brief", "tea at five");
  brief.expires_ms = kNowMs + 1000;
  upsert({brief});
  UpsertOptions options;
  options.duplicates = Duplicates::kSkip;
  EXPECT_EQ(1u, upsert({node("m2", "Tea at five!")}, options).skipped);
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(1u, upsert({node("m2", "Tea at five!")}, options).added);
  MemoryNode over = node("over", "coffee at ten");
  over.expires_ms = kNowMs;
  EXPECT_EQ(2u, upsert({over, node("m3", "Coffee at ten")}, options).added);
}

TEST_P(Memory, ListsComeInPages) {
  std::vector<MemoryNode> nodes;
  for (int i = 0; i < 7; ++i) nodes.push_back(node("m" + std::to_string(i), "number"));
  upsert(nodes);
  Ids seen;
  std::string after;
  do {
    const auto page = must(memory_.list({}, {.after = after, .limit = 3}));
    EXPECT_EQ(7u, page.total);
    for (const StoredMemory& one : page.items) seen.push_back(one.node.id);
    after = page.next;
  } while (!after.empty());
  EXPECT_EQ((Ids{"m6", "m5", "m4", "m3", "m2", "m1", "m0"}), seen);
  EXPECT_EQ(Code::kInvalidArgument, code_of(memory_.list({}, {.after = "x", .limit = 3})));
}

TEST_P(Memory, EveryTextIsAQuery) {
  upsert({node("m", "plain words")});
  std::string huge;
  while (huge.size() < 10'000'000) huge += "words of a very long query ";
  for (const std::string& query :
       {std::string(), std::string(" \t\n"), std::string("\"unclosed"), std::string("AND OR NOT"),
        std::string("a:b NEAR(x y, 3) {c} : * ^ -"), std::string("'; DROP TABLE memory_nodes; --"),
        std::string("\xff\xfe\0\x01", 4), std::string("!!!"), huge}) {
    EXPECT_TRUE(memory_.search(query, 5).ok()) << query.substr(0, 40);
  }
  EXPECT_EQ(Ids{}, found(""));
  EXPECT_EQ(Ids{"m"}, found(huge));
}

TEST_P(Memory, BadNodesAreRefusedByName) {
  const auto refused = [&](MemoryNode bad) {
    const auto answer = memory_.upsert(std::vector{node("good", "fine"), bad});
    EXPECT_EQ(Code::kInvalidArgument, code_of(answer));
    if (!answer.ok()) {
      EXPECT_EQ(0u, answer.error().message().find("node 2 (" + bad.id + ")"))
          << answer.error().message();
    }
  };
  MemoryNode bad = node("bad", "\xff\xfe");
  refused(bad);
  bad = node("bad", "fine");
  bad.meta = "[]";
  refused(bad);
  bad.meta.clear();
  bad.importance = std::numeric_limits<double>::quiet_NaN();
  refused(bad);
  bad.importance = 0;
  bad.embedding = {1, std::numeric_limits<float>::infinity()};
  refused(bad);
  bad.embedding = {0, 0, 0};
  refused(bad);
  EXPECT_EQ(0u, must(memory_.list()).total) << "nothing was stored";
  bad.embedding.clear();
  bad.text.assign(std::size_t{17} << 20, 'x');
  EXPECT_EQ(Code::kTooLarge, code_of(memory_.upsert(std::vector{bad})));
}

TEST_P(Memory, VectorsOfOneStoreAreOfOneSize) {
  MemoryNode one = node("m1", "one");
  one.embedding = {1, 2, 3};
  MemoryNode other = node("m2", "two");
  other.embedding = {1, 2};
  EXPECT_EQ(Code::kInvalidArgument, code_of(memory_.upsert(std::vector{one, other})));
  upsert({one});
  const auto answer = memory_.upsert(std::vector{other});
  ASSERT_EQ(Code::kInvalidArgument, code_of(answer));
  EXPECT_EQ(0u, answer.error().message().find("node 1 (m2)")) << answer.error().message();
  one.embedding = {4, 5};
  upsert({one, other});  // all that are there are replaced
}

TEST_P(Memory, VectorsAreCheckedBeforeAnythingIsStored) {
  std::vector<MemoryNode> nodes;
  for (int i = 0; i < 2500; ++i) nodes.push_back(node("m" + std::to_string(i), "number"));
  nodes.front().embedding = {1, 2};
  nodes.back().embedding = {1, 2, 3};  // far behind the first batch
  const auto answer = memory_.upsert(nodes);
  ASSERT_EQ(Code::kInvalidArgument, code_of(answer));
  EXPECT_EQ(0u, answer.error().message().find("node 2500 (m2499)")) << answer.error().message();
  EXPECT_EQ(0u, must(memory_.list()).total);
}

TEST_P(Memory, TextsOfAllKindsAreStored) {
  using namespace std::string_literals;
  const std::string text = "nul \0 inside, 数据库, emoji 🎈, \"quotes\" and \\"s;
  MemoryNode odd = node("id with spaces, 数 and 'quotes'", text);
  odd.agent_id = "agent with spaces";
  upsert({odd});
  EXPECT_EQ(Ids{odd.id}, found("数据库", of_agent(odd.agent_id)));
  EXPECT_EQ(Ids{odd.id}, found("quotes"));
  EXPECT_EQ(1u, must(memory_.forget(Ids{odd.id})));
  EXPECT_EQ(Ids{}, found("quotes"));
}

TEST_P(Memory, AnotherOpenStoreSeesItAtOnce) {
  const auto second = GetParam() == Engine::kMemory ? nullptr : open();
  Store& theirs = second ? *second : *store_;
  MemoryStore other(theirs);
  EXPECT_EQ(0u, must(other.search("swan", 5)).items.size());
  upsert({node("m", "a black swan")});
  EXPECT_EQ(Ids{"m"}, ids_of(must(other.search("swan", 5))));
  must(other.forget(Ids{"m"}));
  EXPECT_EQ(Ids{}, found("swan"));
}

TEST_P(Memory, MadeAnewItAnswersTheSame) {
  std::vector<MemoryNode> nodes;
  for (int i = 0; i < 300; ++i) {
    nodes.push_back(node("m" + std::to_string(i),
                         "item " + std::to_string(i % 17) + " of box " + std::to_string(i % 5)));
  }
  upsert(nodes);
  must(memory_.forget(Ids{"m3", "m20"}));
  upsert({node("m7", "item 3 of box 9")});
  const auto answers = [&] {
    std::vector<std::pair<std::string, double>> all;
    for (const char* query : {"item 3", "box 2", "item 16 box 4", "box 9"}) {
      for (const MemoryHit& hit : must(memory_.search(query, 20)).items) {
        all.emplace_back(hit.memory.node.id, hit.score);
      }
    }
    return all;
  };
  const auto before = answers();
  ASSERT_GT(before.size(), 30u);
  must(memory_.reindex());
  EXPECT_EQ(before, answers());
}

TEST_P(Memory, ItIsNoSession) {
  upsert({node("m", "words")});
  EXPECT_TRUE(must(store_->sessions().session_ids()).empty());
}

TEST_P(Memory, ACopyRemembersTheSame) {
  upsert({node("m1", "a red kite"), node("m2", "a red fox"), node("m3", "a red car")});
  must(memory_.forget(Ids{"m3"}));
  KnowledgeIndex knowledge(*store_);
  must(knowledge.add(std::vector{document("d", "kites fly")}));
  for (const Engine engine : {Engine::kMemory, Engine::kFile, Engine::kSqlite, Engine::kPostgres}) {
    const FreshStore place(engine, 1);
    Store copy = must(Store::open(place.url(), {.create = true}));
    must(copy_store(*store_, copy));
    MemoryStore theirs(copy);
    EXPECT_EQ(found("red"), ids_of(must(theirs.search("red", 10))));
    KnowledgeIndex known(copy);
    EXPECT_EQ(Ids{"d"}, ids_of(must(known.query("kite", 10))));
    // What is added since goes over, too.
    upsert({node("m4" + std::to_string(static_cast<int>(engine)), "a red barn")});
    must(copy_store(*store_, copy));
    EXPECT_EQ(found("red").size(), must(theirs.search("red", 10)).items.size());
  }
}

TEST_P(Memory, AClosedStoreSaysSo) {
  must(store_->close());
  EXPECT_EQ(Code::kInvalidArgument, code_of(memory_.search("x", 1)));
  EXPECT_EQ(Code::kInvalidArgument, code_of(memory_.upsert(std::vector{node("m", "x")})));
}

INSTANTIATE_TEST_SUITE_P(Engines, Memory,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
