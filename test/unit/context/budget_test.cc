// Requests that must fit, and compactions.
#include <algorithm>

#include "talk.h"

namespace quipu {
namespace {

// Turns of a question, a call with a long output, and an answer.
void fill(Talk& talk, int turns, std::size_t output) {
  for (int i = 0; i < turns; ++i) {
    const std::string n = std::to_string(i);
    talk.user("u" + n, "question " + n);
    talk.call("c" + n, "t" + n);
    talk.result("r" + n, "t" + n, "output " + n + " " + std::string(output, 'x'));
    talk.assistant("a" + n, "answer " + n);
  }
  talk.user("last", "the last question");
}

std::size_t count(const quipu::Context& context, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(context.notes.begin(), context.notes.end(),
                    [&](const ContextNote& note) { return note.verdict == verdict; }));
}

TEST(ContextBudget, OldOutputsAreShortenedBeforeTurnsAreDropped) {
  Talk talk;
  fill(talk, 20, 4000);
  const auto whole = talk.context({.provider = Provider::kAnthropic});
  const auto fitted =
      talk.context({.provider = Provider::kAnthropic, .budget_tokens = whole.tokens / 2});
  EXPECT_LE(fitted.tokens, whole.tokens / 2);
  EXPECT_GT(count(fitted, Verdict::kShortened), 0U);
  EXPECT_EQ(count(fitted, Verdict::kDropped), 0U);
  EXPECT_TRUE(has(fitted.request, "bytes left out"));
  EXPECT_TRUE(has(fitted.request, "question 0"));
  EXPECT_TRUE(has(fitted.request, "output 19 " + std::string(4000, 'x')));  // the newest stay
}

TEST(ContextBudget, WholeTurnsAreDroppedAndTheRequestSaysSo) {
  Talk talk;
  fill(talk, 100, 10);
  const auto whole = talk.context({.provider = Provider::kAnthropic});
  const auto fitted =
      talk.context({.provider = Provider::kAnthropic, .budget_tokens = whole.tokens / 2});
  EXPECT_LE(fitted.tokens, whole.tokens / 2);
  EXPECT_TRUE(has(fitted.request, "question 0"));  // what was asked first
  EXPECT_FALSE(has(fitted.request, "question 1\""));
  EXPECT_TRUE(has(fitted.request, "earlier messages of this conversation are left out"));
  EXPECT_TRUE(has(fitted.request, "the last question"));
  EXPECT_EQ(Talk::verdict(fitted, "u0"), "kept: first_request");
  EXPECT_EQ(Talk::verdict(fitted, "u1"), "dropped: over_budget");
}

TEST(ContextBudget, MessagesInARowAreCutBetween) {
  Talk talk;
  for (int i = 0; i < 200; ++i) {
    talk.user("u" + std::to_string(i), "remark " + std::to_string(i) + std::string(400, '.'));
  }
  const ContextOptions options{.provider = Provider::kAnthropic, .budget_tokens = 3000};
  const auto unanswered = talk.context(options);
  EXPECT_LE(unanswered.tokens, 3000U);
  EXPECT_EQ(Talk::verdict(unanswered, "u0"), "kept: first_request");
  EXPECT_EQ(Talk::verdict(unanswered, "u100"), "dropped: over_budget");
  EXPECT_EQ(Talk::verdict(unanswered, "u199"), "kept");
  const auto left_out = count(unanswered, Verdict::kDropped);
  EXPECT_TRUE(has(unanswered.request, "[" + std::to_string(left_out) + " earlier messages"));

  talk.assistant("a", "all read");
  talk.user("last", "so?");
  const auto answered = talk.context(options);
  EXPECT_LE(answered.tokens, 3000U);
  EXPECT_EQ(Talk::verdict(answered, "u199"), "kept") << "with its answer";
  EXPECT_EQ(Talk::verdict(answered, "a"), "kept");
}

TEST(ContextBudget, TheFirstRequestGivesWayToTheNewestWords) {
  Talk talk;
  talk.user("u0", std::string(800, 'a'));
  talk.assistant("a0", "ok");
  talk.user("u1", std::string(2800, 'b'));
  const auto fitted = talk.context({.provider = Provider::kAnthropic, .budget_tokens = 1000});
  EXPECT_EQ(Talk::verdict(fitted, "u0"), "dropped: over_budget");
  EXPECT_EQ(Talk::verdict(fitted, "u1"), "kept");
}

TEST(ContextBudget, TheBeginningStaysTheSameWhileTheConversationGrows) {
  Talk talk;
  fill(talk, 60, 400);
  const ContextOptions options{.provider = Provider::kAnthropic, .budget_tokens = 5000};
  std::string before = talk.context(options).request;
  int changes = 0;
  for (int i = 100; i < 130; ++i) {
    talk.assistant("a" + std::to_string(i), "answer");
    talk.user("u" + std::to_string(i), "question");
    const std::string now = talk.context(options).request;
    // Without the closing brackets, what was sent is what is sent.
    if (!now.starts_with(before.substr(0, before.size() - 4))) ++changes;
    before = now;
  }
  EXPECT_LE(changes, 1);
}

TEST(ContextBudget, WithoutALimitALongerConversationBeginsWithTheShorterOne) {
  Talk talk;
  fill(talk, 5, 10);
  std::string before = talk.request();
  for (int i = 100; i < 110; ++i) {
    talk.assistant("a" + std::to_string(i), "answer");
    talk.user("u" + std::to_string(i), "question");
    const std::string now = talk.request();
    EXPECT_TRUE(now.starts_with(before.substr(0, before.size() - 4)));
    before = now;
  }
}

TEST(ContextBudget, WhatProvidersReportedIsBelieved) {
  Talk talk;
  talk.user("u", std::string(4000, 'x'));
  const auto estimated = talk.context().tokens;
  talk.add("a", "message",
           R"({"role":"assistant","content":"ok","usage":{"tokensIn":)" +
               std::to_string(estimated * 2) + R"(,"tokensOut":1}})");
  EXPECT_GT(talk.context().tokens, estimated * 3 / 2);
}

TEST(ContextBudget, ReportsFromBeforeACompactionAreAboutSomethingElse) {
  Talk talk;
  talk.user("u", "go");
  talk.add("a", "message",
           R"({"role":"assistant","content":"ok","usage":{"tokensIn":900000,"tokensOut":1}})");
  talk.user("u2", std::string(4000, 'x'));
  talk.add("c", "compaction_summary", R"({"summary":"SHORT","firstKeptEntryId":"a"})");
  EXPECT_LT(talk.context().tokens, 1300U);
}

TEST(ContextBudget, WhatCannotFitIsAnErrorThatSaysHowMuchItTakes) {
  Talk talk;
  talk.user("u", "go");
  const auto built = build_context(talk.store, "s", {.budget_tokens = 1});
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().code(), Code::kTooLarge);
  EXPECT_TRUE(has(built.error().message(), "the budget is 1"));
}

