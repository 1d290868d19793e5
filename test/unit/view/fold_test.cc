// What a row says of its log, and that it does not matter in how many steps it
// was read.
#include <gtest/gtest.h>

#include <random>

#include "quipu/runtime.h"
#include "view_world.h"

namespace quipu::test {
namespace {

class Fold : public testing::Test {
 protected:
  Fold() : store_(open_store("memory:", &clock_)) { make_session(store_, "s"); }

  SessionSummary summary() {
    const auto described = store_.sessions().describe_session("s");
    EXPECT_TRUE(described.ok());
    return described.ok() ? *described : SessionSummary();
  }

  StandingClock clock_;
  Store store_;
};

TEST_F(Fold, TitleIsWhatWasSaidLast) {
  EXPECT_EQ("", summary().title);
  append(store_, "s", {answer("r", 1), user("\\n  First line  \\nsecond")});
  EXPECT_EQ("First line", summary().title);
  append(store_, "s", {user("Another")});
  EXPECT_EQ("First line", summary().title);
  append(store_, "s", {entry_of("session_info", R"({"title":"Named"})")});
  EXPECT_EQ("Named", summary().title);
  append(store_, "s", {entry_of("session_info", R"({"tags":["a"]})")});
  EXPECT_EQ("Named", summary().title);
  append(store_, "s", {entry_of("session_info", R"({"title":""})")});
  EXPECT_EQ("First line", summary().title);
}

TEST_F(Fold, WhatIsSaidAboutASessionIsNoActivity) {
  NewEntry said = user("hi");
  said.timestamp = "2026-01-01T00:00:00.000Z";
  append(store_, "s", {said});
  const std::int64_t active = summary().last_active_ms;
  const std::string id = summary().head;
  append(store_, "s", {entry_of("session_info", R"({"title":"T","tags":["x"],"archived":true})")});
  append(store_, "s",
         {entry_of("label", R"({"targetEntryId":")" + id + R"(","label":"l"})"),
          entry_of("redaction", R"({"targetEntryId":")" + id + "\"}")});
  EXPECT_EQ("T", summary().title);
  EXPECT_EQ(active, summary().last_active_ms);
  append(store_, "s", {user("more")});
  EXPECT_LT(active, summary().last_active_ms);
}

TEST_F(Fold, LongTitlesAreCutBetweenCharacters) {
  std::string text = "x";
  for (int i = 0; i < 100; ++i) text += "ö";
  append(store_, "s", {user(text)});
  const std::string title = summary().title;
  EXPECT_EQ(text.substr(0, 99) + "…", title);
}

TEST_F(Fold, TitleFromPartsSkipsWhatIsNoText) {
  append(store_, "s",
         {entry_of("message", R"({"role":"user","content":[{"type":"tool_result","toolUseId":"t",)"
                              R"("content":"no"},{"type":"text","text":"yes"}]})")});
  EXPECT_EQ("yes", summary().title);
  EXPECT_EQ(1u, summary().counts.messages);
}

TEST_F(Fold, AnswersOfToolsAreNoMessages) {
  append(store_, "s",
         {user("one"), entry_of("message", R"({"role":"user","content":[{"type":"tool_result"}]})"),
          entry_of("message", R"({"role":"tool","content":"out"})"), answer("r", 1)});
  EXPECT_EQ(1u, summary().counts.messages);
}

TEST_F(Fold, ARepeatedRequestCountsOnceAndTheLastOneWins) {
  append(store_, "s", {answer("r1", 5), answer("r1", 7), answer("r2", 1), answer("r1", 9)});
  const SessionCounts counts = summary().counts;
  EXPECT_EQ(20u, counts.tokens_in);
  EXPECT_EQ(10u, counts.tokens_out);
  EXPECT_EQ(200'000'000, counts.cost_nano_usd);
  EXPECT_EQ("m", summary().model);
  EXPECT_EQ("p", summary().provider);
}

TEST_F(Fold, UsageFactsCountLikeMessages) {
  append(store_, "s",
         {entry_of("usage", R"({"tokensIn":3,"tokensOut":4,"cacheRead":5,"cacheWrite":6})"),
          entry_of("usage", R"({"requestId":"q","model":"m2","usage":{"tokensIn":100}})"),
          entry_of("usage", R"({"requestId":"q","usage":{"tokensIn":1}})"),
          entry_of("usage", R"({"tokensIn":-3,"tokensOut":"four","cacheRead":1e300})")});
  const SessionSummary said = summary();
  EXPECT_EQ(4u, said.counts.tokens_in);
  EXPECT_EQ(4u, said.counts.tokens_out);
  EXPECT_EQ(5u, said.counts.cache_read);
  EXPECT_EQ(6u, said.counts.cache_write);
  EXPECT_EQ("m2", said.model);
}

TEST_F(Fold, AResetStartsTheCountsAgainButNotTheTotals) {
  append(store_, "s", {user("a"), answer("r", 5), entry_of("context_reset", "{}")});
  EXPECT_EQ(SessionCounts(), summary().counts);
  EXPECT_EQ(5u, summary().totals.tokens_out);
  append(store_, "s", {answer("r", 8)});  // a repeat from before the reset
  EXPECT_EQ(8u, summary().counts.tokens_out);
  EXPECT_EQ(8u, summary().totals.tokens_out);
  EXPECT_EQ(1u, summary().totals.messages);
}

TEST_F(Fold, SessionInfoAndHeader) {
  append(store_, "s",
         {entry_of("session_info",
                   R"({"status":"terminated","archived":true,"tags":["a","b"],)"
                   R"("workingDirectory":"/w","sdkCwd":"/c","sdkSessionId":"x","projectId":"p2"})"),
          entry_of("model_change", R"({"provider":"q","model":"n"})")});
  const SessionSummary said = summary();
  EXPECT_EQ("terminated", said.status);
  EXPECT_TRUE(said.archived);
  EXPECT_EQ((std::vector<std::string>{"a", "b"}), said.tags);
  EXPECT_EQ("/w", said.working_directory);
  EXPECT_EQ("/c", said.sdk_cwd);
  EXPECT_EQ("x", said.sdk_session_id);
  EXPECT_EQ("p2", said.project_id);
  EXPECT_EQ("n", said.model);
  EXPECT_EQ("q", said.provider);
}

TEST_F(Fold, ARedactionTakesTheTitleBackAndLeavesTheCounts) {
  NewEntry secret = user("secret");
  secret.id = "u1";
  append(store_, "s", {secret, answer("r", 5)});
  ASSERT_TRUE(list_is_right(store_, 1));
  EXPECT_EQ("secret", summary().title);
  append(store_, "s", {entry_of("redaction", R"({"targetEntryId":"u1","reason":"x"})")});
  EXPECT_TRUE(list_is_right(store_, 1));
  EXPECT_EQ("", summary().title);
  EXPECT_EQ(5u, summary().counts.tokens_out);
  EXPECT_EQ(1u, summary().counts.messages);
}

TEST_F(Fold, AForkCountsItsOwnMessagesOnly) {
  NewEntry first = user("first");
  first.id = "u1";
  append(store_, "s", {first, answer("r", 5)});
  ForkOptions options;
  options.new_id = "f";
  ASSERT_TRUE(store_.sessions().branch_from_entry("s", "u1", options).ok());
  append(store_, "f", {user("mine")});
  const auto fork = store_.sessions().describe_session("f");
  ASSERT_TRUE(fork.ok());
  EXPECT_EQ("s", fork->parent_session);
  EXPECT_EQ(1u, fork->counts.messages);
  EXPECT_EQ(0u, fork->counts.tokens_out);
  EXPECT_EQ("mine", fork->title);
  EXPECT_TRUE(list_is_right(store_, 2));
}

// Random logs, listed at random moments by a catalogue that stays open and by
// ones that come and go: always the same as reading everything from the start.
TEST(SessionFold, TheListSaysWhatRuntimeSays) {
  const ScratchDir directory;
  Store store = open_store("file:" + directory.path());
  make_session(store, "s");
  Runtime runtime(store, "s");
  const auto listed = [&] { return store.sessions().list_sessions(kAllProjects)->items.at(0); };
  const auto agrees = [&] {
    const auto state = runtime.state();
    const SessionSummary summary = listed();
    return state.ok() && summary.processing == state->processing &&
           summary.generation == state->generation && summary.queued == state->queued.size() &&
           summary.pending == state->pending.size();
  };
  EXPECT_TRUE(agrees());
  const auto run = runtime.begin_run();
  ASSERT_TRUE(run.ok());
  ASSERT_TRUE(runtime.enqueue(R"({"role":"user","content":"one"})").ok());
  ASSERT_TRUE(runtime.enqueue(R"({"role":"user","content":"two"})").ok());
  ASSERT_TRUE(runtime.request_permission({.request_id = "p", .tool = "rm"}).ok());
  EXPECT_EQ(listed().queued, 2u);
  EXPECT_EQ(listed().pending, 1u);
  EXPECT_TRUE(listed().processing);
  EXPECT_TRUE(agrees());
  ASSERT_TRUE(runtime.dequeue_into().ok());
  ASSERT_TRUE(runtime.resolve_permission("p", "allow").ok());
  EXPECT_TRUE(agrees());
  ASSERT_TRUE(runtime.begin_run({.take_over = true}).ok());
  EXPECT_EQ(listed().generation, 2u);
  EXPECT_TRUE(agrees());
  EXPECT_FALSE(runtime.end_run(*run).ok());
  EXPECT_TRUE(listed().processing);
}

TEST(SessionFold, FlatLinesAreMessages) {
  const ScratchDir directory;
  Store store = open_store("file:" + directory.path());
  ASSERT_TRUE(store.sessions().create_session({.id = "s"}).ok());
  const NewEntry lines[] = {entry_of("user", R"({"content":"create hello.ts"})"),
                            entry_of("assistant", R"({"content":"done"})"),
                            entry_of("tool_result", R"({"toolCallId":"c","output":"o"})")};
  ASSERT_TRUE(store.sessions().append_session_entries("s", lines).ok());
  const SessionSummary listed = store.sessions().list_sessions(kAllProjects)->items.at(0);
  EXPECT_EQ(listed.counts.messages, 1u);
  EXPECT_EQ(listed.title, "create hello.ts");
}

class IncrementalIsFromScratch : public testing::TestWithParam<std::uint32_t> {
 protected:
  NewEntry random_entry(std::vector<std::string>& ids) {
    NewEntry entry;
    const auto number = std::to_string(random_() % 5);
    switch (random_() % 12) {
      case 0:
      case 1:
        entry = user("text " + number);
        break;
      case 2:
      case 3:
        entry = answer("r" + number, static_cast<int>(random_() % 100));
        break;
      case 4:
        entry =
            entry_of("usage", R"({"requestId":"u)" + number + R"(","tokensIn":)" + number + "}");
        break;
      case 5:
        entry = entry_of("session_info", R"({"title":")" + number + R"(","tags":[")" + number +
                                             R"("],"archived":)" +
                                             (random_() % 2 == 0 ? "true" : "false") + "}");
        break;
      case 6:
        entry = entry_of("model_change", R"({"model":"m)" + number + "\"}");
        break;
      case 7:
        entry = entry_of("context_reset", "{}");
        break;
      case 8:
        entry = random_() % 2 == 0 ? entry_of("run_start", R"({"generation":)" + number + "}")
                                   : entry_of("run_end", R"({"runId":"e)" + number + "\"}");
        break;
      case 9:
        entry = entry_of(random_() % 2 == 0 ? "queue_add" : "queue_remove",
                         R"({"queueId":"q)" + number + "\"}");
        break;
      case 10:
        entry = entry_of(random_() % 2 == 0 ? "permission_request" : "permission_resolve",
                         R"({"requestId":"p)" + number + "\"}");
        break;
      default:
        if (ids.empty()) return user("first");
        entry = entry_of("redaction", R"({"reason":"x","targetEntryId":")" +
                                          ids[random_() % ids.size()] + "\"}");
        return entry;
    }
    entry.id = "e" + std::to_string(next_++);
    if (entry.type == "message") ids.push_back(entry.id);
    return entry;
  }

  std::mt19937 random_{GetParam()};
  int next_ = 0;
};

