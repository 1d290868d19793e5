// Filters and pages of SessionStore::list_sessions.
#include <gtest/gtest.h>

#include "view_world.h"

namespace quipu::test {
namespace {

using Ids = std::vector<std::string>;

Ids ids_of(const Page<SessionSummary>& page) {
  Ids ids;
  for (const auto& session : page.items) ids.push_back(session.session_id);
  return ids;
}

class Filters : public testing::Test {
 protected:
  Filters() : store_(open_store("memory:")) {}

  // Active at this many seconds after the epoch.
  void make(const std::string& id, int seconds, const std::string& project = {},
            const std::string& agent = {}) {
    NewSession session;
    session.id = id;
    session.project_id = project;
    session.agent_id = agent;
    session.title = "Title of " + id;
    ASSERT_TRUE(store_.sessions().create_session(session).ok());
    NewEntry entry = user("hi");
    entry.timestamp = "1970-01-01T00:0" + std::to_string(seconds / 60) + ":" +
                      (seconds % 60 < 10 ? "0" : "") + std::to_string(seconds % 60) + "Z";
    append(store_, id, {entry});
  }

  Ids list(const SessionFilter& filter) {
    const auto page = store_.sessions().list_sessions(filter, kEverything);
    EXPECT_TRUE(page.ok());
    return page.ok() ? ids_of(*page) : Ids{"!"};
  }

  Store store_;
};

TEST_F(Filters, NewestFirstThenById) {
  make("b", 10);
  make("a", 10);
  make("c", 20);
  make("d", 5);
  EXPECT_EQ((Ids{"c", "a", "b", "d"}), list(kAllProjects));
}

TEST_F(Filters, PartsOfOthersAreLeftOutWhileTheOthersAreThere) {
  const auto source = [&](const std::string& id, const std::string& more) {
    append(store_, id, {entry_of("fact.quipu.source", R"({"path":"/)" + id + "\"" + more + "}")});
  };
  make("claude.main", 10, {}, "claude");
  make("claude.helper", 20, {}, "claude");
  source("claude.helper", R"(,"spawnedBy":"main")");
  make("claude.orphan", 30, {}, "claude");
  source("claude.orphan", R"(,"spawnedBy":"gone")");
  make("claude.sdk", 40, {}, "claude");
  source("claude.sdk", "");
  make("chat", 50, {}, "craft");
  append(store_, "chat", {entry_of("session_info", R"({"sdkSessionId":"sdk"})")});
  SessionFilter whole = kAllProjects;
  whole.whole_only = true;
  EXPECT_EQ((Ids{"claude.orphan", "chat", "claude.main"}), list(whole));
  EXPECT_EQ(5u, list(kAllProjects).size());
  const auto described = store_.sessions().describe_session("chat");
  ASSERT_TRUE(described.ok());
  EXPECT_EQ("claude.sdk", described->model_session);
  EXPECT_EQ("/claude.sdk", described->model_source);
  const auto page = store_.sessions().list_sessions(whole, kEverything);
  ASSERT_TRUE(page.ok());
  EXPECT_EQ("claude.sdk", page->items[1].model_session);
  EXPECT_EQ("/claude.sdk", page->items[1].model_source);
}

TEST_F(Filters, OfACircleEverybodyIsShown) {
  for (const char* id : {"claude.a", "claude.b", "claude.c"}) make(id, 10, {}, "claude");
  const auto made_by = [&](const std::string& id, const std::string& parent) {
    append(store_, id,
           {entry_of("fact.quipu.source", R"({"path":"/x","spawnedBy":")" + parent + "\"}")});
  };
  made_by("claude.a", "b");
  made_by("claude.b", "a");
  made_by("claude.c", "c");
  SessionFilter whole = kAllProjects;
  whole.whole_only = true;
  EXPECT_EQ(3u, list(whole).size());
}

