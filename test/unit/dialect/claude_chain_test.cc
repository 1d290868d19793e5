// Claude: the conversation that a session is, by its loader's rules.
#include <gmock/gmock.h>

#include "base/json_scan.h"
#include "claude_lines.h"
#include "claude_session.h"

namespace quipu::dialect::claude {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClaudeChain, WalksTheParents) {
  const auto session = ClaudeSession::of(user("u1", "") + answer("a1", "u1") + user("u2", "a1"));
  EXPECT_THAT(session.chain(), ElementsAre("u1", "a1", "u2"));
  EXPECT_THAT(session.chain(session.find("a1")), ElementsAre("u1", "a1"));
}

TEST(ClaudeChain, TheBranchWrittenLastIsTheSession) {
  const auto session = ClaudeSession::of(user("u1", "") + answer("a1", "u1") + user("u2", "a1") +
                                         answer("a2", "u2") + user("u3", "a1"));
  EXPECT_THAT(session.chain(), ElementsAre("u1", "a1", "u3"));
}

TEST(ClaudeChain, AMissingParentEndsTheWalk) {
  const auto session = ClaudeSession::of(user("u1", "") + user("u2", "gone") + answer("a2", "u2"));
  EXPECT_THAT(session.chain(), ElementsAre("u2", "a2"));
}

TEST(ClaudeChain, AParentMayComeAfterItsChild) {
  const auto session = ClaudeSession::of(user("u2", "a1") + answer("a1", "u1") + user("u1", ""));
  EXPECT_THAT(session.chain(), ElementsAre("u1", "a1", "u2"));
}

TEST(ClaudeChain, CyclesEnd) {
  const auto session = ClaudeSession::of(user("u1", "u2") + answer("a1", "u1") + user("u2", "a1"));
  EXPECT_EQ(session.chain().size(), 3u);
  EXPECT_THAT(ClaudeSession::of(user("u1", "u1")).chain(), ElementsAre("u1"));
}

TEST(ClaudeChain, OfTheSameUuidTheLastCounts) {
  const auto session =
      ClaudeSession::of(user("u1", "") + answer("a1", "u1") +
                        block("a1", "u1", "m", R"({"type":"text","text":"again"})"));
  EXPECT_THAT(chain_of(session.records, session.head), ElementsAre(0u, 2u));
}

TEST(ClaudeChain, ProgressIsPassedThrough) {
  const auto session =
      ClaudeSession::of(user("u1", "") + node("progress", "p", "u1", "") + answer("a1", "p"));
  EXPECT_THAT(session.picked(), ElementsAre("u1", "a1"));
}

TEST(ClaudeChain, CallsSideBySideKeepTheirResults) {
  // u1 ─ c1 ─ c2 ─ r2 ─ a1 ; r1 hangs on c1, off the path.
  const auto session =
      ClaudeSession::of(user("u1", "") + call("c1", "u1", "m", "A") + call("c2", "c1", "m", "B") +
                        result("r1", "c1", "A") + result("r2", "c2", "B") + answer("a1", "r2"));
  EXPECT_THAT(session.chain(), ElementsAre("u1", "c1", "c2", "r1", "r2", "a1"));
  EXPECT_THAT(session.picked(), ElementsAre("u1", "c1", "c2", "r1", "r2", "a1"));
}

TEST(ClaudeChain, TheOtherLinesOfAnAnswerAreFound) {
  // The path goes through c1 alone.
  const auto session =
      ClaudeSession::of(user("u1", "") + call("c1", "u1", "m", "A") + call("c2", "c1", "m", "B") +
                        result("r2", "c2", "B") + result("r1", "c1", "A") + answer("a1", "r1"));
  EXPECT_THAT(session.chain(), ElementsAre("u1", "c1", "c2", "r2", "r1", "a1"));
}

TEST(ClaudeChain, AResultIsFoundByItsCallWhereverItHangs) {
  const std::string before =
      user("u1", "") + call("c1", "u1", "m", "A") + call("c2", "c1", "m", "B");
  const std::string after = result("r2", "c2", "B") + answer("a1", "r2");
  EXPECT_THAT(ClaudeSession::of(before + result("r1", "u1", "A") + after).chain(),
              ElementsAre("u1", "c1", "c2", "r1", "r2", "a1"));
  EXPECT_THAT(ClaudeSession::of(before + result("r1", "gone", "A") + after).chain(),
              ElementsAre("u1", "c1", "c2", "r1", "r2", "a1"));
  EXPECT_THAT(ClaudeSession::of(before + result("r1", "", "A") + after).chain(),
              ElementsAre("u1", "c1", "c2", "r2", "a1"));
}

