// SessionWriter: what is written when, what an answer means, streams.
#include <gmock/gmock.h>

#include "support/agent_store.h"

namespace quipu::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Writer : public AgentStore {
 protected:
  SessionWriter open_writer(WriterOptions options = {}) {
    return must(SessionWriter::open(*store_, session_, options));
  }
  std::size_t stored() { return entries(session_).size() - 1; }

  std::string session_ = new_session();
};

TEST_P(Writer, TypedAppendsAreMessagesInOneLine) {
  SessionWriter writer = open_writer();
  const std::string system = must(writer.append_system("Be brief."));
  const std::string user = must(writer.append_user("Fix the build"));
  Message answer;
  answer.parts = {Part{.type = PartType::kThinking, .text = "hm", .signature = "sig"},
                  Part{.type = PartType::kText, .text = "I look."}};
  answer.model = "m1";
  answer.usage = Usage{.tokens_in = 3, .tokens_out = 4};
  const std::string assistant = must(writer.append_assistant(answer));
  const std::string call = must(writer.append_tool("bash", R"({"command":"make"})", "call-1"));
  const std::string result =
      must(writer.append_tool_result("call-1", "ok", false, R"({"lines":1})"));
  must(writer.flush());

  EXPECT_EQ(R"({"role":"system","content":"Be brief."})", entry(session_, system).payload);
  EXPECT_EQ(R"({"role":"user","content":"Fix the build"})", entry(session_, user).payload);
  EXPECT_EQ(
      R"({"role":"assistant","content":[{"type":"thinking","text":"hm","signature":"sig"},)"
      R"({"type":"text","text":"I look."}],"model":"m1","usage":{"tokensIn":3,"tokensOut":4}})",
      entry(session_, assistant).payload);
  EXPECT_EQ(R"({"role":"assistant","content":[{"type":"tool_use","id":"call-1","name":"bash",)"
            R"("input":{"command":"make"}}]})",
            entry(session_, call).payload);
  EXPECT_EQ(R"({"role":"tool","content":[{"type":"tool_result","toolUseId":"call-1",)"
            R"("content":"ok","details":{"lines":1}}]})",
            entry(session_, result).payload);
  const auto branch = must(SessionBranch::open(*store_, session_));
  EXPECT_THAT(must(branch.get_path(result)), ElementsAre(system, user, assistant, call, result));
  EXPECT_EQ(result, head(session_));
}

