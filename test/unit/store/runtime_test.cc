// Runtime state: runs and fences, queue, permissions, what was cut off.
#include <gmock/gmock.h>

#include "support/agent_store.h"

namespace quipu::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kHello = R"({"role":"user","content":"hello"})";
constexpr std::string_view kBye = R"({"role":"user","content":"bye"})";

class RuntimeTest : public AgentStore {
 protected:
  void append(std::vector<NewEntry> entries) {
    must(sessions().append_session_entries(session_, entries));
  }
  std::vector<std::string> queue() {
    std::vector<std::string> ids;
    for (const QueuedMessage& queued : must(runtime_.queued())) ids.push_back(queued.queue_id);
    return ids;
  }
  /// kind:id:next
  static std::vector<std::string> shown(const Recovery& recovery) {
    std::vector<std::string> all;
    for (const CutOff& one : recovery.cut_off)
      all.push_back(one.kind + ":" + one.id + ":" + one.next);
    return all;
  }

  std::string session_ = new_session();
  Runtime runtime_{*store_, session_};
};

TEST_P(RuntimeTest, ARunBeginsAndEnds) {
  const RuntimeState idle = must(runtime_.state());
  EXPECT_FALSE(idle.processing);
  EXPECT_EQ(0u, idle.generation);
  const quipu::Run run = must(runtime_.begin_run({.agent_id = "a1"}));
  EXPECT_EQ(1u, run.generation);
  RuntimeState state = must(runtime_.state());
  EXPECT_TRUE(state.processing);
  EXPECT_EQ(run.run_id, state.run_id);
  EXPECT_EQ("a1", state.agent_id);
  EXPECT_EQ(kNow, state.since);
  must(runtime_.end_run(run, "completed"));
  must(runtime_.end_run(run, "completed"));
  EXPECT_EQ(Code::kIdConflict, code_of(runtime_.end_run(run, "failed"))) << "it has ended";
  state = must(runtime_.state());
  EXPECT_FALSE(state.processing);
  EXPECT_EQ("completed", state.status);
  EXPECT_EQ(1u, state.generation);
  EXPECT_EQ(2u, must(runtime_.begin_run()).generation);
}

TEST_P(RuntimeTest, ASecondRunNeedsToTakeOver) {
  const quipu::Run first = must(runtime_.begin_run());
  const auto second = runtime_.begin_run();
  ASSERT_EQ(Code::kFenced, code_of(second));
  EXPECT_EQ(first.run_id, second.error().actual());
  EXPECT_THAT(std::string(second.error().hint()), HasSubstr("take over"));
  const quipu::Run taken = must(runtime_.begin_run({.take_over = true}));
  EXPECT_EQ(2u, taken.generation);
  EXPECT_EQ(taken.run_id, must(runtime_.state()).run_id);
  EXPECT_THAT(types(session_), ElementsAre("run_start", "run_end", "run_start"));
  // The first holder wakes up: nothing of it arrives.
  AppendOptions stale;
  stale.fence = first.run_id;
  EXPECT_EQ(Code::kFenced, code_of(sessions().append_session_entries(
                               session_, std::vector{message("m", "user", "x")}, stale)));
  EXPECT_EQ(Code::kFenced,
            code_of(runtime_.request_permission({.tool = "t", .fence = first.run_id})));
  EXPECT_EQ(Code::kIdConflict, code_of(runtime_.end_run(first))) << "ended as superseded";
}

TEST_P(RuntimeTest, ARunThatWasPushedAsideCannotEnd) {
  const quipu::Run run = must(runtime_.begin_run());
  NewEntry foreign;  // by a program that does not end the runs of others
  foreign.type = "run_start";
  foreign.id = "theirs";
  foreign.payload = R"({"generation":7})";
  append({foreign});
  const auto ended = runtime_.end_run(run);
  ASSERT_EQ(Code::kFenced, code_of(ended));
  EXPECT_EQ("theirs", ended.error().actual());
  EXPECT_EQ(8u, must(runtime_.begin_run({.take_over = true})).generation);
}