TEST(ClaudeChain, ResultsStandInTheOrderOfTime) {
  const std::string late = R"(,"timestamp":"2026-01-01T00:00:09.000Z")";
  const auto session =
      ClaudeSession::of(user("u1", "") + call("c1", "u1", "m", "A") + call("c2", "c1", "m", "B") +
                        call("c3", "c2", "m", "C") + result("r1", "c1", "A", late) +
                        result("r2", "c2", "B") + result("r3", "c3", "C") + answer("a1", "r3"));
  EXPECT_THAT(session.chain(), ElementsAre("u1", "c1", "c2", "c3", "r2", "r1", "r3", "a1"));
}

// ---- compaction

const std::string kBefore =
    user("u1", "") + answer("a1", "u1") + user("u2", "a1") + answer("a2", "u2");

std::string summary(const std::string& id, const std::string& parent) {
  return user(id, parent, R"(,"isCompactSummary":true)");
}

TEST(ClaudeCompaction, CutsTheChain) {
  const auto session = ClaudeSession::of(kBefore + boundary("b", "a2") + summary("s", "b") +
                                         user("u3", "s") + answer("a3", "u3"));
  EXPECT_THAT(session.picked(), ElementsAre("s", "u3", "a3"));
}

TEST(ClaudeCompaction, CutsAlsoWhereItsBoundaryHasAParent) {
  const auto session = ClaudeSession::of(
      kBefore + node("system", "b", "a2", R"(,"subtype":"compact_boundary")") + summary("s", "b"));
  EXPECT_THAT(session.chain(), ElementsAre("u1", "a1", "u2", "a2", "b", "s"));
  EXPECT_THAT(session.picked(), ElementsAre("s"));
}

TEST(ClaudeCompaction, KeptMessagesComeBehindTheSummary) {
  const std::string kept =
      R"(,"preservedMessages":{"anchorUuid":"s","uuids":["u2","a2"],"allUuids":["u2","a2"]})";
  const auto session = ClaudeSession::of(kBefore + boundary("b", "a2", kept) + summary("s", "b") +
                                         user("u3", "s") + answer("a3", "u3"));
  EXPECT_THAT(session.picked(), ElementsAre("s", "u2", "a2", "u3", "a3"));
}

TEST(ClaudeCompaction, AKeptSegmentComesBehindTheSummary) {
  const std::string kept =
      R"(,"preservedSegment":{"headUuid":"u2","anchorUuid":"s","tailUuid":"a2"})";
  const auto session = ClaudeSession::of(kBefore + boundary("b", "a2", kept) + summary("s", "b") +
                                         user("u3", "s") + answer("a3", "u3"));
  EXPECT_THAT(session.picked(), ElementsAre("s", "u2", "a2", "u3", "a3"));
}

TEST(ClaudeCompaction, WithoutOneOfTheKeptNoneIs) {
  const std::string kept = R"(,"preservedMessages":{"anchorUuid":"s","uuids":["u2","gone"]})";
  const auto session =
      ClaudeSession::of(kBefore + boundary("b", "a2", kept) + summary("s", "b") + user("u3", "s"));
  EXPECT_THAT(session.picked(), ElementsAre("s", "u3"));
}

TEST(ClaudeCompaction, NothingAfterItYet) {
  const std::string kept = R"(,"preservedMessages":{"anchorUuid":"s","uuids":["u2","a2"]})";
  const auto session = ClaudeSession::of(kBefore + boundary("b", "a2", kept) + summary("s", "b"));
  EXPECT_THAT(session.picked(), ElementsAre("s", "u2", "a2"));
}

TEST(ClaudeCompaction, Twice) {
  const std::string kept1 = R"(,"preservedMessages":{"anchorUuid":"s1","uuids":["a2"]})";
  const std::string kept2 = R"(,"preservedMessages":{"anchorUuid":"s2","uuids":["u3"]})";
  const auto session = ClaudeSession::of(
      kBefore + boundary("b1", "a2", kept1) + summary("s1", "b1") + user("u3", "s1") +
      boundary("b2", "u3", kept2) + summary("s2", "b2") + answer("a3", "s2"));
  EXPECT_THAT(session.picked(), ElementsAre("s2", "u3", "a3"));
}

TEST(ClaudeCompaction, RewindingBehindOneIsABoundaryThatKeepsAll) {
  const std::string kept = R"(,"preservedMessages":{"anchorUuid":"b2","uuids":["u1","a1"]})";
  const auto session = ClaudeSession::of(kBefore + boundary("b1", "a2") + summary("s1", "b1") +
                                         boundary("b2", "s1", kept) + user("u3", "b2"));
  EXPECT_THAT(session.picked(), ElementsAre("u1", "a1", "u3"));
}

TEST(ClaudeCompaction, APlaceBeforeItIsAsItWas) {
  const std::string kept = R"(,"preservedMessages":{"anchorUuid":"s","uuids":["u2","a2"]})";
  const auto session =
      ClaudeSession::of(kBefore + boundary("b", "a2", kept) + summary("s", "b") + user("u3", "s"));
  EXPECT_THAT(session.picked(session.find("a2")), ElementsAre("u1", "a1", "u2", "a2"));
}

