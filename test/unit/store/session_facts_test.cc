// What is said of a session, and the rules of sdk_cwd.
#include <gmock/gmock.h>

#include "support/agent_store.h"

namespace quipu::test {
namespace {

using testing::ElementsAre;

class SessionFactsTest : public AgentStore {
 protected:
  void append(std::vector<NewEntry> entries) {
    must(sessions().append_session_entries(session_, entries));
  }
  void say(const std::string& payload) {
    NewEntry info;
    info.type = "session_info";
    info.payload = payload;
    append({info});
  }
  SessionFacts facts() { return must(read_session_facts(*store_, session_)); }
  bool can_update() { return must(can_update_sdk_cwd(*store_, session_)); }
  bool move_to(std::string_view directory) {
    return must(set_working_directory(*store_, session_, directory)).sdk_cwd_moved;
  }

  std::string session_ = new_session({.cwd = "/one", .title = "T", .project_id = "p"});
};

TEST_P(SessionFactsTest, TheLastWordOnEachMemberWins) {
  EXPECT_EQ("T", facts().title);
  EXPECT_EQ("active", facts().status);
  say(R"({"title":"A","tags":["x"]})");
  say(R"({"archived":true,"status":"terminated"})");
  say(R"({"title":"B"})");
  EXPECT_EQ("B", facts().title);
  EXPECT_THAT(facts().tags, ElementsAre("x"));
  EXPECT_TRUE(facts().archived);
  EXPECT_EQ("terminated", facts().status);
  EXPECT_EQ("p", facts().project_id);
  say(R"({"title":null,"projectId":"q"})");
  EXPECT_EQ("", facts().title) << "taken back";
  EXPECT_EQ("q", facts().project_id);
}

TEST_P(SessionFactsTest, BothDirectoriesMoveBeforeTheFirstMessage) {
  EXPECT_EQ("/one", facts().working_directory);
  EXPECT_EQ("/one", facts().sdk_cwd);
  EXPECT_TRUE(can_update());
  NewEntry model;
  model.type = "model_change";
  append({model});
  EXPECT_TRUE(move_to("/two"));
  EXPECT_EQ("/two", facts().working_directory);
  EXPECT_EQ("/two", facts().sdk_cwd);
}

TEST_P(SessionFactsTest, SdkCwdStaysAfterTheFirstMessage) {
  append({message("", "user", "hi")});
  EXPECT_FALSE(can_update());
  EXPECT_FALSE(move_to("/two"));
  EXPECT_EQ("/two", facts().working_directory);
  EXPECT_EQ("/one", facts().sdk_cwd);
}

TEST_P(SessionFactsTest, FlatMessagesCountAsWell) {
  NewEntry flat;
  flat.type = "user";
  flat.payload = R"({"content":"hi"})";
  append({flat});
  EXPECT_FALSE(can_update());
}

TEST_P(SessionFactsTest, SdkCwdStaysWithAnSdkSession) {
  must(set_sdk_session_id(*store_, session_, "sdk-1"));
  EXPECT_FALSE(move_to("/two"));
  EXPECT_EQ("/one", facts().sdk_cwd);
  EXPECT_EQ("sdk-1", facts().sdk_session_id);
}

TEST_P(SessionFactsTest, AFailedResumeForgetsTheSdkSession) {
  append({message("", "user", "hi")});
  must(set_sdk_session_id(*store_, session_, "sdk-1"));
  EXPECT_FALSE(must(resume_failed(*store_, session_, "sdk-0"))) << "that was another one";
  EXPECT_EQ("sdk-1", facts().sdk_session_id);
  EXPECT_TRUE(must(resume_failed(*store_, session_, "sdk-1")));
  EXPECT_EQ("", facts().sdk_session_id);
  EXPECT_FALSE(must(resume_failed(*store_, session_, "")));
  EXPECT_FALSE(can_update()) << "there are messages still";
}

TEST_P(SessionFactsTest, ResetBeginsAnewAndDeletesNothing) {
  append({message("m1", "user", "hi"), message("m2", "assistant", "hello")});
  must(set_sdk_session_id(*store_, session_, "sdk-1"));
  EXPECT_FALSE(move_to("/two"));
  const std::size_t before = entries(session_).size();
  const std::string reset = must(reset_context(*store_, session_));
  EXPECT_EQ(before + 2, entries(session_).size());
  EXPECT_EQ(reset, head(session_));
  EXPECT_EQ("m2", entry(session_, reset).parent_id);
  EXPECT_EQ("", facts().sdk_session_id);
  EXPECT_EQ("/two", facts().sdk_cwd) << "where the working directory is";
  EXPECT_TRUE(can_update());
  EXPECT_TRUE(move_to("/three"));
  EXPECT_EQ("/three", facts().sdk_cwd);
  append({message("m3", "user", "again")});
  EXPECT_FALSE(can_update());
}

TEST_P(SessionFactsTest, OnlyTheHeadsPathDecides) {
  append({message("m1", "user", "hi")});
  const std::string reset = must(reset_context(*store_, session_));
  SessionBranch branch = must(SessionBranch::open(*store_, session_));
  must(branch.switch_to("m1"));
  EXPECT_FALSE(can_update());
  must(branch.switch_to(reset));
  EXPECT_TRUE(can_update());
}

TEST_P(SessionFactsTest, OldSessionsWithoutTheNewMembers) {
  say(R"({"workingDirectory":"/moved"})");
  EXPECT_EQ("/moved", facts().working_directory);
  EXPECT_EQ("/one", facts().sdk_cwd) << "where it was made";
  session_ = new_session();
  say(R"({"workingDirectory":"/later"})");
  EXPECT_EQ("/later", facts().sdk_cwd) << "nothing else is known";
}

TEST_P(SessionFactsTest, AFencedRunChangesNothing) {
  Runtime runtime(*store_, session_);
  const quipu::Run old_run = must(runtime.begin_run());
  must(runtime.begin_run({.take_over = true}));
  const FactsOptions stale{.fence = old_run.run_id};
  EXPECT_EQ(Code::kFenced, code_of(set_working_directory(*store_, session_, "/x", stale)));
  EXPECT_EQ(Code::kFenced, code_of(set_sdk_session_id(*store_, session_, "x", stale)));
  EXPECT_EQ(Code::kFenced, code_of(reset_context(*store_, session_, stale)));
  EXPECT_EQ("/one", facts().working_directory);
}

INSTANTIATE_TEST_SUITE_P(Store, SessionFactsTest, testing::Bool(), backend_name);

}  // namespace
}  // namespace quipu::test