TEST_P(RuntimeTest, QueueKeepsOrderAndRemembers) {
  const std::string first = must(runtime_.enqueue(kHello));
  const std::string second = must(runtime_.enqueue(kBye, "q2"));
  EXPECT_EQ("q2", second);
  must(runtime_.enqueue(kBye, "q2"));
  EXPECT_EQ(Code::kIdConflict, code_of(runtime_.enqueue(kHello, "q2")));
  EXPECT_EQ(Code::kInvalidArgument, code_of(runtime_.enqueue("hello")));
  EXPECT_THAT(queue(), ElementsAre(first, "q2"));
  EXPECT_EQ(kHello, must(runtime_.queued())[0].message);
  must(runtime_.remove_queued(first));
  EXPECT_EQ(Code::kNotFound, code_of(runtime_.remove_queued(first)));
  EXPECT_THAT(queue(), ElementsAre("q2"));
}

// Ids that the facts about them cannot be named after.
TEST_P(RuntimeTest, NoIdJamsTheQueueOrAQuestion) {
  const std::string full(kEntryIdBytesMax, 'q');
  must(runtime_.enqueue(kHello, full));
  NewEntry foreign;
  foreign.type = "queue_add";
  foreign.payload = R"({"queueId":"line\nfeed","message":{"role":"user"}})";
  append({foreign});
  EXPECT_EQ(full, must(runtime_.dequeue_into())->queue_id);
  EXPECT_EQ("line\nfeed", must(runtime_.dequeue_into())->queue_id);
  EXPECT_FALSE(must(runtime_.dequeue_into()).has_value());
  EXPECT_TRUE(must(runtime_.dequeue_into({.queue_id = full}))->repeated);

  const std::string asked(kEntryIdBytesMax, 'p');
  must(runtime_.request_permission({.request_id = asked, .tool = "rm"}));
  must(runtime_.resolve_permission(asked, "allow"));
  EXPECT_EQ("allow", must(runtime_.decision(asked)));

  NewEntry run;
  run.type = "run_start";
  run.id = std::string(kEntryIdBytesMax, 'r');
  run.payload = R"({"generation":1})";
  append({run});
  EXPECT_EQ(2u, must(runtime_.begin_run({.take_over = true})).generation);
}

TEST_P(RuntimeTest, DequeueAppendsTheMessage) {
  const std::string first = must(runtime_.enqueue(kHello));
  must(runtime_.enqueue(kBye, "q2"));
  const auto taken = must(runtime_.dequeue_into());
  ASSERT_TRUE(taken);
  EXPECT_EQ(first, taken->queue_id);
  EXPECT_EQ(taken->entry_id, head(session_));
  EXPECT_EQ(kHello, entry(session_, taken->entry_id).payload);
  EXPECT_FALSE(taken->repeated);
  EXPECT_THAT(queue(), ElementsAre("q2"));

  const auto again = must(runtime_.dequeue_into({.queue_id = first}));
  ASSERT_TRUE(again) << "an answer that was lost";
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(taken->entry_id, again->entry_id);
  EXPECT_EQ(kHello, again->message);

  const auto edited = must(runtime_.dequeue_into(
      {.queue_id = "q2", .message = R"({"role":"user","content":"edited"})"}));
  EXPECT_THAT(entry(session_, edited->entry_id).payload, HasSubstr("edited"));
  EXPECT_EQ(taken->entry_id, entry(session_, edited->entry_id).parent_id);
  EXPECT_FALSE(must(runtime_.dequeue_into()));
  EXPECT_EQ(Code::kNotFound, code_of(runtime_.dequeue_into({.queue_id = "never"})));
  EXPECT_THAT(types(session_), ElementsAre("queue_add", "queue_add", "queue_remove", "message",
                                           "queue_remove", "message"));
}

TEST_P(RuntimeTest, DequeueIntoAWriterStaysOnItsLine) {
  const quipu::Run run = must(runtime_.begin_run());
  SessionWriter writer = must(SessionWriter::open(*store_, session_, {.fence = run.run_id}));
  const std::string before = must(writer.append_assistant("ready"));
  must(runtime_.enqueue(kHello, "q"));
  const auto taken = must(runtime_.dequeue_into({.writer = &writer}));
  ASSERT_TRUE(taken);
  const std::string after = must(writer.append_assistant("answer"));
  must(writer.flush());
  EXPECT_EQ(before, entry(session_, taken->entry_id).parent_id);
  EXPECT_EQ(run.run_id, entry(session_, taken->entry_id).run_id);
  EXPECT_EQ(taken->entry_id, entry(session_, after).parent_id);
  must(runtime_.enqueue(kBye, "q2"));
  must(runtime_.begin_run({.take_over = true}));
  EXPECT_EQ(Code::kFenced, code_of(runtime_.dequeue_into({.writer = &writer})));
  EXPECT_THAT(queue(), ElementsAre("q2")) << "still there for the new run";
}

