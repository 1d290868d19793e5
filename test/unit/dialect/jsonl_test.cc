// Plain lines: entries, and flat lines with a type for each role.
#include <gtest/gtest.h>

#include "laws.h"

namespace quipu {
namespace {

using Lines = std::vector<std::string>;

const std::string kPath = "/home/ada/logs/session-123.jsonl";

Session session(const std::string& text) {
  Session session{.agent = "jsonl", .main = kPath, .there = {}, .given = {}};
  session.there = {{kPath, text}};
  session.given = {{"session-123.jsonl", text}};
  return session;
}

struct Read {
  ImportMachine machine;
  std::string id;
  Lines said;
};

void read(const std::string& text, Read& into) {
  into.machine.host.files[kPath] = text;
  into.id = import_found(into.machine, "jsonl").session_id;
  into.said = into.machine.said(into.id);
}
Lines said(const std::string& text) {
  Read done;
  read(text, done);
  return done.said;
}

std::string entry(const std::string& id, const std::string& parent, const std::string& type,
                  const std::string& payload) {
  return R"({"id":")" + id + R"(",)" +
         (parent.empty() ? "" : R"("parentId":")" + parent + R"(",)") + R"("type":")" + type +
         R"(","timestamp":"2026-03-01T09:30:01.000Z","payload":)" + payload + "}\n";
}
std::string message(const std::string& id, const std::string& parent, const std::string& role,
                    const std::string& text) {
  return entry(id, parent, "message", R"({"role":")" + role + R"(","content":")" + text + "\"}");
}

const std::string kHeader = entry(
    "h", "", "session_header",
    R"({"version":1,"sessionId":"s1","cwd":"/data","title":"Maps","parentSession":{"sessionId":"s0","entryId":"x"}})");

const std::string kEntries =
    kHeader + message("a", "", "user", "one") + message("b", "a", "assistant", "two") +
    message("c", "a", "assistant", "other") + entry("k", "c", "unheard_of", R"({"x":1})") +
    "not JSON\n" + message("d", "k", "user", "three");

// The lines of the document that describes them.
const std::string kFlat =
    R"({"id":"msg-1","type":"user","content":"create hello.ts","timestamp":1708300000,"metadata":{"source":"cli"}})"
    "\n"
    R"({"id":"msg-2","parentId":"msg-1","type":"assistant","content":"I will","thinking":"hm","timestamp":1708300001000,"toolCalls":[{"id":"call-1","name":"write","params":{"path":"hello.ts"}}]})"
    "\n"
    R"({"id":"msg-3","parentId":"msg-2","type":"tool","name":"write","params":{"path":"hello.ts"},"toolCallId":"call-1","timestamp":1708300002})"
    "\n"
    R"({"id":"msg-4","parentId":"msg-3","type":"tool_result","toolCallId":"call-1","output":"File written","details":{"bytes":23},"success":true,"timestamp":1708300003})"
    "\n"
    R"({"id":"msg-5","parentId":"msg-2","type":"user","content":"no, wait","timestamp":1708300004})"
    "\n";

TEST(Jsonl, EntriesComeBack) {
  expect_lossless_and_idempotent(session(kEntries));
  expect_grows(session(kEntries), kHeader.size());
}

TEST(Jsonl, FlatLinesComeBack) {
  expect_lossless_and_idempotent(session(kFlat));
  expect_grows(session(kFlat), kFlat.find('\n') + 1);
}

TEST(Jsonl, WhatIsGoneFromTheFileStays) {
  Read done;
  read(kEntries, done);
  done.machine.host.files[kPath] = kHeader + message("a", "", "user", "one");
  EXPECT_EQ(import_found(done.machine, "jsonl").added, 0u);
  EXPECT_EQ(done.machine.said(done.id), done.said);
}

TEST(Jsonl, EntriesFollowTheirParents) {
  Read done;
  read(kEntries, done);
  EXPECT_EQ(done.id, "jsonl.s1");
  EXPECT_EQ(done.said, (Lines{"user: one", "assistant: other", "user: three"}));
  const auto summary = done.machine.store.sessions().describe_session(done.id);
  EXPECT_EQ(summary->title, "Maps");
  EXPECT_EQ(summary->cwd, "/data");
  EXPECT_EQ(summary->parent_session, "jsonl.s0");
  EXPECT_EQ(summary->counts.messages, 2u);
}

TEST(Jsonl, AHeadMovesTheEnd) {
  EXPECT_EQ(said(kEntries + entry("m", "", "head", R"({"entryId":"b"})")),
            (Lines{"user: one", "assistant: two"}));
}

