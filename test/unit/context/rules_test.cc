// The rules of docs/context.md, one by one.
#include <algorithm>

#include "talk.h"

namespace quipu {
namespace {

TEST(ContextRules, InterruptedCallsGetAResultThatSaysSo) {
  Talk talk;
  talk.user("u", "go");
  talk.call("c", "t1");
  const auto context = talk.context({.provider = Provider::kAnthropic});
  EXPECT_TRUE(has(context.request, "the call was interrupted"));
  const auto added = std::find_if(context.notes.begin(), context.notes.end(),
                                  [](const auto& note) { return note.verdict == Verdict::kAdded; });
  ASSERT_NE(added, context.notes.end());
  EXPECT_EQ(added->reason, "interrupted_call");
  EXPECT_EQ(added->entry_id, "c");
}

TEST(ContextRules, ALateResultStandsRightBehindItsCall) {
  Talk talk;
  talk.user("u", "go");
  talk.call("c", "t1");
  talk.user("u2", "are you there?");
  talk.result("r", "t1", "the output");
  EXPECT_EQ(talk.request(Provider::kOpenAiChat),
            R"({"messages":[{"role":"user","content":"go"},)"
            R"({"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function",)"
            R"("function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},)"
            R"({"role":"tool","tool_call_id":"t1","content":"the output"},)"
            R"({"role":"user","content":"are you there?"}]})");
}

TEST(ContextRules, AResultWithoutItsCallIsLeftOut) {
  Talk talk;
  talk.user("u", "go");
  talk.result("r", "nobody", "stray");
  const auto context = talk.context({.provider = Provider::kAnthropic});
  EXPECT_FALSE(has(context.request, "stray"));
  EXPECT_EQ(Talk::verdict(context, "r"), "dropped: no_such_call");
}

TEST(ContextRules, CallsWithoutIdsAreAnsweredInTheirOrder) {
  Talk talk;
  talk.user("u1", "go");
  talk.call("a1", "", "read");
  talk.call("a2", "", "write");
  talk.result("t1", "", "first");
  talk.result("t2", "", "second");
  talk.result("t3", "", "of no call");
  const quipu::Context context = talk.context();
  const std::string& request = context.request;
  EXPECT_LT(request.find("first"), request.find("second"));
  EXPECT_FALSE(has(request, "No result"));
  EXPECT_EQ(Talk::verdict(context, "t3"), "dropped: no_such_call");
}

TEST(ContextRules, TheSameIdTwiceBecomesTwoIds) {
  Talk talk;
  talk.user("u", "go");
  talk.call("c1", "t");
  talk.result("r1", "t", "first");
  talk.call("c2", "t");
  talk.result("r2", "t", "second");
  const std::string request = talk.request();
  EXPECT_TRUE(has(request, R"("tool_use_id":"t","content":"first")"));
  EXPECT_TRUE(has(request, R"("tool_use_id":"t_2","content":"second")"));
}

TEST(ContextRules, ParallelCallsWrittenAsEntriesOfTheirOwn) {
  Talk talk;
  talk.user("u", "go");
  talk.call("c1", "a");
  talk.call("c2", "b");
  talk.result("r2", "b", "two");
  talk.result("r1", "a", "one");
  const std::string request = talk.request();
  EXPECT_TRUE(
      has(request, R"("tool_use_id":"a","content":"one"},{"type":"tool_result","tool_use_id":"b")"))
      << request;
}

TEST(ContextRules, ReasoningGoesBackOnlyToWhoSignedIt) {
  Talk talk;
  talk.user("u", "go");
  talk.add("a", "message",
           R"({"role":"assistant","provider":"anthropic","model":"m1","content":[)"
           R"({"type":"thinking","text":"secret thoughts","signature":"c2ln"},)"
           R"({"type":"text","text":"hello"}]})");
  talk.user("u2", "on");
  const auto in = [&](Provider provider, const std::string& model) {
    return has(talk.context({.provider = provider, .model = model}).request, "secret thoughts");
  };
  EXPECT_TRUE(in(Provider::kAnthropic, "m1"));
  EXPECT_TRUE(in(Provider::kAnthropic, ""));  // the model that answered last
  EXPECT_FALSE(in(Provider::kAnthropic, "m2"));
  EXPECT_FALSE(in(Provider::kOpenAiResponses, "m1"));
  EXPECT_FALSE(in(Provider::kGemini, "m1"));
  EXPECT_TRUE(in(Provider::kQuipu, ""));
  const auto context = talk.context({.provider = Provider::kAnthropic, .model = "m2"});
  EXPECT_EQ(Talk::verdict(context, "a"), "shortened: reasoning_of_another_model");
}

TEST(ContextRules, DetailsAndStatusAreForAScreen) {
  Talk talk;
  talk.user("u", "go");
  talk.call("c", "t");
  talk.add("r", "message",
           R"({"role":"tool","content":[{"type":"tool_result","toolUseId":"t","content":"out",)"
           R"("details":{"diff":"for eyes only"}},{"type":"status","status":"for eyes only"}]})");
  for (const Provider provider : {Provider::kQuipu, Provider::kAnthropic, Provider::kGemini}) {
    EXPECT_FALSE(has(talk.request(provider), "for eyes only")) << name(provider);
  }
}

