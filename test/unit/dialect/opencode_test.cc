// opencode: what its databases, files and exports say.
#include <gtest/gtest.h>

#include "opencode_database.h"
#include "quipu/usage.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

using Lines = std::vector<std::string>;

const std::string kPath = "/home/ada/.local/share/opencode/opencode.db";

class Machine : public ImportMachine {
 public:
  std::vector<ImportReport> import_database(const OpencodeDatabase& database) {
    host.files[kPath] = database.image();
    return import_again();
  }
  std::vector<ImportReport> import_again() {
    const FoundSources found = find({.agents = {"opencode"}, .paths = {kPath}, .since_ms = 0});
    for (const ImportProblem& problem : found.problems) ADD_FAILURE() << problem.what;
    auto reports = import_all(found.sources);
    for (const ImportReport& report : reports) {
      EXPECT_FALSE(report.error) << report.error->message();
    }
    return reports;
  }
  SessionSummary summary(const std::string& session) {
    auto found = store.sessions().describe_session(session);
    EXPECT_TRUE(found.ok()) << found.error().message();
    return found.ok() ? *found : SessionSummary();
  }
};

Lines said(const OpencodeDatabase& database) {
  Machine machine;
  machine.import_database(database);
  return machine.said("opencode.ses_1");
}

std::string tool(const std::string& call, const std::string& state) {
  return R"({"type":"tool","callID":")" + call + R"(","tool":"bash","state":{)" + state + "}}";
}

TEST(Opencode, MessagesComeInTheirOrderWithTheirParts) {
  OpencodeDatabase database;
  database.session("ses_1").user("msg_2", "first").answer("msg_1", "second");
  database.part("prt_300", tool("c1", R"("status":"completed","input":{"a":1},"output":"done")"));
  database.part("prt_200", R"({"type":"reasoning","text":"hm"})");
  database.user("msg_3", "third");
  EXPECT_EQ(said(database), (Lines{"user: first", "assistant: second", "assistant: (hm)",
                                   "assistant: bash({\"a\":1})", "tool: = done", "user: third"}));
}

TEST(Opencode, TheSessionsRowSaysWhatItIs) {
  Machine machine;
  OpencodeDatabase database;
  database.session("ses_1", "Fix the build")
      .user("msg_1", "hello")
      .session("ses_2", "New session - 2026");
  database.run("UPDATE session SET time_archived = 5 WHERE id = 'ses_1'");
  database.run("UPDATE session SET parent_id = 'ses_1' WHERE id = 'ses_2'");
  EXPECT_EQ(machine.import_database(database).size(), 2u);
  const SessionSummary first = machine.summary("opencode.ses_1");
  EXPECT_EQ(first.title, "Fix the build");
  EXPECT_EQ(first.cwd, "/data/app");
  EXPECT_EQ(first.model, "m1");
  EXPECT_TRUE(first.archived);
  EXPECT_EQ(first.counts.messages, 1u);
  const SessionSummary second = machine.summary("opencode.ses_2");
  EXPECT_EQ(second.title, "");
  EXPECT_EQ(second.spawned_by, "opencode.ses_1");
  EXPECT_FALSE(second.archived);
}

TEST(Opencode, UsageIsCountedOnceInForksToo) {
  const std::string used =
      R"(,"time":{"created":77,"completed":99},"cost":0.25,)"
      R"("tokens":{"total":160,"input":100,"output":20,"reasoning":10,"cache":{"read":25,"write":5}})";
  Machine machine;
  OpencodeDatabase database;
  database.session("ses_1").user("msg_1", "hello").answer("msg_2", "hi", used);
  database.session("ses_2").message(
      "msg_3", R"({"role":"assistant","modelID":"m1","providerID":"acme")" + used + "}", "ses_2");
  machine.import_database(database);
  const auto usage = UsageStore(machine.store).aggregate({.project = ProjectScope::all()});
  ASSERT_TRUE(usage.ok());
  EXPECT_EQ(usage->total.requests, 1u);
  EXPECT_EQ(usage->total.tokens_in, 100u);
  EXPECT_EQ(usage->total.tokens_out, 30u);
  EXPECT_EQ(usage->total.reasoning, 10u);
  EXPECT_EQ(usage->total.cache_read, 25u);
  EXPECT_EQ(usage->total.cache_write, 5u);
  EXPECT_EQ(usage->total.cost_recorded_nano_usd, 250000000);
}

TEST(Opencode, ToolsThatWerePrunedFailedOrCutOff) {
  OpencodeDatabase database;
  database.session("ses_1").user("msg_1", "go").answer("msg_2", "");
  database.part(
      "prt_200",
      tool(
          "c1",
          R"("status":"completed","input":{},"output":"long","time":{"start":1,"end":2,"compacted":3})"));
  database.part("prt_201", tool("c2", R"("status":"error","input":{},"error":"no")"));
  database.part("prt_202", tool("c3", R"("status":"running","input":{})"));
  database.part(
      "prt_203",
      tool(
          "c4",
          R"("status":"error","input":{},"error":"x","metadata":{"interrupted":true,"output":"part of it"})"));
  EXPECT_EQ(said(database),
            (Lines{"user: go", "assistant: bash({})", "assistant: bash({})", "assistant: bash({})",
                   "assistant: bash({})", "tool: = [Old tool result content cleared]", "tool: = no",
                   "tool: = [Tool execution was interrupted]", "tool: = part of it"}));
}

