// pi: its versions, its leaf, what a model sees of a path.
#include <gtest/gtest.h>

#include "support/import_machine.h"

namespace quipu {
namespace {

using Lines = std::vector<std::string>;

const std::string kPath = "/home/ada/.pi/agent/sessions/--data--/2026_s1.jsonl";
const std::string kHeader =
    R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})"
    "\n";

std::string entry(const std::string& type, const std::string& id, const std::string& parent,
                  const std::string& more) {
  return R"({"type":")" + type + R"(","id":")" + id + R"(","parentId":)" +
         (parent.empty() ? "null" : "\"" + parent + "\"") +
         R"(,"timestamp":"2026-03-01T09:30:01.000Z",)" + more + "}\n";
}
std::string message(const std::string& id, const std::string& parent, const std::string& role,
                    const std::string& text, const std::string& more = {}) {
  return entry("message", id, parent,
               R"("message":{"role":")" + role + R"(","content":[{"type":"text","text":")" + text +
                   R"("}])" + more + "}");
}

Lines said(const std::string& text) {
  ImportMachine machine;
  machine.host.files[kPath] = text;
  machine.import("pi", kPath);
  return machine.said("pi.s1");
}

constexpr const char* kSummary =
    "user: The conversation so far has been compacted. This summary stands for what was said "
    "before:\n\n<summary>\nS\n</summary>";

TEST(Pi, TheLastEntryOfTheFileIsTheLeaf) {
  EXPECT_EQ(said(kHeader + message("a", "", "user", "one") + message("b", "a", "assistant", "two") +
                 message("c", "a", "assistant", "other") +
                 entry("label", "l", "b", R"("targetId":"b","label":"x")")),
            (Lines{"user: one", "assistant: two"}));
}

TEST(Pi, ACompactionKeepsWhatItNames) {
  const std::string path = kHeader + message("a", "", "user", "one") +
                           message("b", "a", "assistant", "two") +
                           message("c", "b", "user", "three");
  const auto compaction = [](const std::string& kept) {
    return entry("compaction", "k", "c", R"("summary":"S","firstKeptEntryId":")" + kept + "\"");
  };
  EXPECT_EQ(said(path + compaction("c") + message("d", "k", "assistant", "four")),
            (Lines{kSummary, "user: three", "assistant: four"}));
  EXPECT_EQ(said(path + compaction("k") + message("d", "k", "assistant", "four")),
            (Lines{kSummary, "assistant: four"}));
  EXPECT_EQ(said(path + compaction("nowhere")), Lines{kSummary});
}

TEST(Pi, EditsReplaceOrDrop) {
  const std::string path = kHeader + message("a", "", "user", "one") +
                           message("b", "a", "assistant", "two") +
                           message("c", "b", "user", "three");
  EXPECT_EQ(said(path + entry("context_edit", "e", "c",
                              R"("targetId":"b","replacement":{"content":"better"})")),
            (Lines{"user: one", "assistant: better", "user: three"}));
  EXPECT_EQ(said(path + entry("context_edit", "e", "c", R"("targetId":"b","replacement":null)")),
            (Lines{"user: one", "user: three"}));
}

TEST(Pi, WhatFailedOrIsKeptFromTheModelIsNotSent) {
  EXPECT_EQ(
      said(
          kHeader + message("a", "", "user", "one") +
          message("b", "a", "assistant", "no", R"(,"stopReason":"error")") +
          entry("message", "c", "b",
                R"("message":{"role":"bashExecution","command":"ls","output":"x","exitCode":2})") +
          entry(
              "message", "d", "c",
              R"("message":{"role":"bashExecution","command":"id","output":"","excludeFromContext":true})")),
      (Lines{"user: one", "user: Ran `ls`\n```\nx\n```\n\nCommand exited with code 2"}));
}

TEST(Pi, VersionOneHasNoIdsAndCountsRecords) {
  const std::string text =
      R"({"type":"session","id":"s1","timestamp":"2025-11-01T09:30:00.000Z","cwd":"/data","branchedFrom":"/x/2025_old.jsonl"})"
      "\n"
      R"({"type":"message","timestamp":"2025-11-01T09:30:01.000Z","message":{"role":"user","content":"one"}})"
      "\n"
      R"({"type":"message","timestamp":"2025-11-01T09:30:02.000Z","message":{"role":"user","content":"two"}})"
      "\n"
      R"({"type":"compaction","timestamp":"2025-11-01T09:30:03.000Z","summary":"S","firstKeptEntryIndex":2})"
      "\n";
  EXPECT_EQ(said(text), (Lines{kSummary, "user: two"}));
  ImportMachine machine;
  machine.host.files[kPath] = text;
  machine.import("pi", kPath);
  EXPECT_EQ(machine.store.sessions().describe_session("pi.s1")->parent_session, "pi.old");
}

TEST(Pi, ALeafRecordMovesTheLeaf) {
  EXPECT_EQ(said(kHeader + message("a", "", "user", "one") + message("b", "a", "assistant", "two") +
                 entry("leaf", "l", "b", R"("targetId":"a")")),
            Lines{"user: one"});
}

