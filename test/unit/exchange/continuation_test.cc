// Sessions of other agents that were gone on with here, given back to their agent.
#include <gtest/gtest.h>

#include "support/import_machine.h"

namespace quipu {
namespace {

struct Origin {
  std::string agent;
  std::string path;
  std::string text;
};

const std::string kUuid = "11111111-1111-7111-8111-111111111111";

std::vector<Origin> origins() {
  const std::string time = R"("timestamp":"2026-03-01T09:30:00.000Z")";
  return {
      {"pi", "/home/ada/x_s1.jsonl",
       R"({"type":"session","version":3,"id":"s1",)" + time + R"(,"cwd":"/data"})" + "\n" +
           R"({"type":"message","id":"aaaaaaaa","parentId":null,)" + time +
           R"(,"message":{"role":"user","content":"one"}})" + "\n"},
      {"claude", "/home/ada/" + kUuid + ".jsonl",
       R"({"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"one"},"uuid":"u1",)" +
           time + R"(,"cwd":"/data","sessionId":")" + kUuid + R"("})" + "\n" +
           R"({"type":"tag","tag":"","sessionId":")" + kUuid + R"("})"},  // no line end
      {"codex", "/home/ada/rollout-2026-03-01T09-30-00-" + kUuid + ".jsonl",
       "{" + time + R"(,"type":"session_meta","payload":{"id":")" + kUuid + R"(",)" + time +
           R"(,"cwd":"/data"}})" + "\n{" + time +
           R"(,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}})" +
           "\n"},
      {"jsonl", "/home/ada/talk.jsonl",
       R"({"id":"a","type":"message",)" + time + R"(,"payload":{"role":"user","content":"one"}})" +
           "\n"}};
}

void say(Store& store, const std::string& session, const std::string& payload) {
  NewEntry entry;
  entry.type = "message";
  entry.payload = payload;
  ASSERT_TRUE(store.sessions().append_session_entries(session, {{entry}}).ok());
}

void go_on(Store& store, const std::string& session) {
  say(store, session,
      R"({"role":"assistant","content":[{"type":"text","text":"Looking."},)"
      R"({"type":"tool_use","id":"c1","name":"ls","input":{"path":"."}}]})");
  say(store, session,
      R"({"role":"tool","content":[{"type":"tool_result","toolUseId":"c1","content":"a.txt"}]})");
  say(store, session, R"({"role":"assistant","content":"One file."})");
  say(store, session, R"({"role":"user","content":"Thanks."})");
}

TEST(Continuation, FollowsTheRecordsOfTheAgent) {
  for (const Origin& origin : origins()) {
    SCOPED_TRACE(origin.agent);
    ImportMachine machine;
    machine.host.files[origin.path] = origin.text;
    const std::string session = machine.import(origin.agent, origin.path).session_id;
    go_on(machine.store, session);
    const auto given = machine.give(session, origin.agent);
    ASSERT_EQ(given.size(), 1u);
    const auto& [name, text] = *given.begin();
    EXPECT_EQ("/home/ada/" + name, origin.path);
    EXPECT_TRUE(text.starts_with(origin.text)) << text;
    EXPECT_GT(text.size(), origin.text.size());
    EXPECT_EQ(text.find("}{"), std::string::npos) << "every record has a line";

    ImportMachine other;
    other.host.files[origin.path] = text;
    const ImportReport report = other.import(origin.agent, origin.path);
    EXPECT_EQ(report.session_id, session);
    EXPECT_TRUE(report.problems.empty()) << report.problems[0].what;
    EXPECT_EQ(other.said(session), machine.said(session));
    EXPECT_EQ(machine.said(session).size(), 6u);
  }
}

// What is no message has no line there: then the conversation is written as a whole.
TEST(Continuation, ByMoreThanMessagesIsWrittenAnew) {
  for (const Origin& origin : origins()) {
    SCOPED_TRACE(origin.agent);
    ImportMachine machine;
    machine.host.files[origin.path] = origin.text;
    const std::string session = machine.import(origin.agent, origin.path).session_id;
    NewEntry other;
    other.type = "branch_summary";
    other.payload = R"({"summary":"elsewhere"})";
    ASSERT_TRUE(machine.store.sessions().append_session_entries(session, {{other}}).ok());
    say(machine.store, session, R"({"role":"assistant","content":"two"})");
    const std::string text = machine.give(session, origin.agent).begin()->second;
    EXPECT_FALSE(text.starts_with(origin.text)) << text;
    EXPECT_NE(text.find("two"), std::string::npos);
  }
}

}  // namespace
}  // namespace quipu