TEST_F(Filters, EachMustHold) {
  make("a", 10, "p", "x");
  make("b", 20, "p", "y");
  make("c", 30, "q", "x");
  make("d", 40);
  EXPECT_EQ((Ids{"b", "a"}), list({.project = ProjectScope::of("p")}));
  EXPECT_EQ((Ids{"d"}), list({.project = ProjectScope::none()}));
  EXPECT_EQ((Ids{"a"}), list({.project = ProjectScope::of("p"), .agent = "x"}));
  EXPECT_EQ((Ids{"c"}), list({.project = ProjectScope::all(), .title_contains = "TITLE OF C"}));
  EXPECT_EQ((Ids{"c", "b"}),
            list({.project = ProjectScope::all(), .since_ms = 20'000, .until_ms = 40'000}));
  append(store_, "a", {entry_of("session_info", R"({"tags":["t","u"],"archived":true})")});
  append(store_, "b", {entry_of("session_info", R"({"status":"terminated"})")});
  EXPECT_EQ((Ids{"a"}), list({.project = ProjectScope::all(), .tag = "u"}));
  EXPECT_EQ((Ids{}), list({.project = ProjectScope::all(), .tag = "x"}));
  EXPECT_EQ((Ids{"a"}), list({.project = ProjectScope::all(), .archived = true}));
  EXPECT_EQ((Ids{"b"}), list({.project = ProjectScope::all(), .status = "terminated"}));
  EXPECT_EQ(3u, list({.project = ProjectScope::all(), .archived = false}).size());
  EXPECT_EQ(3u, list({.project = ProjectScope::all(), .status = "active"}).size());
}

TEST_F(Filters, ParentNamesForks) {
  make("a", 10);
  const auto ends = store_.sessions().session_ends("a");
  ForkOptions options;
  options.new_id = "f";
  ASSERT_TRUE(store_.sessions().branch_from_entry("a", ends->head, options).ok());
  EXPECT_EQ((Ids{"f"}), list({.project = ProjectScope::all(), .parent = "a"}));
  EXPECT_EQ((Ids{"a"}), list({.project = ProjectScope::all(), .parent = ""}));
}

TEST_F(Filters, PagesNeitherSkipNorRepeat) {
  for (int i = 0; i < 23; ++i) make("s" + std::to_string(i), i / 4, i % 2 == 0 ? "p" : "q");
  for (const std::size_t limit : {1u, 2u, 5u, 11u, 12u, 100u}) {
    Ids seen;
    PageRequest request{.after = {}, .limit = limit};
    for (int pages = 0; pages < 100; ++pages) {
      const auto page =
          store_.sessions().list_sessions({.project = ProjectScope::of("p")}, request);
      ASSERT_TRUE(page.ok());
      EXPECT_EQ(12u, page->total);
      EXPECT_LE(page->items.size(), limit);
      for (const auto& id : ids_of(*page)) seen.push_back(id);
      if (page->next.empty()) break;
      request.after = page->next;
    }
    EXPECT_EQ(list({.project = ProjectScope::of("p")}), seen) << "limit " << limit;
  }
}

TEST_F(Filters, APageGoesOnWhereItsLastSessionWasEvenIfThatMoved) {
  for (int i = 0; i < 4; ++i) make("s" + std::to_string(i), i);
  const auto first = store_.sessions().list_sessions(kAllProjects, {.after = {}, .limit = 2});
  ASSERT_EQ((Ids{"s3", "s2"}), ids_of(*first));
  append(store_, "s2", {user("now")});
  const auto second =
      store_.sessions().list_sessions(kAllProjects, {.after = first->next, .limit = 2});
  EXPECT_EQ((Ids{"s1", "s0"}), ids_of(*second));
}

TEST_F(Filters, NoItemsButTheTotal) {
  make("a", 1);
  const auto page = store_.sessions().list_sessions(kAllProjects, {.after = {}, .limit = 0});
  ASSERT_TRUE(page.ok());
  EXPECT_TRUE(page->items.empty());
  EXPECT_EQ(1u, page->total);
}

TEST_F(Filters, ACursorThatIsNoneIsRefused) {
  make("a", 1);
  for (const char* cursor : {"x", "12", "12.", ".a", "12.a/b", "12.a ", "99999999999999999999.a"}) {
    const auto page = store_.sessions().list_sessions(kAllProjects, {.after = cursor});
    ASSERT_FALSE(page.ok()) << cursor;
    EXPECT_EQ(Code::kInvalidArgument, page.error().code());
  }
}

}  // namespace
}  // namespace quipu::test