TEST_P(RuntimeTest, AQueueEntryThatSaysNothingDoesNotJam) {
  NewEntry odd;
  odd.type = "queue_add";
  odd.id = "odd";
  odd.payload = R"({"text":"not ours"})";
  append({odd});
  must(runtime_.enqueue(kHello, "q"));
  EXPECT_EQ("odd", must(runtime_.dequeue_into())->queue_id);
  EXPECT_EQ("q", must(runtime_.dequeue_into())->queue_id);
}

// Found by the agent that is killed: the next run asked again, under its own name.
TEST_P(RuntimeTest, ALaterRunMayAskWhatAnEarlierOneAsked) {
  for (int i = 0; i < 2; ++i) {
    const quipu::Run run = must(runtime_.begin_run({.take_over = true}));
    EXPECT_EQ(
        "r",
        must(runtime_.request_permission({.request_id = "r", .tool = "rm", .fence = run.run_id})));
  }
  EXPECT_EQ(1u, must(runtime_.pending_permissions()).size());
  EXPECT_EQ(Code::kIdConflict,
            runtime_.request_permission({.request_id = "r", .tool = "bash"}).error().code());
  EXPECT_EQ(std::nullopt, must(runtime_.decision("r")));
  must(runtime_.resolve_permission("r", "deny"));
  EXPECT_EQ("deny", must(runtime_.decision("r")));
  // Somebody may decide between a look for the decision and the question.
  const quipu::Run late = must(runtime_.begin_run({.take_over = true}));
  EXPECT_EQ(
      "r",
      must(runtime_.request_permission({.request_id = "r", .tool = "rm", .fence = late.run_id})));
  EXPECT_TRUE(must(runtime_.pending_permissions()).empty());
}

TEST_P(RuntimeTest, PermissionsAreAskedAndAnsweredOnce) {
  const std::string first = must(runtime_.request_permission(
      {.tool_use_id = "call-1", .tool = "bash", .input = R"({"c":1})"}));
  const std::string second = must(runtime_.request_permission({.request_id = "r2", .tool = "rm"}));
  const auto pending = must(runtime_.pending_permissions());
  ASSERT_EQ(2u, pending.size());
  EXPECT_EQ(first, pending[0].request_id);
  EXPECT_EQ("bash", pending[0].tool);
  EXPECT_EQ("call-1", pending[0].tool_use_id);
  EXPECT_EQ(R"({"c":1})", pending[0].input);
  EXPECT_EQ(second, pending[1].request_id);
  must(runtime_.resolve_permission(first, "allow", R"({"by":"me","decision":"deny"})"));
  EXPECT_EQ(R"({"requestId":")" + first + R"(","decision":"allow","by":"me"})",
            entry(session_, first + ".resolved").payload);
  for (const char* decision : {"allow", "deny"}) {
    const auto twice = runtime_.resolve_permission(first, decision);
    ASSERT_EQ(Code::kInvalidArgument, code_of(twice));
    EXPECT_THAT(std::string(twice.error().hint()), HasSubstr("first decision"));
  }
  EXPECT_EQ(Code::kNotFound, code_of(runtime_.resolve_permission("r9", "allow")));
  EXPECT_EQ(1u, must(runtime_.pending_permissions()).size());
}

NewEntry assistant_calls(std::string id, std::string_view content) {
  NewEntry entry = message(std::move(id), "assistant", "");
  entry.payload = R"({"role":"assistant","content":)" + std::string(content) + "}";
  return entry;
}