Summarizer saying(const std::string& summary, CompactionInput* seen = nullptr) {
  return [=](const CompactionInput& input) -> Result<std::string> {
    if (seen != nullptr) *seen = input;
    return summary;
  };
}

TEST(Compaction, ASummaryStandsForTheOldPartAndCanBeTakenBack) {
  Talk talk;
  talk.add("i", "runtime_init", R"({"systemPrompt":"rules"})");
  fill(talk, 10, 100);
  const std::string before = talk.request();
  CompactionInput seen;
  const auto done =
      compact(talk.store, "s", {.keep_tokens = 200, .summarizer = saying("IN SHORT", &seen)});
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_FALSE(done->entry_id.empty());
  EXPECT_LT(done->tokens_after, done->tokens_before);
  EXPECT_EQ(done->files_read, std::vector<std::string>{"a"});
  EXPECT_TRUE(has(seen.transcript, "User: question 0"));
  EXPECT_TRUE(has(seen.transcript, "Result of read: output 0"));
  EXPECT_FALSE(has(seen.transcript, "the last question"));

  const auto after = talk.context({.provider = Provider::kAnthropic});
  EXPECT_TRUE(has(after.request, "IN SHORT"));
  EXPECT_TRUE(has(after.request, R"("system":"rules")"));
  EXPECT_FALSE(has(after.request, "question 0"));
  EXPECT_TRUE(has(after.request, "the last question"));
  EXPECT_EQ(after.compaction_entry_id, done->entry_id);
  EXPECT_EQ(after.covered_entries, done->covered_entries);
  EXPECT_EQ(Talk::verdict(after, "u0"), "not looked at");
  EXPECT_TRUE(has(talk.context({.full = true}).request, "question 0"));

  ASSERT_TRUE(lift_compaction(talk.store, "s").ok());
  EXPECT_EQ(talk.request(), before);
  EXPECT_EQ(lift_compaction(talk.store, "s").error().code(), Code::kNotFound);
}

