// Records that are larger than an entry may be.
#include <gtest/gtest.h>

#include "quipu/attachments.h"
#include "quipu/context.h"
#include "quipu/usage.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

const std::string kClaudePath =
    "/home/ada/.claude/projects/-data/11111111-2222-4333-8444-555555555555.jsonl";
const std::string kClaude = "claude.11111111-2222-4333-8444-555555555555";

std::string claude_line(const std::string& type, const std::string& id, const std::string& parent,
                        const std::string& message) {
  return R"({"parentUuid":)" + (parent.empty() ? "null" : "\"" + parent + "\"") +
         R"(,"isSidechain":false,"type":")" + type + R"(","message":{"role":")" + type + "\"," +
         message + R"(},"uuid":")" + id + R"(","timestamp":"2026-01-01T00:00:0)" + id.back() +
         R"(.000Z","sessionId":"11111111-2222-4333-8444-555555555555"})";
}
std::string claude_answer(const std::string& content) {
  return claude_line("assistant", "a2", "q1",
                     R"("id":"m2","model":"claude-x","content":[)" + content +
                         R"(],"usage":{"input_tokens":5,"output_tokens":7})");
}
const std::string kAsked = claude_line("user", "q1", "", R"("content":"one")") + "\n";
const std::string kAskedMore = claude_line("user", "q3", "a2", R"("content":"three")") + "\n";
constexpr std::size_t kLarge = std::size_t{20'000'000};

TEST(LargeRecord, KeepsItsPlaceInTheTree) {
  ImportMachine machine;
  const std::string text =
      kAsked + claude_answer(R"({"type":"text","text":")" + std::string(kLarge, 'x') + "\"}") +
      "\r\n" + kAskedMore;
  machine.host.files[kClaudePath] = text;
  EXPECT_EQ(machine.import("claude", kClaudePath).problems.at(0).what, "too_large");
  EXPECT_EQ(machine.said(kClaude),
            (std::vector<std::string>{"user: one", "assistant: [20.0 MB, in an attachment]",
                                      "user: three"}));
  const auto summary = machine.store.sessions().describe_session(kClaude);
  EXPECT_EQ(summary->counts.tokens_out, 7u);
  EXPECT_EQ(summary->model, "claude-x");
  const auto entries = machine.store.sessions().load_session_entries(kClaude);
  const auto large = std::find_if(entries->begin(), entries->end(),
                                  [](const Entry& entry) { return entry.id == "a2"; });
  ASSERT_NE(large, entries->end());
  EXPECT_EQ(large->type, "claude.assistant");
  EXPECT_EQ(large->parent_id, "q1");
  EXPECT_EQ(large->timestamp, "2026-01-01T00:00:02.000Z");
  EXPECT_LT(large->json.size(), 2000u);
  EXPECT_TRUE(machine.give(kClaude, "claude").begin()->second == text);
  machine.host.files[kClaudePath] += claude_line("user", "q4", "q3", R"("content":"four")") + "\n";
  EXPECT_EQ(machine.import("claude", kClaudePath).added, 1u);
}

// Whoever looks for a header reads far: what is found there is no less large for it.
TEST(LargeRecord, TheFirstLine) {
  ImportMachine machine;
  const std::string path = "/notes/talk.jsonl";
  const auto line = [](const std::string& id, const std::string& text) {
    return R"({"id":")" + id +
           R"(","type":"message","timestamp":"2026-01-01T00:00:00.000Z","payload":{"role":"user","content":")" +
           text + "\"}}\n";
  };
  const std::string text = line("a", std::string(kLarge, 'x')) + line("b", "two");
  machine.host.files[path] = text;
  const ImportReport report = machine.import("jsonl", path);
  EXPECT_EQ(report.problems.at(0).what, "too_large");
  EXPECT_EQ(machine.said(report.session_id),
            (std::vector<std::string>{"user: [20.0 MB, in an attachment]", "user: two"}));
  EXPECT_TRUE(machine.give(report.session_id, "jsonl").begin()->second == text);
  machine.host.files[path] += line("c", "three");
  EXPECT_EQ(machine.import("jsonl", path).added, 1u);
}

// Bytes with words in them are none: an image that is not there has no data.
TEST(LargeRecord, WhatIsShortStaysAndWhatIsManyIsCut) {
  ImportMachine machine;
  std::string small = R"({"type":"text","text":"first"})";
  for (int i = 0; i < 400'000; ++i) small += R"( , {"type":"text","text":"[\"},{\\"})";
  const std::string image =
      R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":")" +
      std::string(kLarge, 'A') + "\"}}";
  const std::string text = kAsked + claude_answer(image + "," + small) + "\n" + kAskedMore;
  machine.host.files[kClaudePath] = text;
  machine.import("claude", kClaudePath);
  const auto said = machine.said(kClaude);
  ASSERT_GT(said.size(), 1000u);
  EXPECT_LT(said.size(), 100'000u);
  EXPECT_EQ(said.at(2), "assistant: first");
  EXPECT_EQ(said.at(3), R"(assistant: ["},{\)");
  EXPECT_EQ(said.back(), "user: three");
  EXPECT_EQ(machine.store.sessions().describe_session(kClaude)->counts.tokens_out, 7u);
  EXPECT_TRUE(machine.give(kClaude, "claude").begin()->second == text);
}

TEST(LargeRecord, ThatIsNoObjectIsRaw) {
  const std::string huge(kLarge, 'x');
  const std::vector<std::string> lines = {
      huge,
      "\"" + huge,
      "{\"uuid\":" + huge + "}",
      "{\"uuid\":\"\\" + huge + "\"}}",
      "{\"" + huge + "\":1,\"type\":\"\xff\"}",
      claude_answer("\"" + huge + "\"") + kAsked,
      std::string(kLarge, '['),
      claude_answer("\"" + huge + "\"," + std::string(120, '[') + std::string(120, ']')),
  };
  for (const std::string& line : lines) {
    ImportMachine machine;
    const std::string text = kAsked + line + "\n" + kAskedMore;
    machine.host.files[kClaudePath] = text;
    machine.import("claude", kClaudePath);
    EXPECT_TRUE(machine.give(kClaude, "claude").begin()->second == text) << line.substr(0, 20);
    EXPECT_EQ(machine.said(kClaude), std::vector<std::string>{"user: three"});
  }
}

TEST(LargeRecord, ThatIsCutOffIsReadAgain) {
  ImportMachine machine;
  const std::string whole =
      kAsked + claude_answer(R"({"type":"text","text":")" + std::string(kLarge, 'x') + "\"}") +
      "\n" + kAskedMore;
  machine.host.files[kClaudePath] = whole.substr(0, kLarge - 1000);
  EXPECT_EQ(machine.import("claude", kClaudePath).problems.at(0).what, "torn");
  machine.host.files[kClaudePath] = whole;
  machine.import("claude", kClaudePath);
  EXPECT_EQ(machine.said(kClaude).size(), 3u);
  EXPECT_TRUE(machine.give(kClaude, "claude").begin()->second == whole);
}

}  // namespace
}  // namespace quipu