NewEntry result_of(std::string id, std::string_view role, std::string_view call) {
  NewEntry entry = message(std::move(id), role, "");
  entry.payload = R"({"role":")" + std::string(role) +
                  R"(","content":[{"type":"tool_result","toolUseId":")" + std::string(call) +
                  R"(","content":"ok"}]})";
  return entry;
}

TEST_P(RuntimeTest, OpenToolCallsAreThoseWithoutAResult) {
  append({message("u0", "user", "before"),
          assistant_calls("a0", R"([{"type":"tool_use","id":"old","name":"x","input":{}}])"),
          message("u1", "user", "go on"),
          assistant_calls("a1", R"([{"type":"text","text":"both"},)"
                                R"({"type":"tool_use","id":"c1","name":"ls","input":{"p":1}},)"
                                R"({"type":"tool_use","id":"c2","name":"rm","rawInput":"{\"p"}])"),
          result_of("t1", "tool", "c1")});
  const RuntimeState state = must(runtime_.state());
  ASSERT_EQ(1u, state.open_tool_calls.size()) << "calls before the last question are given up";
  EXPECT_EQ("c2", state.open_tool_calls[0].tool_use_id);
  EXPECT_EQ("rm", state.open_tool_calls[0].tool);
  EXPECT_EQ("{\"p", state.open_tool_calls[0].input);
  EXPECT_EQ("a1", state.open_tool_calls[0].entry_id);
  // A result in a user's name is no question, and closes the call.
  append({result_of("t2", "user", "c2")});
  EXPECT_THAT(must(runtime_.state()).open_tool_calls, IsEmpty());
  append({assistant_calls("a2", R"([{"type":"tool_use","id":"c3","name":"x","input":{}},)"
                                R"({"type":"tool_use","id":"c4","name":"y","input":{}}])")});
  const auto open = must(runtime_.state()).open_tool_calls;
  ASSERT_EQ(2u, open.size());
  EXPECT_EQ("c3", open[0].tool_use_id) << "in the order of the calls";
}

TEST_P(RuntimeTest, FlatEntriesOfOtherProgramsAreUnderstood) {
  NewEntry assistant;
  assistant.type = "assistant";
  assistant.id = "m2";
  assistant.payload =
      R"({"content":"I write","toolCalls":[{"id":"call-1","name":"write","params":{}}]})";
  NewEntry tool;
  tool.type = "tool";
  tool.id = "m3";
  tool.payload = R"({"name":"write","params":{},"toolCallId":"call-1"})";
  append({message("m1", "user", "x"), assistant, tool});
  auto open = must(runtime_.state()).open_tool_calls;
  ASSERT_EQ(1u, open.size()) << "said twice, open once";
  NewEntry result;
  result.type = "tool_result";
  result.payload = R"({"toolCallId":"call-1","output":"ok"})";
  append({result});
  EXPECT_THAT(must(runtime_.state()).open_tool_calls, IsEmpty());
}

TEST_P(RuntimeTest, StateOfTheHeadsPathOnly) {
  append({message("u1", "user", "x"),
          assistant_calls("a1", R"([{"type":"tool_use","id":"c1","name":"x","input":{}}])")});
  SessionBranch branch = must(SessionBranch::open(*store_, session_));
  must(branch.switch_to("u1"));
  EXPECT_THAT(must(runtime_.state()).open_tool_calls, IsEmpty());
  must(branch.switch_to("a1"));
  EXPECT_EQ(1u, must(runtime_.state()).open_tool_calls.size());
}

