// craft-agents: a file of lines that every save writes anew.
#include <gtest/gtest.h>

#include "backend/lineage.h"
#include "laws.h"

namespace quipu {
namespace {

using Lines = std::vector<std::string>;

const std::string kDirectory =
    "/home/ada/.craft-agent/workspaces/atlas/sessions/260301-swift-river/";
const std::string kPath = kDirectory + "session.jsonl";
const std::string kSession = "craft.260301-swift-river";

std::string header(const std::string& more) {
  return R"({"id":"260301-swift-river","workspaceRootPath":"~/.craft-agent/workspaces/atlas","createdAt":1772357400000,"lastUsedAt":1772357460000)" +
         more + "}\n";
}
std::string message(const std::string& id, const std::string& type, const std::string& content,
                    const std::string& more = {}) {
  return R"({"id":")" + id + R"(","type":")" + type + R"(","content":")" + content +
         R"(","timestamp":1772357401000)" + more + "}\n";
}

const std::string kHeader = header(
    R"(,"name":"Maps","labels":["urgent","prio::3"],"isArchived":true,"sdkSessionId":"sdk-1","workingDirectory":"~/atlas","model":"m",)"
    R"("branchFromMessageId":"msg-0","branchFromSessionPath":"/home/ada/.craft-agent/workspaces/atlas/sessions/260228-old-hill",)"
    R"("tokenUsage":{"inputTokens":100,"outputTokens":20,"totalTokens":120,"contextTokens":9,"costUsd":0.5,"cacheReadTokens":7})");

const std::string kMessages =
    message(
        "m1", "user", "What is there?",
        R"(,"attachments":[{"id":"a","type":"image","name":"a.png","mimeType":"image/png","size":4,"storedPath":"{{SESSION_PATH}}/attachments/a.png"}])") +
    message("m2", "assistant", "Looking.", R"(,"isIntermediate":true,"turnId":"t1")") +
    message(
        "m3", "tool", "",
        R"(,"toolName":"Bash","toolUseId":"c1","toolInput":{"command":"ls"},"toolResult":"a.txt","toolStatus":"completed")") +
    message(
        "m4", "tool", "",
        R"(,"toolName":"Task","toolUseId":"c2","toolInput":{},"toolResult":"no","toolStatus":"error")") +
    message(
        "m5", "tool", "",
        R"(,"toolName":"Read","toolUseId":"c3","toolInput":{},"toolStatus":"completed","toolResult":"x","parentToolUseId":"c2")") +
    message("m6", "assistant", "from within", R"(,"parentToolUseId":"c2")") +
    message("m7", "status", "Compacting", R"(,"statusType":"compacting")") +
    message("m8", "tool", "", R"(,"toolName":"Wait","toolUseId":"c4","toolStatus":"pending")") +
    message("m9", "plan", "First, then.") + message("m10", "assistant", "A file.");

const Lines kSaid = {"user: What is there?",    "user: ",
                     "assistant: Looking.",     "assistant: Bash({\"command\":\"ls\"})",
                     "assistant: = a.txt",      "assistant: Task({})",
                     "assistant: = no",         "assistant: Wait({})",
                     "assistant: First, then.", "assistant: A file."};

Session session() {
  Session session{.agent = "craft", .main = kPath, .there = {}, .given = {}};
  session.given = {
      {"session.jsonl", kHeader + kMessages}, {"attachments/a.png", "\x89PNG"},
      {"plans/deep/plan.md", "# Plan\n"},     {"data/t.json", "{\"a\": 1}"},
      {"long_responses/r.txt", "long"},       {"downloads/d.bin", std::string("\0\1", 2)}};
  for (const auto& [name, bytes] : session.given) session.there[kDirectory + name] = bytes;
  session.there[kDirectory + "tmp/scratch"] = "not kept";
  return session;
}

TEST(Craft, ASessionComesBackWithItsFiles) { expect_lossless_and_idempotent(session()); }

TEST(Craft, AFileThatIsCutOffIsReplacedByTheWholeOne) { expect_grows(session(), kHeader.size()); }

TEST(Craft, EverySaveIsGivenBackAndNothingIsForgotten) {
  ImportMachine machine;
  const std::string one = message("m1", "user", "one");
  const std::string two = message("m2", "assistant", "two");
  const std::string better = message("m2", "assistant", "better");
  const std::string three = message("m3", "user", "three");
  int saves = 0;
  for (const std::string& messages :
       {std::string(), one, one + two + three, one + better + three, one + three, two + one}) {
    SCOPED_TRACE(messages);
    machine.host.files[kPath] = header(",\"save\":" + std::to_string(++saves)) + messages;
    import_found(machine, "craft");
    EXPECT_EQ(machine.give(kSession, "craft").begin()->second, machine.host.files[kPath]);
    EXPECT_EQ(import_found(machine, "craft").added, 0u);
  }
  EXPECT_EQ(machine.said(kSession), (Lines{"assistant: two", "user: one"}));
  const auto lineage = machine.store.sessions().lineage(kSession);
  ASSERT_TRUE(lineage.ok());
  EXPECT_TRUE((*lineage)->find("m2~2")->has_value());
}