TEST(Jsonl, SummariesAndRedactionsCount) {
  EXPECT_EQ(
      said(kHeader + message("a", "", "user", "one") + message("b", "a", "assistant", "two") +
           entry("s", "b", "compaction_summary", R"({"summary":"S","firstKeptEntryId":"b"})") +
           message("c", "s", "user", "secret") + message("d", "c", "user", "three") +
           entry("r", "", "redaction", R"({"targetEntryId":"c"})")),
      (Lines{"user: The conversation so far has been compacted. This summary stands for what "
             "was said before:\n\n<summary>\nS\n</summary>",
             "assistant: two", "user: three"}));
}

TEST(Jsonl, FlatCallsAreMadeOnce) {
  Read done;
  read(kFlat, done);
  EXPECT_EQ(done.said, (Lines{"user: create hello.ts", "assistant: (hm)", "assistant: I will",
                              "assistant: write({\"path\":\"hello.ts\"})", "user: no, wait"}));
  EXPECT_EQ(done.machine.said(done.id, "msg-4"),
            (Lines{"user: create hello.ts", "assistant: (hm)", "assistant: I will",
                   "assistant: write({\"path\":\"hello.ts\"})", "tool: = File written"}));
  EXPECT_EQ(done.machine.store.sessions().describe_session(done.id)->created,
            "2024-02-18T23:46:40.000Z");
}

TEST(Jsonl, TheSmallestLinesAreInOrderAndResultsAnswerTheLastCall) {
  Read done;
  read(R"({"id":"msg-1","type":"user","content":"go"})"
       "\n"
       R"({"id":"msg-2","type":"assistant","content":"going"})"
       "\n"
       R"({"id":"msg-3","type":"tool","name":"write","params":{"path":"x"}})"
       "\n"
       R"({"id":"msg-4","type":"tool_result","output":"File created"})"
       "\n",
       done);
  EXPECT_EQ(done.said, (Lines{"user: go", "assistant: going", "assistant: write({\"path\":\"x\"})",
                              "tool: = File created"}));
  const auto conversation = read_conversation(done.machine.store, done.id);
  EXPECT_EQ(conversation->at(2).message.parts.at(0).tool_use_id, "msg-3");
  EXPECT_EQ(conversation->at(3).message.parts.at(0).tool_use_id, "msg-3");
}

TEST(Jsonl, FilesOfTheSameNameAreSessionsOfTheirOwn) {
  ImportMachine machine;
  const std::string other = "/home/ada/elsewhere/session-123.jsonl";
  machine.host.files[kPath] = R"({"id":"1","type":"user","content":"here"})"
                              "\n";
  machine.host.files[other] = R"({"id":"1","type":"user","content":"there"})"
                              "\n";
  const auto reports = machine.import_all(
      machine.find({.agents = {}, .paths = {"/home/ada"}, .since_ms = 0}).sources);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_NE(reports[0].session_id, reports[1].session_id);
  EXPECT_EQ(machine.said(reports[0].session_id).size(), 1u);
}

TEST(Jsonl, OthersLinesAreNotTakenForItsOwn) {
  ImportMachine machine;
  machine.host.files[kPath] = R"({"name":"just data","value":1})"
                              "\n";
  machine.host.files["/home/ada/logs/store.jsonl"] =
      R"({"id":"h","type":"session_header","timestamp":"2026-03-01T09:30:01.000Z","payload":{"version":1},"_tx":"0001.027f8eba"})"
      "\n";
  machine.host.files["/home/ada/logs/events.jsonl"] =
      R"({"id":"e1","type":"click","timestamp":"2026-03-01T09:30:01.000Z"})"
      "\n";
  EXPECT_TRUE(machine.find({.agents = {}, .paths = {"/home/ada"}, .since_ms = 0}).sources.empty());
}

TEST(Jsonl, WhatIsWrittenIsReadAgain) {
  Read done;
  read(kFlat.substr(0, kFlat.rfind("{\"id\":\"msg-5\"")), done);
  Read again;
  auto given = export_session(done.machine.store, done.id, {.to = "jsonl", .normalise = true},
                              [&](const std::string& path, std::string_view bytes) {
                                again.machine.host.files["/home/ada/" + path] += bytes;
                                return Result<void>();
                              });
  ASSERT_TRUE(given.ok()) << given.error().message();
  const std::string id = import_found(again.machine, "jsonl").session_id;
  EXPECT_EQ(again.machine.said(id), done.said);
  EXPECT_TRUE(given->lost.empty());
  const auto before = read_conversation(done.machine.store, done.id);
  const auto after = read_conversation(again.machine.store, id);
  EXPECT_EQ(after->back().message.parts.at(0).details, R"({"bytes":23})");
  EXPECT_EQ(after->size(), before->size());
}

}  // namespace
}  // namespace quipu
