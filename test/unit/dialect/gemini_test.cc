// gemini-cli: what a log of operations comes to.
#include <gtest/gtest.h>

#include "support/import_machine.h"

namespace quipu {
namespace {

const std::string kPath = "/home/ada/.gemini/tmp/p/chats/session-2026-03-01T09-30-g1.jsonl";
const std::string kHeader =
    R"({"sessionId":"g1","projectHash":"h","startTime":"2026-03-01T09:30:00.000Z","lastUpdated":"2026-03-01T09:30:00.000Z","kind":"main"})"
    "\n";

std::string user(const std::string& id, const std::string& text) {
  return R"({"id":")" + id +
         R"(","timestamp":"2026-03-01T09:30:01.000Z","type":"user","content":[{"text":")" + text +
         R"("}]})"
         "\n";
}
std::string answer(const std::string& id, const std::string& text, const std::string& more = {}) {
  return R"({"id":")" + id +
         R"(","timestamp":"2026-03-01T09:30:02.000Z","type":"gemini","content":")" + text +
         R"(","model":"gemini-pro")" + more + "}\n";
}

std::vector<std::string> said(const std::string& operations) {
  ImportMachine machine;
  machine.host.files[kPath] = kHeader + operations;
  machine.import("gemini", kPath);
  return machine.said("gemini.g1");
}

using Lines = std::vector<std::string>;

TEST(Gemini, TheSameIdAgainTakesTheFirstOnesPlace) {
  EXPECT_EQ(said(user("u", "one") + answer("g", "tw") + user("v", "three") + answer("g", "two")),
            (Lines{"user: one", "assistant: two", "user: three"}));
}

TEST(Gemini, RewindTakesAwayFromThereOn) {
  EXPECT_EQ(said(user("u", "one") + answer("g", "two") + user("v", "three") +
                 R"({"$rewindTo":"g"})"
                 "\n" +
                 user("w", "four")),
            (Lines{"user: one", "user: four"}));
  // An id that is not there takes everything.
  EXPECT_EQ(said(user("u", "one") +
                 R"({"$rewindTo":"x"})"
                 "\n" +
                 user("w", "four")),
            Lines{"user: four"});
}

TEST(Gemini, AListOfMessagesReplacesAll) {
  EXPECT_EQ(said(user("u", "one") + answer("g", "two") +
                 R"({"$set":{"messages":[{"id":"s","type":"user","content":"summary"},)"
                 R"({"id":"k","type":"gemini","content":"kept"}]}})"
                 "\n" +
                 answer("k", "kept and changed") + user("v", "three")),
            (Lines{"user: summary", "assistant: kept and changed", "user: three"}));
}

TEST(Gemini, WhatIsNotSentIsNotInTheConversation) {
  EXPECT_EQ(said(user("a", "<session_context>\\nsetup") + user("b", "/help") + user("c", "?x") +
                 user("d", "") +
                 R"({"id":"i","type":"info","content":"update"})"
                 "\n" +
                 user("e", "real")),
            Lines{"user: real"});
}

TEST(Gemini, CallsAndTheirResultsStandInOneRecord) {
  const std::string calls =
      R"(,"thoughts":[{"subject":"S","description":"D"}],"toolCalls":[{"id":"c","name":"ls","args":{"p":1},"status":"success",)"
      R"("result":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"a.txt"}}}]}])";
  EXPECT_EQ(said(user("u", "one") + answer("g", "two", calls)),
            (Lines{"user: one", "assistant: (**S**\nD)", "assistant: two",
                   "assistant: ls({\"p\":1})", "assistant: = a.txt"}));
}

TEST(Gemini, AListHasCallsAmongTheWordsAndAnIdOnce) {
  EXPECT_EQ(
      said(
          R"({"$set":{"messages":[{"id":"u","type":"user","content":"one"},)"
          R"({"id":"g","type":"gemini","content":[{"text":"hm","thought":true},{"functionCall":{"id":"c","name":"ls","args":{}}}],)"
          R"("thoughts":[{"description":"hm"}],"toolCalls":[{"id":"c","name":"ls","args":{},"result":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"a"}}}]}]},)"
          R"({"id":"r","type":"user","content":"first"},{"id":"r","type":"user","content":"last"}]}})"
          "\n"),
      (Lines{"user: one", "assistant: (hm)", "assistant: ls({})", "assistant: = a", "user: last"}));
}

TEST(Gemini, ACommandIsKnownByTheWholeText) {
  EXPECT_EQ(said(R"({"id":"a","type":"user","content":[{"text":"see "},{"text":"/etc"}]})"
                 "\n"
                 R"({"id":"b","type":"user","content":[{"text":"  "},{"text":" /help"}]})"
                 "\n"),
            (Lines{"user: see ", "user: /etc"}));
}

