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