TEST(Pi, TransactionsOfTheHarnessAreRead) {
  const std::string text =
      R"({"v":4,"kind":"header","id":"s1","storageVersion":1,"createdAt":1772357401000,"cwd":"/data"})"
      "\n"
      R"([{"kind":"entry","id":"a","parentId":null,"seq":1,"timestamp":1772357401001,"type":"message","message":{"role":"user","content":"one"}},{"kind":"entry","id":"b","parentId":"a","seq":2,"timestamp":1772357401002,"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}])"
      "\n"
      R"({"kind":"entry","id":"k","parentId":"b","seq":3,"timestamp":1772357401003,"type":"compaction","summary":"S","retainedTail":[{"role":"user","content":"kept"}]})"
      "\n"
      R"({"kind":"entry","id":"c","parentId":"k","seq":4,"timestamp":1772357401004,"type":"message","message":{"role":"user","content":"three"}})"
      "\n"
      R"({"kind":"value","op":"set","namespace":"pi.session.name","key":"","value":"Named"})"
      "\n";
  EXPECT_EQ(said(text), (Lines{kSummary, "user: kept", "user: three"}));
  ImportMachine machine;
  machine.host.files[kPath] = text;
  machine.import("pi", kPath);
  EXPECT_EQ(machine.give("pi.s1", "pi").begin()->second, text);
  EXPECT_EQ(machine.store.sessions().describe_session("pi.s1")->title, "Named");
}

const std::string kHarness =
    R"({"v":4,"kind":"header","id":"s1","storageVersion":1,"createdAt":1772357401000,"cwd":"/data"})"
    "\n";
std::string write(const std::string& id, const std::string& parent, const std::string& role,
                  const std::string& text) {
  return R"({"kind":"entry","id":")" + id + R"(","parentId":)" +
         (parent.empty() ? "null" : "\"" + parent + "\"") +
         R"(,"seq":1,"timestamp":1772357401001,"type":"message","message":{"role":")" + role +
         R"(","content":")" + text + "\"}}\n";
}
std::string tip(const std::string& entry) {
  return R"({"kind":"value","op":"set","namespace":"pi.branch.tip","key":"main","value":")" +
         entry + "\"}\n";
}

TEST(Pi, ATipThatIsMovedByItselfIsWhereTheSessionGoesOn) {
  const std::string text = kHarness + write("e1", "", "user", "q1") +
                           write("e2", "e1", "assistant", "a2") + write("e3", "e2", "user", "q3") +
                           write("e4", "e3", "assistant", "a4");
  EXPECT_EQ(said(text + tip("e2")), (Lines{"user: q1", "assistant: a2"}));
  EXPECT_EQ(said(text + tip("e2") + tip("e3")), (Lines{"user: q1", "assistant: a2", "user: q3"}));
  EXPECT_EQ(said(text + tip("e2") + write("e5", "e2", "user", "q5")),
            (Lines{"user: q1", "assistant: a2", "user: q5"}));

  ImportMachine machine;
  machine.host.files[kPath] = text;
  machine.import("pi", kPath);
  const std::string before = machine.store.sessions().describe_session("pi.s1")->head;
  machine.host.files[kPath] += tip("e2") + write("e5", "e2", "user", "q5");
  machine.import("pi", kPath);
  EXPECT_EQ(machine.said("pi.s1").size(), 3u);
  EXPECT_EQ(machine.said("pi.s1", before).size(), 4u) << "what was said there stays said";
}

TEST(Pi, ATransactionThatIsTooLargeKeepsItsEntries) {
  std::string answer = write("e2", "e1", "assistant", std::string(20'000'000, 'x'));
  answer.pop_back();
  EXPECT_EQ(said(kHarness + write("e1", "", "user", "q1") + "[" + answer + "]\n" +
                 write("e3", "e2", "user", "q3")),
            (Lines{"user: q1", "assistant: [20.0 MB, in an attachment]", "user: q3"}));
}

TEST(Pi, PromptsOfTheHarnessAreCountedAndNameTheSession) {
  ImportMachine machine;
  machine.host.files[kPath] = kHarness + write("e1", "", "user", "q1") +
                              write("e2", "e1", "assistant", "a2") +
                              write("e3", "e2", "user", "q3");
  machine.import("pi", kPath);
  const auto summary = machine.store.sessions().describe_session("pi.s1");
  EXPECT_EQ(summary->counts.messages, 2u);
  EXPECT_EQ(summary->title, "q1");

  // Several in one transaction.
  const auto bare = [](std::string line) { return line.substr(0, line.size() - 1); };
  machine.host.files[kPath] += "[" + bare(write("e4", "e3", "user", "q4")) + "," +
                               bare(write("e5", "e4", "user", "q5")) + "]\n";
  machine.import("pi", kPath);
  EXPECT_EQ(machine.store.sessions().describe_session("pi.s1")->counts.messages, 4u);
}

TEST(Pi, TheLastNameIsTheTitle) {
  ImportMachine machine;
  machine.host.files[kPath] = kHeader + message("a", "", "user", "one") +
                              entry("session_info", "i", "a", R"("name":"First")") +
                              entry("session_info", "j", "i", R"("name":"Second")");
  machine.import("pi", kPath);
  EXPECT_EQ(machine.store.sessions().describe_session("pi.s1")->title, "Second");
}

}  // namespace
}  // namespace quipu
