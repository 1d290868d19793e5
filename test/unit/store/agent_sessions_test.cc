// AgentSessions, the facade for servers.
#include <gtest/gtest.h>

#include <thread>

#include "quipu/agent_sessions.h"

namespace quipu::test {
namespace {

class AgentSessionsTest : public testing::Test {
 protected:
  AgentSessionsTest() : store_(std::move(Store::open("memory:")).value()), agents_(store_) {
    NewAgentSession wanted;
    wanted.session_id = "s";
    wanted.preset_id = "strict";
    wanted.cwd = "/w";
    wanted.project_id = "p";
    EXPECT_TRUE(agents_.create("reviewer", wanted).ok());
  }

  Result<AppendResult> say(const std::string& role, const std::string& content) {
    MessageRecord message;
    message.role = role;
    message.content = content;
    return agents_.append_messages("s", {&message, 1});
  }

  Store store_;
  AgentSessions agents_;
};

TEST_F(AgentSessionsTest, CreateAndGet) {
  const auto session = agents_.get("s");
  ASSERT_TRUE(session.ok());
  EXPECT_EQ("reviewer", session->agent_id);
  EXPECT_EQ("strict", session->preset_id);
  EXPECT_EQ("/w", session->cwd);
  EXPECT_EQ("p", session->project_id);
  EXPECT_EQ("active", session->status);
  EXPECT_EQ(Code::kIdConflict, agents_.create("x", {.session_id = "s"}).error().code());
  EXPECT_EQ(Code::kInvalidArgument, agents_.create("").error().code());
  EXPECT_EQ(Code::kNotFound, agents_.get("nobody").error().code());
  EXPECT_TRUE(agents_.create("other").ok());
  EXPECT_EQ(1u, agents_.list({.project = ProjectScope::all(), .agent = "reviewer"})->items.size());
  EXPECT_EQ(2u, agents_.list({.project = ProjectScope::all()})->items.size());
}

TEST_F(AgentSessionsTest, HistoryInPages) {
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(say(i % 2 == 0 ? "user" : "assistant", "\"" + std::to_string(i) + "\"").ok());
    ASSERT_TRUE(agents_.archive("s", i % 2 == 0).ok());  // facts in between
  }
  for (const std::size_t limit : {1u, 3u, 7u, 50u}) {
    std::vector<std::string> contents;
    PageRequest request{.after = {}, .limit = limit};
    for (int pages = 0; pages < 20; ++pages) {
      const auto page = agents_.history("s", request);
      ASSERT_TRUE(page.ok());
      for (const MessageRecord& message : page->items) {
        contents.push_back(message.content);
        EXPECT_FALSE(message.id.empty());
        EXPECT_FALSE(message.timestamp.empty());
      }
      if (page->next.empty()) break;
      request.after = page->next;
    }
    EXPECT_EQ(
        (std::vector<std::string>{"\"0\"", "\"1\"", "\"2\"", "\"3\"", "\"4\"", "\"5\"", "\"6\""}),
        contents)
        << "limit " << limit;
  }
  EXPECT_EQ(Code::kInvalidArgument, agents_.history("s", {.after = "x"}).error().code());
  EXPECT_EQ(Code::kNotFound, agents_.history("nobody").error().code());
}

TEST_F(AgentSessionsTest, ContentIsKeptAsItCameAndCheckedBefore) {
  const std::string parts = R"([ {"type":"text","text":"é"} ])";
  MessageRecord message;
  message.id = "m1";
  message.timestamp = "2026-03-01T09:30:00.000Z";
  message.role = "user";
  message.content = parts;
  ASSERT_TRUE(agents_.append_messages("s", {&message, 1}).ok());
  EXPECT_EQ(1u, agents_.append_messages("s", {&message, 1})->already_present) << "a repeat";
  const auto page = agents_.history("s");
  ASSERT_EQ(1u, page->items.size());
  EXPECT_EQ("m1", page->items[0].id);
  EXPECT_EQ("2026-03-01T09:30:00.000Z", page->items[0].timestamp);
  EXPECT_EQ(parts, page->items[0].content);
  for (const char* content : {"", "plain", "{}", "\"open", "[1,]", "3", "\"a\" \"b\""}) {
    EXPECT_EQ(Code::kInvalidArgument, say("user", content).error().code()) << content;
  }
  EXPECT_EQ(Code::kInvalidArgument, say("robot", "\"x\"").error().code());
  EXPECT_EQ(1u, agents_.history("s")->items.size());
}

TEST_F(AgentSessionsTest, ARedactedMessageSaysSo) {
  MessageRecord message;
  message.id = "m1";
  message.role = "user";
  message.content = "\"secret\"";
  ASSERT_TRUE(agents_.append_messages("s", {&message, 1}).ok());
  NewEntry redaction;
  redaction.type = "redaction";
  redaction.payload = R"({"targetEntryId":"m1","reason":"x"})";
  ASSERT_TRUE(store_.sessions().append_session_entries("s", {&redaction, 1}).ok());
  const auto page = agents_.history("s");
  ASSERT_EQ(1u, page->items.size());
  EXPECT_TRUE(page->items[0].redacted);
  EXPECT_EQ("", page->items[0].content);
}

TEST_F(AgentSessionsTest, ATerminatedSessionRefusesMessagesUntilItIsReopened) {
  ASSERT_TRUE(say("user", "\"one\"").ok());
  ASSERT_TRUE(agents_.terminate("s").ok());
  EXPECT_EQ("terminated", agents_.get("s")->status);
  const auto refused = say("user", "\"two\"");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(Code::kInvalidArgument, refused.error().code());
  EXPECT_NE(std::string_view::npos, refused.error().hint().find("reopen"));
  // Other facts do not change the status.
  ASSERT_TRUE(agents_.archive("s").ok());
  EXPECT_FALSE(say("user", "\"two\"").ok());
  EXPECT_EQ("terminated", agents_.get("s")->status);
  EXPECT_TRUE(agents_.get("s")->archived);
  ASSERT_TRUE(agents_.reopen("s").ok());
  ASSERT_TRUE(agents_.archive("s", false).ok());
  EXPECT_TRUE(say("user", "\"two\"").ok());
  EXPECT_EQ("active", agents_.get("s")->status);
  EXPECT_FALSE(agents_.get("s")->archived);
  EXPECT_EQ(Code::kNotFound, agents_.terminate("nobody").error().code());
  EXPECT_EQ(Code::kInvalidArgument, agents_.reopen("no/body").error().code());
}

TEST_F(AgentSessionsTest, SayingItTwiceAddsNothing) {
  ASSERT_TRUE(agents_.terminate("s").ok());
  const auto before = store_.sessions().session_ends("s");
  ASSERT_TRUE(agents_.terminate("s").ok());
  ASSERT_TRUE(agents_.archive("s", false).ok());
  EXPECT_EQ(before->tail, store_.sessions().session_ends("s")->tail);
}

TEST_F(AgentSessionsTest, NothingFollowsATermination) {
  std::thread ender([&] { EXPECT_TRUE(agents_.terminate("s").ok()); });
  bool refused = false;
  for (int i = 0; i < 10'000 && !refused; ++i) refused = !say("user", "\"x\"").ok();
  ender.join();
  EXPECT_TRUE(refused || !say("user", "\"x\"").ok());
  const auto entries = store_.sessions().load_session_entries("s");
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ("session_info", entries->back().type) << "no message behind it";
}

}  // namespace
}  // namespace quipu::test