TEST(Gemini, WhatIsWrittenIsReadAgain) {
  ImportMachine machine;
  const std::string calls =
      R"(,"thoughts":[{"subject":"","description":"D"}],"tokens":{"input":100,"output":20,"cached":40,"thoughts":5,"tool":0,"total":125},)"
      R"("toolCalls":[{"id":"c","name":"ls","args":{"p":1},"status":"success",)"
      R"("result":[{"functionResponse":{"id":"c","name":"ls","response":{"output":"a.txt"}}}]},)"
      R"({"id":"d","name":"rm","args":{},"status":"error","result":[{"functionResponse":{"id":"d","name":"rm","response":{"error":"no"}}}]}])";
  machine.host.files["/home/ada/.gemini/tmp/p/.project_root"] = "/data/My Atlas!";
  machine.host.files[kPath] = kHeader + user("u", "one") + answer("g", "two", calls) +
                              user("v", "three") + answer("h", "four") +
                              R"({"$set":{"summary":"Maps"}})"
                              "\n";
  machine.import("gemini", kPath);
  ImportMachine other;
  std::string written;
  auto given = export_session(machine.store, "gemini.g1", {.to = "gemini", .normalise = true},
                              [&](const std::string& path, std::string_view bytes) {
                                other.host.files["/home/ada/.gemini/" + path] += bytes;
                                if (path.ends_with(".jsonl")) written = path;
                                return Result<void>();
                              });
  ASSERT_TRUE(given.ok()) << given.error().message();
  EXPECT_TRUE(written.starts_with("tmp/my-atlas/chats/session-2026-03-01T09-30-")) << written;
  EXPECT_EQ(other.host.files["/home/ada/.gemini/tmp/my-atlas/.project_root"], "/data/My Atlas!");
  const auto found = other.find({.agents = {}, .paths = {"/home/ada"}, .since_ms = 0});
  ASSERT_EQ(found.sources.size(), 1u);
  const std::string id = other.import_all(found.sources).at(0).session_id;
  EXPECT_EQ(other.said(id), machine.said("gemini.g1"));
  const auto summary = other.store.sessions().describe_session(id);
  EXPECT_EQ(summary->title, "Maps");
  EXPECT_EQ(summary->cwd, "/data/My Atlas!");
  EXPECT_EQ(summary->counts.tokens_in, 60u);
  EXPECT_EQ(summary->counts.tokens_out, 25u);
  EXPECT_TRUE(given->lost.empty());
}

TEST(Gemini, WhatItWouldTakeForACommandIsReported) {
  ImportMachine machine;
  const std::string path = "/home/ada/.pi/agent/sessions/--data--/2026_s1.jsonl";
  machine.host.files[path] =
      R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})"
      "\n"
      R"({"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z","message":{"role":"user","content":" /etc/hosts: what is it?","timestamp":1}})"
      "\n";
  machine.import("pi", path);
  const auto ignore = [](const std::string&, std::string_view) { return Result<void>(); };
  const auto given = export_session(machine.store, "pi.s1", {.to = "gemini"}, ignore);
  ASSERT_TRUE(given.ok());
  ASSERT_EQ(given->lost.size(), 1u);
  EXPECT_EQ(given->lost[0].what, "prompt");
  EXPECT_EQ(given->lost[0].entry_id, "a");
}

TEST(Gemini, InputCountsWithoutTheCacheAndOutputWithThoughts) {
  ImportMachine machine;
  const std::string tokens =
      R"(,"tokens":{"input":100,"output":20,"cached":40,"thoughts":5,"tool":0,"total":125})";
  machine.host.files[kPath] =
      kHeader + user("u", "one") + answer("g", "t", tokens) + answer("g", "two", tokens);
  machine.import("gemini", kPath);
  const auto summary = machine.store.sessions().describe_session("gemini.g1");
  EXPECT_EQ(summary->counts.tokens_in, 60u);
  EXPECT_EQ(summary->counts.cache_read, 40u);
  EXPECT_EQ(summary->counts.tokens_out, 25u);
  EXPECT_EQ(summary->counts.messages, 1u);
  EXPECT_EQ(summary->provider, "google");
}

TEST(Gemini, TitleDirectoryAndParentAreFound) {
  ImportMachine machine;
  const std::string path = "/home/ada/.gemini/tmp/p/chats/parent-id/sub.jsonl";
  machine.host.files["/home/ada/.gemini/tmp/p/.project_root"] = "/data/atlas\n";
  machine.host.files[path] = kHeader + user("u", "one") +
                             R"({"$set":{"summary":"Maps"}})"
                             "\n";
  machine.import("gemini", path);
  const auto summary = machine.store.sessions().describe_session("gemini.g1");
  EXPECT_EQ(summary->title, "Maps");
  EXPECT_EQ(summary->cwd, "/data/atlas");
  EXPECT_EQ(summary->spawned_by, "gemini.parent-id");
}

// The program writes its members in the order in which they came to be known.
TEST(Gemini, ATitleStandsBeforeOrBehindTheMessagesOfADocument) {
  const std::string path = "/home/ada/.gemini/tmp/p/chats/session-2026-03-01T09-30-g1.json";
  const std::string begin = R"({"sessionId":"g1","projectHash":"h",)";
  const std::string title = R"("summary": "Maps, \"old\"")";
  const std::string list = R"("messages": [)"
                           "\n  " +
                           user("u", "one") + "]";
  for (const std::string& text :
       {begin + title + ",\n" + list + "\n}\n", begin + list + " ,\n" + title + "}",
        begin + R"("messages":[],)" + title + "}"}) {
    SCOPED_TRACE(text);
    ImportMachine machine;
    machine.host.files[path] = text;
    machine.import("gemini", path);
    EXPECT_EQ(machine.store.sessions().describe_session("gemini.g1")->title, "Maps, \"old\"");
    EXPECT_EQ(machine.give("gemini.g1", "gemini").begin()->second, text);
    EXPECT_EQ(machine.import("gemini", path).added, 0u);
  }
}

TEST(Gemini, CheckpointsAreListsOfContents) {
  ImportMachine machine;
  const std::string path = "/home/ada/.gemini/tmp/p/checkpoint-x.json";
  machine.host.files[path] =
      R"({"history":[{"role":"user","parts":[{"text":"one"}]},{"role":"model","parts":[{"text":"two"}]}]})";
  const std::string session = machine.import("gemini", path).session_id;
  EXPECT_EQ(machine.said(session), (Lines{"user: one", "assistant: two"}));
  EXPECT_EQ(machine.give(session, "gemini").begin()->second, machine.host.files[path]);
}

}  // namespace
}  // namespace quipu