TEST(ContextRules, SystemPromptsComeFirstLaterOnesStayWhereTheyAre) {
  Talk talk;
  talk.add("i", "runtime_init", R"({"systemPrompt":"old rules"})");
  talk.add("m", "message", R"({"role":"system","content":"be kind"})");
  talk.user("u", "go");
  talk.add("o", "system_prompt_override", R"({"systemPrompt":"new rules"})");
  talk.add("m2", "message", R"({"role":"system","content":"time is short"})");
  EXPECT_EQ(talk.request(),
            R"({"system":"new rules\n\nbe kind","messages":[{"role":"user","content":[)"
            R"({"type":"text","text":"go"},)"
            R"({"type":"text","text":"<system>\ntime is short\n</system>"}]}]})");
}

TEST(ContextRules, EditsReplaceAndLeaveOut) {
  Talk talk;
  talk.user("u", "my password is hunter2");
  talk.call("c", "t");
  talk.result("r", "t", "a very long output");
  talk.user("u2", "noise");
  ASSERT_TRUE(edit_context(talk.store, "s", "u", "\"my password is …\"").ok());
  ASSERT_TRUE(edit_context(talk.store, "s", "r", "\"short\"").ok());
  ASSERT_TRUE(edit_context(talk.store, "s", "u2", "null").ok());
  const auto context = talk.context({.provider = Provider::kAnthropic});
  EXPECT_FALSE(has(context.request, "hunter2"));
  EXPECT_TRUE(has(context.request, R"("tool_use_id":"t","content":"short")"));
  EXPECT_FALSE(has(context.request, "noise"));
  EXPECT_EQ(Talk::verdict(context, "u"), "replaced: edited");
  EXPECT_EQ(Talk::verdict(context, "u2"), "dropped: edited");
}

TEST(ContextRules, EditsOfTheSameEntryTheLastCountsAndEachCanBeTakenBack) {
  Talk talk;
  talk.user("u", "zero");
  ASSERT_TRUE(edit_context(talk.store, "s", "u", "\"one\"").ok());
  const auto two = edit_context(talk.store, "s", "u", "\"two\"");
  ASSERT_TRUE(two.ok());
  EXPECT_TRUE(has(talk.request(), "two"));
  ASSERT_TRUE(lift_compaction(talk.store, "s", *two).ok());
  EXPECT_TRUE(has(talk.request(), "one"));
}

TEST(ContextRules, ARedactedEntryIsGoneWhateverItWas) {
  Talk talk;
  talk.user("u", "go");
  talk.call("c", "t", "read", R"({"path":"/secret"})");
  talk.result("r", "t", "the key");
  talk.add("x", "redaction", R"({"targetEntryId":"c","reason":"secret"})");
  const auto context = talk.context({.provider = Provider::kAnthropic});
  EXPECT_FALSE(has(context.request, "secret"));
  EXPECT_FALSE(has(context.request, "the key"));  // an answer without its question
  EXPECT_EQ(Talk::verdict(context, "c"), "dropped: redacted");
}

TEST(ContextRules, ARedactedMessageDoesNotComeBackAsItsStream) {
  Talk talk;
  talk.user("u", "go");
  talk.add("d", "message_delta_batch",
           R"({"streamId":"s1","deltas":[{"type":"text","text":"the key"}]})");
  talk.add("a", "message", R"({"role":"assistant","streamId":"s1","content":"the key"})");
  talk.add("x", "redaction", R"({"targetEntryId":"a","reason":"secret"})");
  EXPECT_FALSE(has(talk.request(), "the key"));
}

TEST(ContextRules, AStreamIsFoldedIntoItsMessageOrKeptWhenItWasCutOff) {
  Talk talk;
  talk.user("u", "go");
  talk.add("d1", "message_delta_batch", R"({"streamId":"s1","seq":0,"status":"streaming"})");
  talk.add("d2", "message_delta_batch",
           R"({"streamId":"s1","seq":1,"deltas":[{"type":"text","text":"half an ans"}]})");
  EXPECT_TRUE(has(talk.request(), "half an ans"));
  EXPECT_EQ(Talk::verdict(talk.context(), "d2"), "kept: interrupted");
  talk.add("a", "message", R"({"role":"assistant","streamId":"s1","content":"the whole answer"})");
  EXPECT_FALSE(has(talk.request(), "half an ans"));
  EXPECT_TRUE(has(talk.request(), "the whole answer"));
  EXPECT_EQ(Talk::verdict(talk.context(), "d2"), "replaced: folded");
}

