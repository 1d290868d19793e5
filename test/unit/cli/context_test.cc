// context, compact and show, as a shell sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/json_in.h"
#include "program.h"

namespace quipu::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class ContextCliTest : public CliTest {
 protected:
  ContextCliTest() {
    EXPECT_EQ(quipu({"new", "--id", "s"}).code, 0);
    append(
        R"({"id":"y","type":"message","payload":{"role":"system","content":"Be brief."}})"
        "\n"
        R"({"id":"u","type":"message","payload":{"role":"user","content":"Mend it"}})"
        "\n"
        R"({"id":"a","type":"message","payload":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"read","input":{"path":"x.c"}}]}})"
        "\n"
        R"({"id":"r","type":"message","payload":{"role":"tool","content":[{"type":"tool_result","toolUseId":"t","content":"@@ -1 +1 @@\n-old\n+new"}]}})"
        "\n"
        R"({"id":"v","type":"message","payload":{"role":"user","content":"And now?"}})");
  }
  void append(const std::string& lines) {
    const Outcome stored = quipu({"append", "s"}, lines);
    EXPECT_EQ(stored.code, 0) << stored.err;
  }
};

TEST_F(ContextCliTest, TheRequestAsItWouldBeSent) {
  const Outcome request = quipu({"context", "s", "--provider", "openai-chat", "--json"});
  EXPECT_EQ(request.code, 0) << request.err;
  EXPECT_EQ(
      request.out,
      R"({"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Mend it"},)"
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function",)"
      R"("function":{"name":"read","arguments":"{\"path\":\"x.c\"}"}}]},)"
      R"({"role":"tool","tool_call_id":"t","content":"@@ -1 +1 @@\n-old\n+new"},)"
      R"({"role":"user","content":"And now?"}]})"
      "\n");
  EXPECT_EQ(quipu({"context", "s", "--provider", "openai-chat"}).out, request.out);
}

TEST_F(ContextCliTest, AsOfAnEarlierEntry) {
  const Outcome then = quipu({"context", "s", "--head", "u"});
  EXPECT_EQ(then.code, 0) << then.err;
  EXPECT_THAT(then.out, HasSubstr("Mend it"));
  EXPECT_THAT(then.out, Not(HasSubstr("And now?")));
  EXPECT_EQ(quipu({"context", "s", "--head", "nothing"}).code, 3);
  EXPECT_EQ(quipu({"context", "nobody"}).code, 3);
  EXPECT_EQ(quipu({"context", "s", "--provider", "oracle"}).code, 2);
}

TEST_F(ContextCliTest, Explained) {
  const Outcome table = quipu({"context", "s", "--explain"});
  EXPECT_THAT(table.out, HasSubstr("VERDICT"));
  EXPECT_THAT(table.out, HasSubstr("messages, about"));
  const std::string out = quipu({"context", "s", "--explain", "--json"}).out;
  const JsonView json(out);
  EXPECT_EQ(json.member("messages").elements().size(), 4u);
  const auto entries = json.member("explain").member("entries").elements();
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_EQ(entries[1].member("entryId").string(), "u");
  EXPECT_EQ(entries[1].member("verdict").string(), "kept");
}

TEST_F(ContextCliTest, WhatDoesNotFitIsAnError) {
  const Outcome refused = quipu({"context", "s", "--budget", "1", "--json"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("\"too_large\""));
  EXPECT_EQ(refused.out, "");
}

TEST_F(ContextCliTest, CompactWithACommandAndLift) {
  const std::string before = quipu({"context", "s"}).out;
  const Outcome done =
      quipu({"compact", "s", "--keep", "5", "--summarizer", "grep -c 'Mend it'", "--json"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(JsonView(done.out).member("firstKeptEntryId").string(), "v");
  EXPECT_EQ(JsonView(done.out).member("filesRead").elements().size(), 1u);
  const std::string after = quipu({"context", "s"}).out;
  EXPECT_THAT(after, HasSubstr("<summary>\\n1\\n</summary>"));
  EXPECT_THAT(after, HasSubstr("Be brief."));
  EXPECT_THAT(after, Not(HasSubstr("Mend it")));
  EXPECT_THAT(quipu({"context", "s", "--full"}).out, HasSubstr("Mend it"));
  EXPECT_EQ(quipu({"compact", "s", "--lift"}).code, 0);
  EXPECT_EQ(quipu({"context", "s"}).out, before);
  const Outcome nothing = quipu({"compact", "s", "--lift"});
  EXPECT_EQ(nothing.code, 3);
  EXPECT_THAT(nothing.err, Not(HasSubstr("quipu list"))) << "the session is there";
}

TEST_F(ContextCliTest, SummarizersThatFailChangeNothing) {
  const std::string before = quipu({"cat", "s"}).out;
  for (const char* command : {"false", "exec /no/such/program", "true", "kill -9 $$"}) {
    const Outcome failed = quipu({"compact", "s", "--keep", "5", "--summarizer", command});
    EXPECT_EQ(failed.code, 1) << command;
    EXPECT_THAT(failed.err, HasSubstr("summarizer")) << command;
  }
  EXPECT_EQ(quipu({"cat", "s"}).out, before);
}

TEST_F(ContextCliTest, ASummarizerNeedNotReadEverything) {
  append(R"({"type":"message","payload":{"role":"user","content":")" + std::string(500'000, 'x') +
         "\"}}");
  append(R"({"type":"message","payload":{"role":"user","content":"last"}})");
  EXPECT_EQ(quipu({"compact", "s", "--keep", "0", "--summarizer", "echo short"}).code, 0);
}

TEST_F(ContextCliTest, WithoutASummarizerItSaysWhatItDid) {
  const Outcome done = quipu({"compact", "s", "--keep", "0"});
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.err, HasSubstr("no summarizer was given"));
}

TEST_F(ContextCliTest, ShowUpToAnEntryAndRaw) {
  const Outcome then = quipu({"show", "s", "--head", "u"});
  EXPECT_THAT(then.out, HasSubstr("Mend it"));
  EXPECT_THAT(then.out, Not(HasSubstr("And now?")));
  const std::string raw = quipu({"show", "s", "--raw", "--entry", "u"}).out;
  EXPECT_EQ(JsonView(raw).member("id").string(), "u");
  EXPECT_THAT(quipu({"show", "s", "--raw"}).out, HasSubstr(R"("id":"v")"));
}

TEST_F(ContextCliTest, DiffsAreColoured) {
  const Outcome shown = quipu({"show", "s", "--color", "always"});
  EXPECT_THAT(shown.out, HasSubstr("\x1b[31m-old"));
  EXPECT_THAT(shown.out, HasSubstr("\x1b[32m+new"));
}

}  // namespace
}  // namespace quipu::cli