// ---- what the model sees

TEST(ClaudePicks, WithoutFailuresStatusAndOthers) {
  const auto session =
      ClaudeSession::of(user("u1", "") + answer("e", "u1", R"(,"isApiErrorMessage":true)") +
                        node("system", "s", "e", R"(,"content":"x")") +
                        node("attachment", "f", "s", R"(,"attachment":{"type":"file"})") +
                        aside(answer("side", "f")) + user("m", "side", R"(,"isMeta":true)") +
                        user("t", "m", R"(,"teamName":"t")") +
                        user("v", "t", R"(,"isVirtual":true)") + answer("a1", "v"));
  EXPECT_THAT(session.picked(), ElementsAre("u1", "f", "m", "a1"));
}

TEST(ClaudePicks, ASubagentIsHeardWhereItIsAskedFor) {
  const auto session =
      ClaudeSession::of(user("u1", "") + aside(user("s1", "")) + aside(answer("s2", "s1")));
  EXPECT_THAT(session.picked(), ElementsAre("u1"));
  EXPECT_THAT(session.picked(session.find("s2")), ElementsAre("s1", "s2"));
}

TEST(ClaudePicks, SnippedLinesAreGone) {
  const auto session =
      ClaudeSession::of(user("u1", "") + answer("a1", "u1") + user("u2", "a1") +
                        node("system", "s", "u2", R"(,"snipMetadata":{"removedUuids":["a1",7]})") +
                        answer("a2", "s"));
  EXPECT_THAT(session.picked(), ElementsAre("u1", "u2", "a2"));
}

TEST(ClaudePicks, AReplacedResultIsSentAsItWasReplaced) {
  const auto session = ClaudeSession::of(
      user("u1", "") + call("c1", "u1", "m", "A") + result("r1", "c1", "A") +
      R"({"type":"content-replacement","replacements":[{"kind":"tool-result","toolUseId":"A","replacement":"old"}]})" +
      "\n" +
      R"({"type":"content-replacement","replacements":[{"kind":"tool-result","toolUseId":"A","replacement":"short"}]})" +
      "\n");
  const auto picks = Claude().conversation(session.records, session.head);
  ASSERT_EQ(picks.size(), 3u);
  EXPECT_TRUE(picks[1].payload.empty());
  ASSERT_TRUE(json::validate(picks[2].payload).ok());
  Lifted lifted;
  Claude().lift("user", picks[2].payload, lifted);
  ASSERT_EQ(lifted.all_parts().size(), 1u);
  EXPECT_EQ(lifted.all_parts()[0].content, "\"short\"");
  EXPECT_EQ(lifted.all_parts()[0].tool_use_id, "\"A\"");
}

TEST(ClaudePicks, EntriesThatCameLaterAreNotOurs) {
  auto session = ClaudeSession::of(user("u1", "") + answer("a1", "u1"));
  session.records.push_back({.id = "native", .kind = "", .payload = "{}", .parent = 1});
  EXPECT_THAT(session.picked(2), ElementsAre("u1", "a1"));
  EXPECT_THAT(session.picked(99), IsEmpty());
}

TEST(ClaudePicks, ShapesOfAnyKind) {
  const std::string wrong[] = {"7", "null", "[]", "{}", "\"x\"", "[[],{},7,\"s\"]", "true"};
  const Claude claude;
  for (const std::string& a : wrong) {
    for (const std::string& b : wrong) {
      const std::string payload =
          R"({"uuid":)" + a + R"(,"parentUuid":)" + b + R"(,"message":{"id":)" + a +
          R"(,"content":)" + b + R"(,"usage":)" + a + R"(},"attachment":{"type":)" + a +
          R"(,"content":)" + b + R"(,"prompt":)" + b +
          R"(},"compactMetadata":{"preservedMessages":{"anchorUuid":)" + a + R"(,"uuids":)" + b +
          R"(}},"subtype":"compact_boundary","snipMetadata":)" + b + R"(,"forkedFrom":)" + a +
          R"(,"replacements":)" + b + R"(,"content":)" + a + "}";
      ASSERT_TRUE(json::validate(payload).ok());
      std::vector<StoredRecord> records;
      for (const std::string_view kind : {"user", "assistant", "system", "attachment", "progress",
                                          "queued-prompt", "content-replacement", "x"}) {
        Lifted lifted;
        Note note;
        claude.lift(kind, payload, lifted);
        claude.note(kind, payload, note);
        records.push_back({.id = "i", .kind = kind, .payload = payload});
      }
      for (std::uint32_t at = 0; at < records.size(); ++at) claude.conversation(records, at);
    }
  }
}

}  // namespace
}  // namespace quipu::dialect::claude