TEST_P(IncrementalIsFromScratch, WhateverIsAppended) {
  const ScratchDir directory;
  const std::string url = "file:" + directory.path();
  Store lasting = open_store(url);
  std::map<std::string, std::vector<std::string>> sessions;
  for (int step = 0; step < 120; ++step) {
    if (sessions.empty() || (random_() % 10 == 0 && sessions.size() < 6)) {
      const std::string id = "s" + std::to_string(sessions.size());
      make_session(lasting, id);
      sessions[id];
    }
    auto& [id, ids] = *std::next(sessions.begin(), static_cast<long>(random_() % sessions.size()));
    std::vector<NewEntry> batch;
    std::vector<std::string> known = ids;  // a redaction names what is stored already
    for (std::uint32_t i = random_() % 4; i-- > 0;) batch.push_back(random_entry(known));
    if (batch.empty()) batch.push_back(user("more"));
    for (NewEntry& entry : batch) {
      if (entry.type == "redaction" && ids.empty()) entry = user("none yet");
    }
    const auto stored = lasting.sessions().append_session_entries(id, batch);
    if (stored.ok()) ids = known;
    if (random_() % 3 == 0) {
      ASSERT_TRUE(list_is_right(lasting, sessions.size())) << "step " << step;
    }
    if (random_() % 5 == 0) {
      Store fresh = open_store(url);
      ASSERT_TRUE(list_is_right(fresh, sessions.size())) << "step " << step;
    }
  }
  EXPECT_TRUE(list_is_right(lasting, sessions.size()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, IncrementalIsFromScratch, testing::Range(1u, 9u));

}  // namespace
}  // namespace quipu::test