TEST(Compaction, TheNextOneTakesTheLastSummaryUp) {
  Talk talk;
  fill(talk, 6, 10);
  ASSERT_TRUE(compact(talk.store, "s", {.keep_tokens = 60, .summarizer = saying("FIRST")}).ok());
  for (int i = 50; i < 60; ++i) {
    talk.assistant("a" + std::to_string(i), "more");
    talk.user("u" + std::to_string(i), "and more");
  }
  CompactionInput seen;
  ASSERT_TRUE(
      compact(talk.store, "s", {.keep_tokens = 30, .summarizer = saying("SECOND", &seen)}).ok());
  EXPECT_EQ(seen.previous_summary, "FIRST");
  const std::string request = talk.request();
  EXPECT_TRUE(has(request, "SECOND"));
  EXPECT_FALSE(has(request, "FIRST"));
}

TEST(Compaction, NeverSeparatesACallFromItsResult) {
  for (std::uint64_t keep = 0; keep < 400; keep += 7) {
    Talk talk;
    talk.user("u", "go");
    talk.call("c1", "t1");
    talk.call("c2", "t2");
    talk.result("r1", "t1", std::string(200, 'a'));
    talk.user("w", "waiting");
    talk.result("r2", "t2", std::string(200, 'b'));  // late
    talk.assistant("a", "done");
    talk.user("u2", "next");
    const auto done = compact(talk.store, "s", {.keep_tokens = keep, .summarizer = saying("S")});
    ASSERT_TRUE(done.ok());
    const auto context = talk.context({.provider = Provider::kAnthropic});
    for (const ContextNote& note : context.notes) {
      EXPECT_NE(note.reason, "no_such_call") << "keep " << keep << ", " << note.entry_id;
      EXPECT_NE(note.reason, "interrupted_call") << "keep " << keep << ", " << note.entry_id;
    }
  }
}

TEST(Compaction, WithoutASummarizerOnlyToolOutputsAreShortened) {
  Talk talk;
  fill(talk, 10, 5000);
  const auto done = compact(talk.store, "s", {.keep_tokens = 500});
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->entry_id.empty());
  EXPECT_GT(done->pruned_outputs, 5U);
  EXPECT_LT(done->tokens_after, done->tokens_before);
  const auto context = talk.context({.provider = Provider::kAnthropic});
  EXPECT_TRUE(has(context.request, "question 0"));
  EXPECT_EQ(Talk::verdict(context, "r0"), "replaced: edited");
  // The log still has all of it.
  EXPECT_TRUE(
      has(talk.store.sessions().load_session_entries("s")->at(3).payload, std::string(5000, 'x')));
}

TEST(Compaction, ManyMessagesOfAUserInARowCanBeCut) {
  Talk talk;
  for (int i = 0; i < 50; ++i) talk.user("u" + std::to_string(i), "message " + std::to_string(i));
  const auto done = compact(talk.store, "s", {.keep_tokens = 20, .summarizer = saying("SHORT")});
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_FALSE(done->entry_id.empty());
  const std::string request = talk.request();
  EXPECT_FALSE(has(request, "message 0\""));
  EXPECT_TRUE(has(request, "message 49"));
}

TEST(Compaction, NothingToGainWritesNothing) {
  Talk talk;
  talk.user("u", "go");
  const auto done = compact(talk.store, "s", {.keep_tokens = 1000, .summarizer = saying("S")});
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->entry_id.empty());
  EXPECT_EQ(talk.store.sessions().describe_session("s")->entries, 2U);
}

TEST(Compaction, WhatTheSummarizerRefusesWritesNothing) {
  Talk talk;
  fill(talk, 5, 10);
  const auto entries = talk.store.sessions().describe_session("s")->entries;
  const auto failed = compact(
      talk.store, "s", {.keep_tokens = 10, .summarizer = [](const auto&) -> Result<std::string> {
                          return Error(Code::kBusy, "the model is asleep");
                        }});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::kBusy);
  EXPECT_EQ(
      compact(talk.store, "s", {.keep_tokens = 10, .summarizer = saying(" \n")}).error().code(),
      Code::kInvalidArgument);
  EXPECT_EQ(talk.store.sessions().describe_session("s")->entries, entries);
}

TEST(Compaction, ASessionThatWentOnMeanwhileIsNotCompactedBehindItsBack) {
  Talk talk;
  fill(talk, 5, 10);
  const auto raced = compact(
      talk.store, "s", {.keep_tokens = 10, .summarizer = [&](const auto&) -> Result<std::string> {
                          talk.assistant("meanwhile", "more");
                          return std::string("S");
                        }});
  ASSERT_FALSE(raced.ok());
  EXPECT_EQ(raced.error().code(), Code::kHeadMoved);
}

}  // namespace
}  // namespace quipu