TEST(Opencode, AnswersThatFailedAreNotSent) {
  OpencodeDatabase database;
  database.session("ses_1").user("msg_1", "go");
  database.answer("msg_2", "half", R"(,"error":{"name":"APIError","data":{}})");
  database.answer("msg_3", "aborted", R"(,"error":{"name":"MessageAbortedError","data":{}})");
  database.answer("msg_4", "", R"(,"error":{"name":"MessageAbortedError","data":{}})");
  EXPECT_EQ(said(database), (Lines{"user: go", "assistant: aborted"}));
}

OpencodeDatabase compacted(const std::string& more, const std::string& summary_more = {}) {
  OpencodeDatabase database;
  database.session("ses_1").user("msg_1", "one").answer("msg_2", "two").user("msg_3", "three");
  database.answer("msg_4", "four").message("msg_5", R"({"role":"user"})");
  database.part("prt_150", R"({"type":"compaction","auto":true)" + more + "}");
  database.answer("msg_6", "the summary", R"(,"parentID":"msg_5","summary":true)" + summary_more);
  return database.user("msg_7", "seven");
}

TEST(Opencode, ACompactionStandsForWhatCameBefore) {
  EXPECT_EQ(said(compacted("")),
            (Lines{"user: What did we do so far?", "assistant: the summary", "user: seven"}));
}

TEST(Opencode, TheTailThatWasKeptComesBehindTheSummary) {
  EXPECT_EQ(said(compacted(R"(,"tail_start_id":"msg_3")")),
            (Lines{"user: What did we do so far?", "assistant: the summary", "user: three",
                   "assistant: four", "user: seven"}));
}

TEST(Opencode, ACompactionThatFailedStandsForNothing) {
  EXPECT_EQ(said(compacted("", R"(,"error":{"name":"APIError"})")),
            (Lines{"user: one", "assistant: two", "user: three", "assistant: four",
                   "user: What did we do so far?", "user: seven"}));
}

TEST(Opencode, WhatWasTakenBackIsNotThere) {
  OpencodeDatabase database;
  database.session("ses_1").user("msg_1", "one").answer("msg_2", "two").user("msg_3", "three");
  OpencodeDatabase all = database;
  all.run(R"(UPDATE session SET revert = '{"messageID":"msg_2"}')");
  EXPECT_EQ(said(all), Lines{"user: one"});
  OpencodeDatabase some = database;
  some.message("msg_4", R"({"role":"assistant"})").text("kept");
  some.part("prt_900", R"({"type":"text","text":"gone"})");
  some.user("msg_5", "five")
      .run(R"(UPDATE session SET revert = '{"messageID":"msg_4","partID":"prt_900"}')");
  EXPECT_EQ(said(some), (Lines{"user: one", "assistant: two", "user: three", "assistant: kept"}));
}

TEST(Opencode, TheHeadIsTheLastMessageThatCounts) {
  Machine machine;
  OpencodeDatabase database;
  database.session("ses_1").user("msg_1", "one").answer("msg_2", "two").user("msg_3", "three");
  machine.import_database(database);
  EXPECT_EQ(machine.summary("opencode.ses_1").head, "msg_3");
  database.run(R"(UPDATE session SET revert = '{"messageID":"msg_2"}', time_updated = 9)");
  machine.import_database(database);
  EXPECT_EQ(machine.summary("opencode.ses_1").head, "msg_3") << "no message is new";
  EXPECT_EQ(machine.said("opencode.ses_1"), Lines{"user: one"});
}

TEST(Opencode, ImagesAreAttachments) {
  Machine machine;
  OpencodeDatabase database;
  database.session("ses_1").message("msg_1", R"({"role":"user"})");
  database.part(
      "prt_1",
      R"({"type":"file","mime":"image/png","filename":"a.png","url":"data:image/png;base64,AAAA"})");
  database.part("prt_2", R"({"type":"file","mime":"text/plain","url":"file:///x"})");
  machine.import_database(database);
  const auto said = read_conversation(machine.store, "opencode.ses_1", {});
  ASSERT_TRUE(said.ok());
  ASSERT_EQ(said->size(), 1u);
  ASSERT_EQ((*said)[0].message.parts.size(), 1u);
  const Part& part = (*said)[0].message.parts[0];
  EXPECT_EQ(part.media_type, "image/png");
  EXPECT_EQ(part.data, "AAAA");
  EXPECT_EQ(part.name, "a.png");
}

TEST(Opencode, EventSourcedMessagesAreRead) {
  const auto row = [](int seq, const std::string& type, const std::string& data) {
    return "INSERT INTO session_message VALUES ('evm_" + std::to_string(seq) + "', 'ses_1', '" +
           type + "', " + std::to_string(seq) + ", 1, 1, " + sql_text(data) + ")";
  };
  OpencodeDatabase database;
  database.session("ses_1").run(row(1, "user", R"({"text":"old"})"));
  database.run(row(2, "compaction", R"({"reason":"auto","summary":"short"})"));
  database.run(row(3, "user", R"({"text":"new"})"));
  database.run(row(
      4, "assistant",
      R"({"model":{"id":"m1","providerID":"acme"},"content":[)"
      R"({"type":"reasoning","text":"hm"},{"type":"tool","id":"c1","name":"read",)"
      R"("state":{"status":"completed","input":{"p":1},"content":[{"type":"text","text":"file"}]}}]})"));
  const Lines lines = said(database);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_NE(lines[0].find("short"), std::string::npos);
  EXPECT_EQ(Lines(lines.begin() + 1, lines.end()),
            (Lines{"user: new", "assistant: (hm)", "assistant: read({\"p\":1})", "tool: = file"}));
}

}  // namespace
}  // namespace quipu
