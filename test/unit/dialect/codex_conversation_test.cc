// What Codex sends when it resumes.
#include <gtest/gtest.h>

#include "base/json_scan.h"
#include "codex_rollout.h"

namespace quipu::dialect::codex {
namespace {

using Texts = std::vector<std::string>;

std::string rolled_back(int turns) {
  return event("thread_rolled_back", ",\"num_turns\":" + std::to_string(turns));
}

std::string compacted(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& text : items) {
    if (!list.empty()) list += ',';
    list += R"({"type":"message","role":"user","content":[{"type":"input_text","text":)" +
            json::quoted(text) + "}]}";
  }
  return line("compacted", R"({"message":"","replacement_history":[)" + list + "]}");
}

std::string summarised(const std::string& summary) {
  return line("compacted", R"({"message":)" + json::quoted(summary) + "}");
}

std::string developer(const std::string& text) {
  return item(R"({"type":"message","role":"developer","content":[{"type":"input_text","text":)" +
              json::quoted(text) + "}]}");
}

const std::string kEnvironment = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>";
const std::string kPermissions = "<permissions instructions>x</permissions instructions>";

TEST(CodexConversation, ItemsInOrderEventsNot) {
  EXPECT_EQ(
      conversation(meta("t") + developer(kPermissions) + user(kEnvironment) +
                   turn("1", "hi", "ho") + item(R"({"type":"ghost_snapshot","ghost_commit":{}})")),
      (Texts{"system: " + kPermissions, "user: " + kEnvironment, "user: hi", "assistant: ho"}));
}

TEST(CodexConversation, TheNewestReplacementIsTheBase) {
  EXPECT_EQ(conversation(meta("t") + turn("1", "a", "A") + compacted({"one"}) +
                         turn("2", "b", "B") + compacted({"two", "three"}) + turn("3", "c", "C")),
            (Texts{"user: two", "user: three", "user: c", "assistant: C"}));
}

TEST(CodexConversation, ARollbackTakesTurnsAway) {
  const std::string three =
      meta("t") + turn("1", "a", "A") + turn("2", "b", "B") + turn("3", "c", "C");
  EXPECT_EQ(conversation(three + rolled_back(1)),
            (Texts{"user: a", "assistant: A", "user: b", "assistant: B"}));
  EXPECT_EQ(conversation(three + rolled_back(2) + turn("4", "d", "D")),
            (Texts{"user: a", "assistant: A", "user: d", "assistant: D"}));
  EXPECT_EQ(conversation(three + rolled_back(1) + rolled_back(1)),
            (Texts{"user: a", "assistant: A"}));
  EXPECT_EQ(conversation(three + rolled_back(0)).size(), 6u);
}

// What stood before the first turn stays.
TEST(CodexConversation, MoreRolledBackThanThereIs) {
  EXPECT_EQ(conversation(meta("t") + user(kEnvironment) + turn("1", "a", "A") + rolled_back(99)),
            Texts{"user: " + kEnvironment});
  EXPECT_EQ(conversation(meta("t") + user(kEnvironment) + rolled_back(1)),
            Texts{"user: " + kEnvironment});
}

// What was told the model for a turn goes with it; before the first turn it stays.
TEST(CodexConversation, SurroundingsGoWithTheirTurn) {
  EXPECT_EQ(
      conversation(meta("t") + user(kEnvironment) + turn("1", "a", "A") + developer(kPermissions) +
                   user(kEnvironment) + turn("2", "b", "B") + rolled_back(1)),
      (Texts{"user: " + kEnvironment, "user: a", "assistant: A"}));
  EXPECT_EQ(conversation(meta("t") + turn("1", "a", "A") + developer("keep me") +
                         turn("2", "b", "B") + rolled_back(1)),
            (Texts{"user: a", "assistant: A", "system: keep me"}));
}

// A turn in which nobody said anything is none that counts, and goes too.
TEST(CodexConversation, ACompactionThatWasRolledBackDoesNotHold) {
  const std::string quiet = event("task_started", R"(,"turn_id":"c")") + compacted({"gone"}) +
                            event("task_complete", R"(,"turn_id":"c")");
  EXPECT_EQ(
      conversation(meta("t") + turn("1", "a", "A") + turn("2", "b", "B") + quiet + rolled_back(1)),
      (Texts{"user: a", "assistant: A"}));
  const std::string inside = event("task_started", R"(,"turn_id":"2")") + user("b") +
                             compacted({"gone"}) + assistant("B") +
                             event("task_complete", R"(,"turn_id":"2")");
  EXPECT_EQ(conversation(meta("t") + turn("1", "a", "A") + inside + rolled_back(1)),
            (Texts{"user: a", "assistant: A"}));
}

TEST(CodexConversation, ARollbackReachesIntoAReplacement) {
  EXPECT_EQ(
      conversation(meta("t") + turn("1", "x", "X") + event("task_started", R"(,"turn_id":"c")") +
                   compacted({"a", "b"}) + event("task_complete", R"(,"turn_id":"c")") +
                   turn("2", "c", "C") + event("task_started", R"(,"turn_id":"3")") + user("d") +
                   event("task_complete", R"(,"turn_id":"3")") + rolled_back(2)),
      (Texts{"user: a", "user: b"}));
}

TEST(CodexConversation, CompactionsOf2025KeepWhatTheUserSaid) {
  EXPECT_EQ(
      conversation(meta("t") + user(kEnvironment) + turn("1", "a", "A") + turn("2", "b", "B") +
                   summarised("Another language model started to solve this problem\nsum") +
                   turn("3", "c", "C")),
      (Texts{"user: a", "user: b",
             "user: Another language model started to solve this problem\nsum", "user: c",
             "assistant: C"}));
  // The summary of one before is no message of the user.
  EXPECT_EQ(conversation(meta("t") + turn("1", "a", "A") +
                         summarised("Another language model started to solve this problem\n1") +
                         turn("2", "b", "B") +
                         summarised("Another language model started to solve this problem\n2")),
            (Texts{"user: a", "user: b",
                   "user: Another language model started to solve this problem\n2"}));
}

// Nor is it one in a replacement history.
TEST(CodexConversation, ASummaryIsNoTurn) {
  EXPECT_EQ(
      conversation(meta("t") + turn("1", "x", "X") +
                   compacted({"a", "Another language model started to solve this problem\n1"}) +
                   turn("2", "b", "B") + summarised("sum")),
      (Texts{"user: a", "user: b", "user: sum"}));
}

TEST(CodexConversation, CompactionsOf2025KeepTheNewestOnly) {
  const std::string large(4 * 15'000, 'x');
  const Texts left = conversation(meta("t") + turn("1", "old", "A") + turn("2", large, "B") +
                                  turn("3", large, "C") + summarised("sum"));
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left[2], "user: sum");
}

TEST(CodexConversation, AnotherAgentsWordIsATurn) {
  const std::string agent = item(
      R"({"type":"agent_message","author":"x","recipient":"y","content":[{"type":"input_text","text":"do"}]})");
  EXPECT_EQ(conversation(meta("t") + turn("1", "a", "A") + agent + assistant("B") + rolled_back(1)),
            (Texts{"user: a", "assistant: A"}));
}

TEST(CodexConversation, NothingAtAll) {
  EXPECT_TRUE(kCodex.conversation({}, 0).empty());
  EXPECT_TRUE(kCodex.conversation({}, kNoRecord).empty());
}

// Entries that came later, and what was redacted.
TEST(CodexConversation, NativeEntriesFollowAndRedactedOnesAreGone) {
  const std::string a = R"({"type":"message","role":"user","content":"a"})";
  std::vector<StoredRecord> records(3);
  records[0] = {.id = "0", .kind = "response_item", .payload = a, .parent = kNoRecord};
  records[1] = {.id = "1", .kind = "response_item", .payload = a, .parent = 0};
  records[1].redacted = true;
  records[2] = {.id = "2", .kind = "", .payload = "{}", .parent = 1};
  const std::vector<Pick> picks = kCodex.conversation(records, 2);
  ASSERT_EQ(picks.size(), 2u);
  EXPECT_EQ(picks[0].record, 0u);
  EXPECT_EQ(picks[1].record, 2u);
}

TEST(CodexConversation, WrongTypesEverywhere) {
  for (const char* type : {"event_msg", "compacted", "turn_context", "response_item"}) {
    for (const char* payload :
         {"7", "[]", R"({"type":"thread_rolled_back","num_turns":-1})",
          R"({"type":"thread_rolled_back","num_turns":"x"})",
          R"({"type":"thread_rolled_back","num_turns":99999999999999999999})",
          R"({"type":"task_started","turn_id":7})", R"({"type":"turn_aborted"})",
          R"({"replacement_history":{}})", R"({"replacement_history":[7]})"}) {
      conversation(meta("t") + turn("1", "a", "A") + line(type, payload) + turn("2", "b", "B"));
    }
  }
}

}  // namespace
}  // namespace quipu::dialect::codex
