// Which files are rollouts, and what their lines are.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "codex_rollout.h"
#include "dialect/carry.h"

namespace quipu::dialect::codex {
namespace {

constexpr const char* kThread = "11111111-1111-7111-8111-111111111111";
constexpr const char* kSegment = "22222222-2222-7222-8222-222222222222";

TEST(CodexRead, PlacesAreBelowCodexHome) {
  MemoryHost host;
  const auto places = [&](const std::string& set) {
    return kCodex.places({.files = host, .home = "/h", .variable = [&](const std::string& name) {
                            return name == "CODEX_HOME" ? set : std::string();
                          }});
  };
  EXPECT_EQ(places(""),
            (std::vector<std::string>{"/h/.codex/sessions", "/h/.codex/archived_sessions"}));
  EXPECT_EQ(places("/x"), (std::vector<std::string>{"/x/sessions", "/x/archived_sessions"}));
}

TEST(CodexRead, RolloutsAreRecognised) {
  const std::string head = meta("t");
  EXPECT_TRUE(kCodex.recognises("/any/name.jsonl", head));
  EXPECT_TRUE(kCodex.recognises(kPath, R"({"id":"t","timestamp":"x","instructions":null})"));
  EXPECT_TRUE(kCodex.recognises(std::string(kPath) + ".zst", "\x28\xb5\x2f\xfd"));
  EXPECT_TRUE(
      kCodex.recognises("/c/rollout-2025-04-17-a.json", R"({"session":{"id":"a"},"items":[)"));
  EXPECT_TRUE(kCodex.recognises("/any/name.jsonl", "\n{\"type\":\"to\n\xef\xbb\xbf\n" + head));
  EXPECT_TRUE(kCodex.recognises(kPath, "\xef\xbb\xbf" + head));
  EXPECT_FALSE(kCodex.recognises(kPath, "{\"type\":\"torn\n"));
  EXPECT_FALSE(kCodex.recognises("/any/name.jsonl", R"({"type":"session","id":"pi"})"));
  EXPECT_FALSE(kCodex.recognises("/c/session_index.jsonl", R"({"id":"t","thread_name":"n"})"));
  EXPECT_FALSE(kCodex.recognises("/c/other.jsonl.zst", "\x28\xb5\x2f\xfd"));
  EXPECT_FALSE(kCodex.recognises("/c/package.json", R"({"session":{"id":"a"}})"));
  EXPECT_FALSE(kCodex.recognises(kPath, "not json"));
}

TEST(CodexRead, ThePlainFileWinsOverTheCompressed) {
  MemoryHost host;
  const std::string compressed = std::string(kPath) + ".zst";
  host.files[compressed] = "";
  EXPECT_EQ(kCodex.sources(compressed, host)->size(), 1u);
  host.files[kPath] = meta(kThread);
  EXPECT_EQ(kCodex.sources(compressed, host)->size(), 0u);
}

TEST(CodexRead, ACompressedFileIsReadAsItWas) {
  const auto bytes = base64_decode(
      "KLUv/QRYLQQAUskdHmBFnAP1DQ/RRkSnFlX+nnd0FBAEXoHXBR6IAHApVkaMZgBOr/u6tzjZuQY4/eY5Tv5iqb61L1Ou"
      "7kG9Exkx+hE4zTyLk9dphjlKM+s10IJOXvumuMdUr04fQutkBeKQBAwqCyoJKoGoY6COBFGI07Ct1Te2jgIDAF3IAK7k"
      "g/tVZyg9tdU=");
  ASSERT_TRUE(bytes);
  const ReadRollout rollout = read_rollout(*bytes, std::string(kPath) + ".zst");
  EXPECT_EQ(rollout.outline.session, "t");
  EXPECT_EQ(rollout.outline.cwd, "/w");
  ASSERT_EQ(rollout.records.size(), 2u);
  EXPECT_EQ(lifted(rollout.records[1].kind, rollout.records[1].bytes),
            std::vector<std::string>{"user: hi"});
}

TEST(CodexRead, EveryLineIsANodeOfItsType) {
  const ReadRollout rollout =
      read_rollout(meta(kThread) + turn("a", "hi", "ho") + line("some_new_kind", "{}") +
                   line("compacted", R"({"message":"m"})"));
  std::vector<std::string> kinds;
  for (const ReadRecord& record : rollout.records) {
    kinds.push_back(record.kind);
    EXPECT_FALSE(record.is_fact);
    EXPECT_EQ(record.timestamp, "2026-01-02T03:04:05.678Z");
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{
                       "session_meta", "event_msg", "response_item", "event_msg", "turn_context",
                       "event_msg", "response_item", "event_msg", "some_new_kind", "compacted"}));
  EXPECT_EQ(rollout.outline.session, kThread);
  EXPECT_EQ(rollout.outline.cwd, "/w");
  EXPECT_EQ(rollout.outline.created, "2026-01-02T03:04:05.000Z");
}

TEST(CodexRead, BareLinesOf2025) {
  const ReadRollout rollout = read_rollout(
      "{\"id\":\"t\",\"timestamp\":\"2025-06-01T00:00:00Z\",\"instructions\":null}\n"
      "{\"record_type\":\"state\"}\n"
      "{\"type\":\"message\",\"role\":\"user\",\"content\":[]}\n"
      "{\"type\":\"function_call\",\"id\":\"fc\",\"name\":\"shell\",\"arguments\":\"{}\",\"call_"
      "id\":\"c\"}\n");
  std::vector<std::string> kinds;
  for (const ReadRecord& record : rollout.records) kinds.push_back(record.kind);
  EXPECT_EQ(kinds,
            (std::vector<std::string>{"session_meta", "state", "response_item", "response_item"}));
  EXPECT_EQ(rollout.outline.session, "t");
  EXPECT_EQ(rollout.outline.created, "2025-06-01T00:00:00Z");
}

TEST(CodexRead, TheDocumentOfTheFirstProgram) {
  const std::string text =
      "{\n \"session\": "
      "{\"timestamp\":\"2025-04-17T10:00:00.000Z\",\"id\":\"doc\",\"instructions\":\"\"},\n"
      " \"items\": [\n  "
      "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"
      "\"hi\"}]},\n"
      "  {\"type\":\"reasoning\",\"summary\":[]}\n ]\n}\n";
  const ReadRollout rollout = read_rollout(text, "/c/rollout-2025-04-17-doc.json");
  EXPECT_EQ(rollout.outline.session, "doc");
  ASSERT_EQ(rollout.records.size(), 3u);
  EXPECT_EQ(rollout.records[0].kind, "head");
  EXPECT_EQ(rollout.records[1].kind, "response_item");
  std::string back;
  for (const ReadRecord& record : rollout.records) back += record.bytes + record.end;
  EXPECT_EQ(back, text);
  EXPECT_EQ(lifted("response_item", rollout.records[1].bytes),
            (std::vector<std::string>{"user: hi"}));
}

// What the document no longer has was replaced, wherever it stands in the log.
TEST(CodexRead, ADocumentIsAsItIsNow) {
  const auto said = [](const std::string& text) {
    return R"({"type":"message","role":"user","content":[{"type":"input_text","text":")" + text +
           "\"}]}";
  };
  const std::string a = said("a"), b = said("b"), c = said("c");
  std::vector<StoredRecord> records(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    records[i].kind = "response_item";
    records[i].parent = i == 0 ? kNoRecord : i - 1;
  }
  records[0].payload = a;
  records[1].payload = b;
  records[2].payload = c;
  records[0].place = 2;
  records[2].place = 1;
  const std::vector<Pick> picks = kCodex.conversation(records, 2);
  ASSERT_EQ(picks.size(), 2u);
  EXPECT_EQ(picks[0].record, 2u);
  EXPECT_EQ(picks[1].record, 0u);
}