TEST_P(RuntimeTest, RecoverNamesAllThatWasCutOff) {
  EXPECT_THAT(shown(must(runtime_.recover())), IsEmpty());
  const quipu::Run run = must(runtime_.begin_run());
  append({message("u1", "user", "x"),
          assistant_calls("a1", R"([{"type":"tool_use","id":"c1","name":"x","input":{}}])")});
  must(runtime_.request_permission({.request_id = "r1", .tool = "x", .fence = run.run_id}));
  must(runtime_.enqueue(kHello, "q1"));
  const std::vector<std::string> expected = {"run:" + run.run_id + ":take_over",
                                             "tool_call:c1:run_or_close", "permission:r1:resolve",
                                             "queued_message:q1:dequeue"};
  const std::size_t before = entries(session_).size();
  EXPECT_EQ(expected, shown(must(runtime_.recover())));
  EXPECT_EQ(before, entries(session_).size()) << "looking changes nothing";

  const Recovery applied = must(runtime_.recover({.apply = true}));
  EXPECT_TRUE(applied.applied);
  EXPECT_EQ(expected, shown(applied));
  EXPECT_FALSE(applied.state.processing);
  EXPECT_EQ(2u, applied.state.generation);
  EXPECT_EQ(1u, applied.state.pending.size());
  EXPECT_EQ(1u, applied.state.queued.size());
  EXPECT_THAT(entry(session_, run.run_id + ".end").payload, HasSubstr("interrupted"));
  AppendOptions stale;
  stale.fence = run.run_id;
  EXPECT_EQ(Code::kFenced, code_of(sessions().append_session_entries(
                               session_, std::vector{message("m", "user", "x")}, stale)));
  EXPECT_FALSE(must(runtime_.recover({.apply = true})).applied) << "nothing to apply";
  EXPECT_EQ(3u, must(runtime_.begin_run()).generation);
}

TEST_P(RuntimeTest, RecoverAllLooksAtEverySession) {
  const std::string quiet = new_session();
  const std::string busy = new_session({.id = "busy"});
  must(Runtime(*store_, busy).begin_run());
  must(runtime_.enqueue(kHello));
  const RecoverAll all = must(recover_all(*store_, {.apply = true}));
  ASSERT_EQ(2u, all.sessions.size());
  EXPECT_THAT(all.failed, IsEmpty());
  for (const Recovery& one : all.sessions) EXPECT_EQ(one.state.session_id == busy, one.applied);
  EXPECT_FALSE(must(Runtime(*store_, busy).state()).processing);
}

TEST_P(RuntimeTest, SwitchSessionEndsTheOldOneFirst) {
  const std::string other = new_session();
  must(Runtime(*store_, other).enqueue(kBye, "waiting"));
  const quipu::Run run = must(runtime_.begin_run());
  SessionWriter writer = must(SessionWriter::open(*store_, session_, {.fence = run.run_id}));
  must(writer.append_user("unflushed"));
  must(runtime_.enqueue(kHello, "stays"));
  EXPECT_EQ(Code::kNotFound, code_of(switch_session(*store_, run, "nowhere", {.writer = &writer})));
  EXPECT_TRUE(must(runtime_.state()).processing) << "nothing has changed";

  const SwitchedSession switched =
      must(switch_session(*store_, run, other, {.writer = &writer, .run = {.agent_id = "a"}}));
  EXPECT_EQ(other, switched.run.session_id);
  EXPECT_TRUE(switched.state.processing);
  EXPECT_EQ(1u, switched.state.queued.size());
  const RuntimeState old = must(runtime_.state());
  EXPECT_FALSE(old.processing);
  EXPECT_EQ("switched", old.status);
  EXPECT_THAT(queue(), ElementsAre("stays"));
  EXPECT_EQ(R"({"role":"user","content":"unflushed"})", entry(session_, old.head).payload);
}

TEST_P(RuntimeTest, StateSurvivesARestart) {
  if (!GetParam()) return;  // memory is memory
  const quipu::Run run = must(runtime_.begin_run());
  must(runtime_.enqueue(kHello, "q1"));
  must(runtime_.request_permission({.request_id = "r1", .tool = "bash"}));
  const std::string before = encode_runtime_state(must(runtime_.state()));
  store_.reset();
  open();
  Runtime again(*store_, session_);
  EXPECT_EQ(before, encode_runtime_state(must(again.state())));
  EXPECT_THAT(before, HasSubstr(R"("processing":true,"generation":1,"runId":")" + run.run_id));
}

TEST_P(RuntimeTest, AForkInheritsNothingOfIt) {
  append({message("u1", "user", "x")});
  must(runtime_.begin_run());
  must(runtime_.enqueue(kHello));
  must(runtime_.request_permission({.tool = "x"}));
  const std::string fork = must(sessions().branch_from_entry(session_, "u1")).session_id;
  EXPECT_THAT(must(Runtime(*store_, fork).recover()).cut_off, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Store, RuntimeTest, testing::Bool(), backend_name);

}  // namespace
}  // namespace quipu::test