TEST(Craft, AMessageThatChangesStaysInItsPlace) {
  ImportMachine machine;
  machine.host.files[kPath] = kHeader + message("m1", "user", "one") +
                              message("m2", "assistant", "tw") + message("m3", "user", "three");
  import_found(machine, "craft");
  machine.host.files[kPath] = kHeader + message("m1", "user", "one") +
                              message("m2", "assistant", "two") + message("m3", "user", "three");
  EXPECT_EQ(import_found(machine, "craft").added, 1u);
  EXPECT_EQ(machine.said(kSession), (Lines{"user: one", "assistant: two", "user: three"}));
}

TEST(Craft, CallsHaveTheirResultsAndSubAgentsAreLeftOut) {
  ImportMachine machine;
  machine.host.files = session().there;
  import_found(machine, "craft");
  EXPECT_EQ(machine.said(kSession), kSaid);
  const auto conversation = read_conversation(machine.store, kSession);
  ASSERT_TRUE(conversation.ok());
  EXPECT_EQ(conversation->at(0).message.parts.at(1).path, "attachments/a.png");
  EXPECT_TRUE(conversation->at(3).message.parts.at(1).is_error);
}

TEST(Craft, TheHeaderKnowsTitleTagsUsageAndKin) {
  ImportMachine machine;
  machine.host.files = session().there;
  import_found(machine, "craft");
  const auto summary = machine.store.sessions().describe_session(kSession);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->title, "Maps");
  EXPECT_EQ(summary->tags, (std::vector<std::string>{"urgent", "prio::3"}));
  EXPECT_TRUE(summary->archived);
  EXPECT_EQ(summary->sdk_session_id, "sdk-1");
  EXPECT_EQ(summary->cwd, "/home/ada/atlas");
  EXPECT_EQ(summary->created, "2026-03-01T09:30:00.000Z");
  EXPECT_EQ(summary->parent_session, "craft.260228-old-hill");
  EXPECT_EQ(summary->counts.tokens_in, 100u);
  EXPECT_EQ(summary->counts.messages, 1u);
  // The next save says the sum again.
  machine.host.files[kPath] =
      header(R"(,"tokenUsage":{"inputTokens":150,"outputTokens":30})") + kMessages;
  import_found(machine, "craft");
  EXPECT_EQ(machine.store.sessions().describe_session(kSession)->counts.tokens_in, 150u);
}

TEST(Craft, WhatASaveLeftBehindIsReadInItsPlace) {
  ImportMachine machine;
  const std::string before = kHeader + message("m1", "user", "one");
  const std::string after = before + message("m2", "assistant", "two");
  machine.host.files[kPath] = before;
  import_found(machine, "craft");
  // Deleted, not yet renamed.
  machine.host.files.erase(kPath);
  machine.host.files[kPath + ".tmp"] = after;
  EXPECT_EQ(import_found(machine, "craft").session_id, kSession);
  EXPECT_EQ(machine.said(kSession), (Lines{"user: one", "assistant: two"}));
  // While it is written the one before counts.
  machine.host.files[kPath] = after;
  machine.host.files[kPath + ".tmp"] = kHeader + "{\"id";
  EXPECT_EQ(import_found(machine, "craft").added, 0u);
  EXPECT_EQ(machine.give(kSession, "craft"), (ImportMachine::Files{{"session.jsonl", after}}));
}

TEST(Craft, WorkspacesElsewhereAreFound) {
  ImportMachine machine;
  machine.host.files["/home/ada/.craft-agent/config.json"] =
      R"({"workspaces":[{"id":"w","rootPath":"~/elsewhere"},{"id":"x","rootPath":"/srv/x"}]})";
  machine.host.files["/home/ada/elsewhere/sessions/a/session.jsonl"] =
      R"({"id":"a","workspaceRootPath":"~/elsewhere","createdAt":1772357400000})";
  machine.host.files[kPath] = kHeader;
  const std::map<std::string, std::string> variables{{"HOME", "/home/ada"}};
  const auto found = Importer(machine.store, &machine.host, &variables)
                         .find({.agents = {"craft"}, .paths = {}, .since_ms = 0});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->sources.size(), 2u);
  EXPECT_EQ(found->sources[0].path, kPath);
}

TEST(Craft, WhatIsWrittenIsReadAgain) {
  ImportMachine machine;
  machine.host.files = session().there;
  import_found(machine, "craft");
  ImportMachine other;
  auto given = export_session(machine.store, kSession, {.to = "craft", .normalise = true},
                              [&](const std::string& path, std::string_view bytes) {
                                other.host.files["/home/ada/.craft-agent/" + path] += bytes;
                                return Result<void>();
                              });
  ASSERT_TRUE(given.ok()) << given.error().message();
  const std::string id = import_found(other, "craft").session_id;
  EXPECT_TRUE(id.starts_with("craft.260301-knotted-cord-")) << id;
  Lines said = kSaid;
  said.erase(said.begin() + 1);  // the attachment: its bytes are not in the store's message
  EXPECT_EQ(other.said(id), said);
  const auto summary = other.store.sessions().describe_session(id);
  EXPECT_EQ(summary->title, "Maps");
  EXPECT_EQ(summary->cwd, "/home/ada/atlas");
  std::string lost;
  for (const auto& loss : given->lost) lost += loss.what + " ";
  EXPECT_EQ(lost, "attachment context cost history status ");
}

}  // namespace
}  // namespace quipu
