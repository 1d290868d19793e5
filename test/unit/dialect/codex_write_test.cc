// A conversation written as a rollout, and read again.
#include <gtest/gtest.h>

#include "base/json_scan.h"
#include "codex_rollout.h"

namespace quipu::dialect::codex {
namespace {

using Texts = std::vector<std::string>;

Transcript transcript(std::vector<Message> messages) {
  Transcript said;
  said.session_id = "quipu";
  said.cwd = "/w";
  said.created = "2026-01-02T03:04:05.678Z";
  said.model = "gpt-5";
  said.provider = "openai";
  said.seed = "seed";
  int at = 0;
  for (Message& message : messages) {
    said.messages.push_back({.entry_id = "e" + std::to_string(at++),
                             .timestamp = "2026-01-02T03:04:06.000Z",
                             .message = std::move(message)});
  }
  return said;
}

Message by(Role role, std::vector<Part> parts, std::string provider = "openai") {
  Message message;
  message.role = role;
  message.parts = std::move(parts);
  message.provider = std::move(provider);
  return message;
}

Part thinking(std::string text, std::string signature) {
  Part part;
  part.type = PartType::kThinking;
  part.text = std::move(text);
  part.signature = std::move(signature);
  return part;
}

Part image(std::string data) {
  Part part;
  part.type = PartType::kAttachment;
  part.media_type = "image/png";
  part.data = std::move(data);
  return part;
}

Written written(const Transcript& said) {
  auto result = kCodex.write(said);
  EXPECT_TRUE(result.ok());
  return result.ok() ? std::move(result).value() : Written{};
}

std::vector<Message> a_conversation() {
  Part text_call = Part::of_tool_use("c2", "apply_patch", "");
  text_call.raw_input = "*** Begin";
  Message answer = by(Role::kAssistant, {thinking("hm", "E"), Part::of_text("Let me see"),
                                         Part::of_tool_use("c1", "shell", R"({"cmd":"ls"})")});
  answer.usage = Usage{.tokens_in = 10, .tokens_out = 5, .cache_read = 90, .reasoning = 2};
  return {
      by(Role::kSystem, {Part::of_text("<permissions instructions>x</permissions instructions>")}),
      by(Role::kUser, {Part::of_text("hi \"there\"\n"), image("QUJD")}),
      std::move(answer),
      by(Role::kTool, {Part::of_tool_result("c1", "a.txt")}),
      by(Role::kAssistant, {text_call}),
      by(Role::kTool, {Part::of_tool_result("c2", "done")}),
      by(Role::kAssistant, {Part::of_text("Done: 完成 😀")}),
      Message::user("again")};
}

TEST(CodexWrite, ReadsBackAsTheSameMessages) {
  const Written out = written(transcript(a_conversation()));
  ASSERT_EQ(out.files.size(), 1u);
  EXPECT_TRUE(out.lost.empty());
  EXPECT_EQ(conversation(out.files[0].bytes),
            (Texts{"system: <permissions instructions>x</permissions instructions>",
                   "user: hi \"there\"\n image/png QUJD", "assistant: thinks hm [E]",
                   "assistant: Let me see", R"(assistant: call c1 shell {"cmd":"ls"})",
                   "tool: result c1 a.txt", "assistant: call c2 apply_patch text *** Begin",
                   "tool: result c2 done", "assistant: Done: 完成 😀", "user: again"}));
}

// Codex pairs calls and results of a kind.
TEST(CodexWrite, ResultsAreOfTheKindOfTheirCall) {
  const Written out = written(transcript(a_conversation()));
  const std::string& text = out.files[0].bytes;
  EXPECT_NE(text.find(R"({"type":"function_call_output","call_id":"c1")"), std::string::npos);
  EXPECT_NE(text.find(R"({"type":"custom_tool_call_output","call_id":"c2")"), std::string::npos);
}

TEST(CodexWrite, TheFileIsWhereCodexLooks) {
  const Written out = written(transcript(a_conversation()));
  EXPECT_EQ(out.files[0].path,
            "sessions/2026/01/02/rollout-2026-01-02T03-04-05-" + out.session + ".jsonl");
  EXPECT_EQ(out.session.size(), 36u);
  EXPECT_EQ(out.session[14], '7');
  EXPECT_EQ(out.session.substr(0, 13), "019b7ca9-8f2e") << "milliseconds since 1970";
  EXPECT_TRUE(kCodex.recognises(out.files[0].path, out.files[0].bytes));
  const ReadRollout rollout = read_rollout(out.files[0].bytes, out.files[0].path);
  EXPECT_EQ(rollout.outline.session, out.session);
  EXPECT_EQ(rollout.outline.cwd, "/w");
  for (const ReadRecord& record : rollout.records) EXPECT_EQ(record.problem, "");
}

TEST(CodexWrite, TheSameTranscriptGivesTheSameBytes) {
  const Transcript said = transcript(a_conversation());
  EXPECT_EQ(written(said).files[0].bytes, written(said).files[0].bytes);
  Transcript other = said;
  other.seed = "other";
  EXPECT_NE(written(said).session, written(other).session);
}

// Each message twice: for the model and for the screen; turns begun and ended.
TEST(CodexWrite, BothSidesAreWritten) {
  std::vector<std::string> events;
  const Written out = written(transcript(a_conversation()));
  for (const ReadRecord& record : read_rollout(out.files[0].bytes).records) {
    if (record.kind == "turn_context") events.emplace_back("(context)");
    if (record.kind != "event_msg") continue;
    const auto payload = json::find_member(record.bytes, "payload");
    const auto type = json::find_member(payload->value, "type");
    events.push_back(json::decode_string(type->value));
  }
  EXPECT_EQ(events, (Texts{"task_started", "user_message", "(context)", "agent_reasoning",
                           "agent_message", "token_count", "agent_message", "task_complete",
                           "task_started", "user_message", "(context)", "task_complete"}));
}

TEST(CodexWrite, UsageComesBack) {
  const Written out = written(transcript(a_conversation()));
  std::vector<UsageNote> usage;
  for (const Note& note : notes(out.files[0].bytes)) {
    usage.insert(usage.end(), note.usage.begin(), note.usage.end());
  }
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage[0].usage.tokens_in, 10u);
  EXPECT_EQ(usage[0].usage.cache_read, 90u);
  EXPECT_EQ(usage[0].usage.tokens_out, 5u);
}

TEST(CodexWrite, WhatItCannotSayIsReported) {
  Part failed = Part::of_tool_result("c", "no", true);
  failed.details = "{}";
  Part pdf = image("QQ==");
  pdf.media_type = "application/pdf";
  Transcript said =
      transcript({by(Role::kUser, {Part::of_text("hi"), pdf}),
                  by(Role::kAssistant, {thinking("hm", "sig"), Part::of_tool_use("c", "a.b", "{}")},
                     "anthropic"),
                  by(Role::kTool, {failed})});
  said.provider = "anthropic";
  said.model = "claude";
  said.title = "A name";
  const Written out = written(said);
  std::vector<std::string> lost;
  for (const Loss& loss : out.lost) lost.push_back(loss.entry_id + " " + loss.what);
  EXPECT_EQ(lost, (Texts{"e0 attachment", "e1 thinking", "e1 tool name", "e2 is_error",
                         "e2 details", " model"}));
  EXPECT_EQ(conversation(out.files[0].bytes),
            (Texts{"user: hi", "assistant: call c a_b {}", "tool: result c no"}));
  EXPECT_EQ(out.files[0].bytes.find("claude"), std::string::npos);
  EXPECT_EQ(out.files.at(1).path, "session_index.jsonl");
  EXPECT_NE(out.files[1].bytes.find("\"thread_name\":\"A name\""), std::string::npos);
  EXPECT_NE(out.files[0].bytes.find(R"("agent_reasoning","text":"hm")"), std::string::npos);
}

TEST(CodexWrite, ResultsWithSeveralParts) {
  Part result = Part::of_tool_result("c", "t");
  result.content.push_back(image("QUJD"));
  const Written out = written(
      transcript({Message::user("hi"), by(Role::kAssistant, {Part::of_tool_use("c", "see", "{}")}),
                  by(Role::kTool, {result})}));
  EXPECT_EQ(
      conversation(out.files[0].bytes).back(),
      R"(tool: result c [{"type":"text","text":"t"},{"type":"attachment","mediaType":"image/png","data":"QUJD"}])");
}

TEST(CodexWrite, NothingAtAll) {
  const Written out = written(Transcript{});
  ASSERT_EQ(out.files.size(), 1u);
  EXPECT_TRUE(conversation(out.files[0].bytes).empty());
  EXPECT_EQ(out.files[0].path.substr(0, 19), "sessions/1970/01/01");
}

}  // namespace
}  // namespace quipu::dialect::codex