TEST(ContextRules, AResetStartsAgainButKeepsTheSystemPrompt) {
  Talk talk;
  talk.add("i", "runtime_init", R"({"systemPrompt":"rules"})");
  talk.user("u", "old");
  talk.add("z", "context_reset", "{}");
  talk.user("u2", "new");
  EXPECT_EQ(talk.request(), R"({"system":"rules","messages":[{"role":"user","content":[)"
                            R"({"type":"text","text":"new"}]}]})");
}

TEST(ContextRules, WhoSpeaksFirstAndLast) {
  Talk talk;
  talk.assistant("a", "welcome");
  const std::string request = talk.request();
  EXPECT_TRUE(has(request, "[The assistant speaks first.]"));
  EXPECT_TRUE(has(request, "Go on from where you stopped."));
  EXPECT_FALSE(has(talk.request(Provider::kOpenAiChat), "Go on"));
  const auto open = talk.context({.provider = Provider::kAnthropic, .open_ended = true});
  EXPECT_FALSE(has(open.request, "Go on"));
}

TEST(ContextRules, UnknownTypesAndPartsAreKeptInTheLogAndOutOfTheRequest) {
  Talk talk;
  talk.user("u", "go");
  talk.add("x", "hologram", R"({"content":"shiny"})");
  talk.add("m", "message", R"({"role":"user","content":[{"type":"hologram","text":"shiny"}]})");
  const auto context = talk.context({.provider = Provider::kAnthropic});
  EXPECT_FALSE(has(context.request, "shiny"));
  EXPECT_EQ(Talk::verdict(context, "x"), "dropped: no_message");
  EXPECT_EQ(Talk::verdict(context, "m"), "dropped: unknown_part");
}

TEST(ContextRules, FlatLinesOfOlderLogsAreUnderstood) {
  Talk talk;
  talk.add("1", "user", R"({"id":"1","type":"user","content":"create hello.ts"})");
  talk.add(
      "2", "assistant",
      R"({"content":"I will","toolCalls":[{"id":"call-1","name":"write","params":{"path":"h"}}]})");
  talk.add("3", "tool", R"({"name":"write","params":{"path":"h"},"toolCallId":"call-1"})");
  talk.add("4", "tool_result",
           R"({"toolCallId":"call-1","output":"done","details":{"bytes":2},"success":true})");
  EXPECT_EQ(
      talk.request(Provider::kOpenAiChat),
      R"({"messages":[{"role":"user","content":"create hello.ts"},)"
      R"({"role":"assistant","content":"I will","tool_calls":[{"id":"call-1","type":"function",)"
      R"("function":{"name":"write","arguments":"{\"path\":\"h\"}"}}]},)"
      R"({"role":"tool","tool_call_id":"call-1","content":"done"}]})");
}

TEST(ContextRules, ACompactionThatKeepsWhatIsOnAnotherBranchKeepsNothing) {
  Talk talk;
  talk.user("root", "root");
  talk.user("elsewhere", "on another branch", Parent::of("root"));
  talk.user("here", "on this branch", Parent::of("root"));
  talk.add("h", "head", R"({"entryId":"here"})");
  talk.assistant("a", "an answer");
  talk.add("c", "compaction_summary", R"({"summary":"SHORT","firstKeptEntryId":"elsewhere"})");
  talk.user("u", "go on");
  const auto context = talk.context({.provider = Provider::kAnthropic});
  EXPECT_TRUE(has(context.request, "SHORT"));
  EXPECT_FALSE(has(context.request, "branch"));
  EXPECT_FALSE(has(context.request, "an answer"));
  EXPECT_TRUE(has(context.request, "go on"));
}

TEST(ContextRules, AnOldPlaceGivesTheContextAsItWasThere) {
  Talk talk;
  talk.user("u1", "one");
  talk.assistant("a1", "answer");
  talk.user("u2", "two");
  const auto context = talk.context({.head = "u1", .provider = Provider::kAnthropic});
  EXPECT_TRUE(has(context.request, "one"));
  EXPECT_FALSE(has(context.request, "two"));
  EXPECT_EQ(context.head, "u1");
}

TEST(ContextRules, ErrorsNameWhatIsWrong) {
  Talk talk;
  talk.user("u", "go");
  const auto code = [&](const std::string& session, const std::string& head) {
    const auto built = build_context(talk.store, session, {.head = head});
    return built.ok() ? "" : std::string(name(built.error().code()));
  };
  EXPECT_EQ(code("nobody", ""), "not_found");
  EXPECT_EQ(code("../x", ""), "invalid_argument");
  EXPECT_EQ(code("s", "nowhere"), "not_found");
  talk.add("l", "label", R"({"targetEntryId":"u","label":"here"})");
  EXPECT_EQ(code("s", "l"), "invalid_argument");
}

TEST(ContextRules, ASessionWithoutMessagesHasNothingToSend) {
  Talk talk;
  const auto context = talk.context({.provider = Provider::kAnthropic});
  EXPECT_EQ(context.messages, 0U);
  EXPECT_EQ(context.request, R"({"messages":[]})");
}

}  // namespace
}  // namespace quipu