TEST(CodexRead, OnlyTheFirstHeaderIsTheFilesOwn) {
  EXPECT_EQ(read_rollout(meta(kThread) + meta("parent")).outline.session, kThread);
}

TEST(CodexRead, ASegmentGoesByItsOwnId) {
  const std::string path =
      "/c/rollout-2026-01-02T03-04-05-" + std::string(kThread) + "_" + kSegment + ".jsonl";
  EXPECT_EQ(read_rollout(meta(kThread), path).outline.session, kSegment);
  // No segment: something else before the underscore.
  EXPECT_EQ(read_rollout(meta(kThread), "/c/rollout-x_" + std::string(kSegment) + ".jsonl")
                .outline.session,
            kThread);
}

TEST(CodexRead, AFileWithoutHeaderGoesByItsName) {
  EXPECT_EQ(read_rollout(user("hi")).outline.session, kThread);
  MemoryHost host;
  host.files["/c/rollout-x.jsonl"] = user("hi");
  const Source source{.agent = "codex", .path = "/c/rollout-x.jsonl", .part = {}, .files = {}};
  EXPECT_EQ(kCodex.open(source, host, {}).error().code(), Code::kInvalidArgument);
}

TEST(CodexRead, ABaseIsAPartOfAnother) {
  const Outline outline =
      read_rollout(meta(kThread, R"(,"history_base":{"thread_id":"b","end_ordinal_exclusive":3})"))
          .outline;
  EXPECT_EQ(outline.base_session, "b");
  ASSERT_TRUE(outline.in_base);
  EXPECT_TRUE(outline.in_base(R"({"ordinal":2,"type":"event_msg"})"));
  EXPECT_FALSE(outline.in_base(R"({"ordinal":3})"));
  EXPECT_FALSE(outline.in_base(R"({"type":"event_msg"})"));
  EXPECT_TRUE(read_rollout(meta(kThread)).outline.base_session.empty());
}

TEST(CodexRead, SubAgentsNameWhoMadeThem) {
  const std::string spawned =
      R"(,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"p","depth":1}}})";
  EXPECT_EQ(
      read_rollout(meta(kThread).replace(meta(kThread).find(",\"source\":\"cli\""), 15, spawned))
          .outline.spawned_by,
      "p");
  EXPECT_EQ(read_rollout(meta(kThread, R"(,"parent_thread_id":"q")")).outline.spawned_by, "q");
}

TEST(CodexRead, HostileLinesAreReadAsTheyAre) {
  const std::string text =
      meta(kThread) +
      "{\"type\":7,\"payload\":[]}\n"
      "{\"type\":\"a.b c\",\"payload\":{}}\n"
      "{\"type\":\"" +
      std::string(100, 'x') +
      "\",\"payload\":{}}\n"
      "[1]\n\n{}\n{\"type\":\"event_msg\",\"payload\":{\"type\":\"x\"}}{\"type\":\"event_msg\"}\n"
      "{\"type\":\"resp";
  const ReadRollout rollout = read_rollout(text);
  std::string back;
  for (const ReadRecord& record : rollout.records) {
    back += record.bytes + record.end;
    Lifted into;
    Note note;
    std::deque<std::string> owned;
    if (record.problem.empty()) {
      kCodex.lift(record.kind, record.bytes, into);
      kCodex.note(record.kind, record.bytes, note);
    }
  }
  EXPECT_EQ(back, text);
  EXPECT_EQ(rollout.records.back().problem, "torn");
  EXPECT_EQ(rollout.records[2].kind, "raw");
  EXPECT_EQ(rollout.records[3].kind, "raw");
}

}  // namespace
}  // namespace quipu::dialect::codex
