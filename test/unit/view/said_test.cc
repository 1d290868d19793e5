// What an entry says: which words of it can be found.
#include "view/said.h"

#include <gtest/gtest.h>

#include "view_world.h"

namespace quipu::test {
namespace {

using view::Said;
using view::SaidReader;

class SaidTest : public testing::Test {
 protected:
  SaidTest() : store_(open_store("memory:", &clock_)) { make_session(store_, "s"); }

  std::shared_ptr<const Lineage> lineage() { return store_.backend()->lineage("s").value(); }

  Said last() {
    const auto session = lineage();
    Said said;
    EXPECT_TRUE(SaidReader(session).read(session->own().fold().count - 1, said).ok());
    return said;
  }

  Said said_by(const NewEntry& entry) {
    append(store_, "s", {entry});
    return last();
  }

  StandingClock clock_;
  Store store_;
};

TEST_F(SaidTest, TextsOfAMessage) {
  const Said said = said_by(entry_of(
      "message", R"({"role":"assistant","content":[{"type":"thinking","text":"Let me \u0073ee"},)"
                 R"({"type":"text","text":"line one\nline two"}],"model":"secret-model"})"));
  EXPECT_EQ("Let me see\nline one\nline two", said.text);
  EXPECT_EQ((std::vector<std::string_view>{"assistant"}), said.roles);
  EXPECT_EQ("message", said.type);
  EXPECT_EQ(kNowMs, said.time_ms);
}

TEST_F(SaidTest, CallsSayTheToolAndTheStringsOfItsArguments) {
  const Said said = said_by(entry_of(
      "message", R"({"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash",)"
                 R"("input":{"command":"ls -l","deep":[{"path":"/etc/hosts"},7,null]}}]})"));
  EXPECT_EQ("Bash\nls -l\n/etc/hosts", said.text);
  EXPECT_EQ((std::vector<std::string>{"bash"}), said.tools);
}

TEST_F(SaidTest, AResultIsTheToolsAndKnowsWhich) {
  append(store_, "s",
         {entry_of("message", R"({"role":"assistant","content":[{"type":"tool_use","id":"t1",)"
                              R"("name":"Bash","input":{}}]})"),
          user("meanwhile")});
  const Said said = said_by(entry_of(
      "message",
      R"({"role":"user","content":[{"type":"tool_result","toolUseId":"t1",)"
      R"("content":[{"type":"text","text":"two files"},{"type":"attachment",)"
      R"("mediaType":"image/png","data":"AAAA","name":"shot.png"}],"details":"hidden"}]})"));
  EXPECT_EQ("two files\nshot.png", said.text);
  EXPECT_EQ((std::vector<std::string_view>{"tool"}), said.roles);
  EXPECT_EQ((std::vector<std::string>{"bash"}), said.tools);
}

// A document is taken out by saying it again: it must not matter what was read before.
TEST_F(SaidTest, TheSameInAnyOrder) {
  for (int i = 0; i < 50; ++i) {
    const std::string id = "t" + std::to_string(i);
    append(
        store_, "s",
        {entry_of("message", R"({"role":"assistant","content":[{"type":"tool_use","id":")" + id +
                                 R"(","name":"tool)" + std::to_string(i) + R"(","input":{}}]})")});
    const std::string asked = "t" + std::to_string(i - i % 40);
    append(store_, "s",
           {entry_of("message", R"({"role":"tool","content":[{"type":"tool_result","toolUseId":")" +
                                    asked + R"(","content":"out"}]})")});
  }
  const auto session = lineage();
  std::vector<Said> forward(session->own().fold().count);
  SaidReader reader(session);
  for (Ordinal own = 0; own < forward.size(); ++own) {
    ASSERT_TRUE(reader.read(own, forward[own]).ok());
  }
  std::size_t named = 0;
  for (Ordinal own = static_cast<Ordinal>(forward.size()); own-- > 0;) {
    Said alone;
    ASSERT_TRUE(SaidReader(session).read(own, alone).ok());
    EXPECT_EQ(forward[own].text, alone.text);
    EXPECT_EQ(forward[own].tools, alone.tools);
    named += alone.tools.size();
  }
  EXPECT_GT(named, 50u);   // some results know their tool
  EXPECT_LT(named, 100u);  // and some calls are too long ago
}

TEST_F(SaidTest, SummariesTitlesAndLabels) {
  EXPECT_EQ("what was", said_by(entry_of("compaction_summary", R"({"summary":"what was"})")).text);
  EXPECT_EQ((std::vector<std::string_view>{"summary"}), last().roles);
  EXPECT_EQ("left", said_by(entry_of("branch_summary", R"({"summary":"left"})")).text);
  EXPECT_EQ("A trip", said_by(entry_of("session_info", R"({"title":"A trip"})")).text);
  EXPECT_EQ((std::vector<std::string_view>{"title"}), last().roles);
  EXPECT_EQ("", said_by(entry_of("session_info", R"({"tags":["x"]})")).text);
  EXPECT_TRUE(last().roles.empty());
}

TEST_F(SaidTest, RecordsOfOtherAgents) {
  const Said said = said_by(
      entry_of("claude.assistant",
               R"({"type":"assistant","uuid":"u","message":{"role":"assistant","content":[)"
               R"({"type":"tool_use","id":"t","name":"Grep","input":{"pattern":"needle"}}]}})"));
  EXPECT_EQ("Grep\nneedle", said.text);
  EXPECT_EQ((std::vector<std::string>{"grep"}), said.tools);
  EXPECT_EQ("Named", said_by(entry_of("fact.claude.custom-title",
                                      R"({"type":"custom-title","customTitle":"Named"})"))
                         .text);
}

TEST_F(SaidTest, BytesAreNoText) {
  const std::string encoded(4096, 'Q');
  const Said said = said_by(user("before data:image/png;base64," + encoded + " after"));
  EXPECT_EQ("before data:image/png;base64, after", said.text);
  const std::string word(1000, 'w');
  EXPECT_EQ(word, said_by(user(word)).text);
  EXPECT_EQ("", said_by(user(encoded)).text);
}

TEST_F(SaidTest, WhatIsNoMessageSaysNothing) {
  EXPECT_EQ("", said_by(entry_of("usage", R"({"tokensIn":1,"note":"words"})")).text);
  EXPECT_EQ("", said_by(entry_of("custom", R"({"text":"words"})")).text);
  EXPECT_EQ("", said_by(entry_of("message", R"({"role":"user"})")).text);
}

}  // namespace
}  // namespace quipu::test