TEST_P(Writer, ArgumentsThatAreNoObjectAreKeptAsText) {
  SessionWriter writer = open_writer();
  const std::string call = must(writer.append_tool("bash", "{\"command\":", "call-1"));
  must(writer.flush());
  EXPECT_THAT(entry(session_, call).payload, HasSubstr(R"("rawInput":"{\"command\":")"));
}

TEST_P(Writer, NothingIsWrittenBeforeALimitIsReached) {
  SessionWriter writer = open_writer({.batch_entries = 3, .batch_bytes = 2000, .batch_age = 10ms});
  must(writer.append_user("one"));
  must(writer.append_user("two"));
  EXPECT_EQ(0u, stored());
  must(writer.append_user("three"));
  EXPECT_EQ(3u, stored()) << "by count";
  must(writer.append_user(std::string(2000, 'x')));
  EXPECT_EQ(4u, stored()) << "by bytes";
  must(writer.append_user("five"));
  clock_.advance(9ms);
  must(writer.poll());
  EXPECT_EQ(4u, stored());
  clock_.advance(1ms);
  must(writer.poll());
  EXPECT_EQ(5u, stored()) << "by age, seen by poll";
  must(writer.append_user("six"));
  clock_.advance(10ms);
  must(writer.append_user("seven"));
  EXPECT_EQ(7u, stored()) << "by age, seen by an append";
  EXPECT_EQ(0u, writer.buffered());
}

TEST_P(Writer, KeepsToItsOwnLineWhateverOthersDo) {
  SessionWriter writer = open_writer();
  const std::string first = must(writer.append_user("first"));
  must(writer.flush());
  must(sessions().append_session_entries(session_, std::vector{message("other", "user", "hi")}));
  const std::string second = must(writer.append_assistant("second"));
  must(writer.flush());
  const auto branch = must(SessionBranch::open(*store_, session_));
  EXPECT_THAT(must(branch.get_path(second)), ElementsAre(first, second));
  EXPECT_EQ("other", head(session_)) << "a late append steals nothing";
  EXPECT_THAT(must(branch.get_branch_points()), ElementsAre(first));
}

TEST_P(Writer, AnIdThatWaitsAlreadyHarmsNothing) {
  SessionWriter writer = must(SessionWriter::open(*store_, session_));
  must(writer.append(message("m", "user", "one")));
  EXPECT_EQ("m", must(writer.append(message("m", "user", "one"))));
  EXPECT_EQ(Code::kIdConflict, code_of(writer.append(message("m", "user", "two"))));
  must(writer.append_user("three"));
  must(writer.flush());
  EXPECT_EQ(2u, types(session_).size());
}

TEST_P(Writer, BadEntriesAreRefusedAtOnceAndHarmNothing) {
  SessionWriter writer = open_writer();
  must(writer.append_user("good"));
  NewEntry bad;
  bad.type = "custom";
  bad.payload = "{]";
  EXPECT_EQ(Code::kInvalidArgument, code_of(writer.append(bad)));
  EXPECT_EQ(Code::kTooLarge, code_of(writer.append_user(std::string(kLineBytesMax, 'x'))));
  const std::string after = must(writer.append_user("after"));
  must(writer.flush());
  EXPECT_EQ(2u, stored());
  EXPECT_EQ(after, head(session_));
}

TEST_P(Writer, FactsStandBesideAndOwnParentsAreKept) {
  SessionWriter writer = open_writer();
  const std::string first = must(writer.append_user("first"));
  const std::string second = must(writer.append_user("second"));
  NewEntry info;
  info.type = "session_info";
  info.payload = R"({"title":"T"})";
  must(writer.append(info));
  EXPECT_EQ(second, writer.last());
  NewEntry sibling = message("", "user", "instead");
  sibling.parent = Parent::of(first);
  const std::string third = must(writer.append(sibling));
  const std::string fourth = must(writer.append_user("on from there"));
  must(writer.flush());
  const auto branch = must(SessionBranch::open(*store_, session_));
  EXPECT_THAT(must(branch.get_path(fourth)), ElementsAre(first, third, fourth));
  EXPECT_EQ(second, head(session_));
}

TEST_P(Writer, AFencedWriterTakesNothingMore) {
  Runtime runtime(*store_, session_);
  const quipu::Run old_run = must(runtime.begin_run());
  SessionWriter writer = open_writer({.fence = old_run.run_id});
  const std::string first = must(writer.append_user("in time"));
  must(writer.flush());
  EXPECT_EQ(old_run.run_id, entry(session_, first).run_id);
  const std::string lost = must(writer.append_user("too late"));
  must(runtime.begin_run({.take_over = true}));
  EXPECT_EQ(Code::kFenced, code_of(writer.flush()));
  EXPECT_EQ(Code::kFenced, code_of(writer.append_user("and more")));
  EXPECT_EQ(Code::kFenced, code_of(writer.close()));
  EXPECT_THAT(writer.discard(), ElementsAre(lost));
  EXPECT_EQ(first, head(session_));
}

TEST_P(Writer, OpensAtAPlace) {
  must(sessions().append_session_entries(
      session_, std::vector{message("a", "user", "a"), message("b", "assistant", "b")}));
  SessionWriter writer = open_writer({.parent = "a"});
  const std::string other = must(writer.append_assistant("other"));
  must(writer.close());
  EXPECT_EQ(Code::kInvalidArgument, code_of(writer.append_user("closed")));
  EXPECT_EQ("a", entry(session_, other).parent_id);
  EXPECT_EQ(Code::kUnknownParent,
            code_of(SessionWriter::open(*store_, session_, {.parent = "nowhere"})));
  EXPECT_EQ(Code::kNotFound, code_of(SessionWriter::open(*store_, "nowhere")));
}

TEST_P(Writer, DestructionWritesNothing) {
  {
    SessionWriter writer = open_writer();
    must(writer.append_user("not flushed"));
  }
  EXPECT_EQ(0u, stored());
}

TEST_P(Writer, AStreamIsOneMessage) {
  SessionWriter writer = open_writer();
  const std::string asked = must(writer.append_user("hi"));
  MessageStream stream = must(writer.begin_stream({.model = "m1", .provider = "p1"}));
  EXPECT_THAT(types(session_), ElementsAre("message", "message_delta_batch")) << "durable";
  must(stream.add_thinking("let "));
  must(stream.add_thinking("me see", "sig"));
  must(stream.add_text("Hel"));
  must(stream.add_text("lo"));
  must(stream.add_tool_use("call-1", "ls", "{}"));
  EXPECT_EQ(2u, stored());
  const std::string said = must(stream.finish("tool_use", Usage{.tokens_out = 7}));
  EXPECT_EQ(Code::kInvalidArgument, code_of(stream.add_text("more")));
  EXPECT_EQ(Code::kInvalidArgument, code_of(stream.finish("again")));
  must(writer.flush());
  EXPECT_EQ(R"({"role":"assistant","content":[{"type":"thinking","text":"let me see",)"
            R"("signature":"sig"},{"type":"text","text":"Hello"},{"type":"tool_use",)"
            R"("id":"call-1","name":"ls","input":{}}],"model":"m1","provider":"p1",)"
            R"("stopReason":"tool_use","usage":{"tokensOut":7},"streamId":")" +
                stream.stream_id() + "\"}",
            entry(session_, said).payload);
  EXPECT_EQ(3u, stored());
  const auto branch = must(SessionBranch::open(*store_, session_));
  const std::vector<std::string> path = must(branch.get_path(said));
  ASSERT_EQ(3u, path.size());
  EXPECT_EQ(asked, path[0]);
  EXPECT_FALSE(must(Runtime(*store_, session_).state()).interrupted_stream);
}

TEST_P(Writer, AStreamThatWasCutOffSaysSo) {
  {
    SessionWriter writer = open_writer();
    must(writer.append_user("hi"));
    MessageStream stream = must(writer.begin_stream({.model = "m1"}));
    must(stream.add_text("lost words"));
  }
  const RuntimeState state = must(Runtime(*store_, session_).state());
  ASSERT_TRUE(state.interrupted_stream);
  EXPECT_EQ(state.head, state.interrupted_stream->entry_id);
  EXPECT_EQ("m1", state.interrupted_stream->model);
  EXPECT_EQ("[]", state.interrupted_stream->parts);
}

TEST_P(Writer, PersistedDeltasSurvive) {
  {
    SessionWriter writer = open_writer();
    must(writer.append_user("hi"));
    MessageStream stream =
        must(writer.begin_stream({.persist_deltas = true, .delta_bytes = 8, .delta_age = 100ms}));
    must(stream.add_text("1234"));
    EXPECT_EQ(2u, stored());
    must(stream.add_text("5678"));
    EXPECT_EQ(3u, stored()) << "by bytes";
    clock_.advance(100ms);
    must(stream.add_text("9"));
    EXPECT_EQ(4u, stored()) << "by age";
    must(stream.add_text("lost"));
  }
  const RuntimeState state = must(Runtime(*store_, session_).state());
  ASSERT_TRUE(state.interrupted_stream);
  EXPECT_EQ(R"([{"type":"text","text":"12345678"},{"type":"text","text":"9"}])",
            state.interrupted_stream->parts);
  // Another answer takes its place.
  SessionWriter writer = open_writer();
  must(writer.append_assistant("again from the beginning"));
  must(writer.flush());
  EXPECT_FALSE(must(Runtime(*store_, session_).state()).interrupted_stream);
}

TEST_P(Writer, AnAbortedStreamKeepsWhatCame) {
  SessionWriter writer = open_writer();
  MessageStream stream = must(writer.begin_stream());
  must(stream.add_text("Hel"));
  const std::string said = must(stream.abort("user pressed escape"));
  must(writer.flush());
  EXPECT_THAT(entry(session_, said).payload,
              testing::AllOf(HasSubstr(R"("stopReason":"aborted")"), HasSubstr("Hel"),
                             HasSubstr(R"("abortReason":"user pressed escape")")));
}

TEST_P(Writer, MoreThanFiveHundredMessages) {
  SessionWriter writer = open_writer();
  std::vector<std::string> said;
  for (int turn = 0; turn < 300; ++turn) {
    said.push_back(must(writer.append_user("question " + std::to_string(turn))));
    said.push_back(must(writer.append_assistant("answer " + std::to_string(turn))));
  }
  must(writer.flush());
  const auto branch = must(SessionBranch::open(*store_, session_));
  EXPECT_EQ(said, must(branch.get_path(said.back())));
  EXPECT_EQ(said.back(), head(session_));
}

INSTANTIATE_TEST_SUITE_P(Store, Writer, testing::Bool(), backend_name);

}  // namespace
}  // namespace quipu::test
