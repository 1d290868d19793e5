// CodePilot: chats in a database, whole turns in a row.
#include <gtest/gtest.h>

#include "quipu/usage.h"
#include "support/agent_database.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

using Lines = std::vector<std::string>;

const std::string kPath = "/home/ada/.codepilot/codepilot.db";

std::string text(const std::string& said) {
  std::string quoted = "'";
  for (const char c : said) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

class Chats {
 public:
  Chats() {
    statements_ = {
        "CREATE TABLE chat_sessions (id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT 'New Chat', "
        "created_at TEXT NOT NULL DEFAULT '2026-03-01 09:30:00', updated_at TEXT NOT NULL DEFAULT "
        "'2026-03-01 09:30:00', model TEXT NOT NULL DEFAULT '', working_directory TEXT NOT NULL "
        "DEFAULT '', sdk_session_id TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT "
        "'active', "
        "context_summary TEXT NOT NULL DEFAULT '', context_summary_updated_at TEXT NOT NULL "
        "DEFAULT '')",
        "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, "
        "content TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT '2026-03-01 09:30:01', "
        "token_usage TEXT)",
        "CREATE TABLE api_providers (id TEXT, api_key TEXT)",
        "INSERT INTO api_providers VALUES ('p', 'secret')",
        "INSERT INTO chat_sessions (id, title, working_directory, model) VALUES ('s1', 'A chat', "
        "'/data/app', 'opus')"};
  }
  Chats& run(const std::string& sql) {
    statements_.push_back(sql);
    return *this;
  }
  Chats& say(const std::string& id, const std::string& role, const std::string& content,
             const std::string& usage = "NULL") {
    return run("INSERT INTO messages (id, session_id, role, content, token_usage) VALUES ('" + id +
               "', 's1', '" + role + "', " + text(content) + ", " + usage + ")");
  }
  std::string image() const { return database_image(statements_); }

 private:
  std::vector<std::string> statements_;
};

std::vector<ImportReport> import(ImportMachine& machine, const Chats& chats) {
  machine.host.files[kPath] = chats.image();
  const auto found = machine.find({.agents = {}, .paths = {kPath}, .since_ms = 0});
  EXPECT_TRUE(found.problems.empty());
  auto reports = machine.import_all(found.sources);
  for (const ImportReport& report : reports) EXPECT_FALSE(report.error) << report.error->message();
  return reports;
}

Lines said(const Chats& chats) {
  ImportMachine machine;
  import(machine, chats);
  return machine.said("codepilot.s1");
}

const std::string kTurn =
    R"([{"type":"thinking","thinking":"hm"},{"type":"text","text":"looking"},)"
    R"({"type":"tool_use","id":"c1","name":"Read","input":{"p":1}},)"
    R"({"type":"tool_result","tool_use_id":"c1","content":"the file"},)"
    R"({"type":"tool_use","id":"c2","name":"Bash","input":{}},)"
    R"({"type":"tool_result","tool_use_id":"c2","content":"no","is_error":true},)"
    R"({"type":"text","text":"done"}])";

TEST(Codepilot, ARowIsAWholeTurn) {
  EXPECT_EQ(said(Chats()
                     .say("m1", "user", "go")
                     .say("m2", "assistant", kTurn)
                     .say("m3", "user", "thanks")),
            (Lines{"user: go", "assistant: (hm)", "assistant: looking",
                   "assistant: Read({\"p\":1})", "tool: = the file", "assistant: Bash({})",
                   "tool: = no", "assistant: done", "user: thanks"}));
}

TEST(Codepilot, WhatIsNoListOfBlocksIsText) {
  EXPECT_EQ(said(Chats()
                     .say("m1", "user", R"({"a": 1})")
                     .say("m2", "assistant", "[1, 2]")
                     .say("m3", "assistant", "[not json")),
            (Lines{"user: {\"a\": 1}", "assistant: [1, 2]", "assistant: [not json"}));
  EXPECT_EQ(said(Chats().say("m1", "user", kTurn)), Lines{"user: " + kTurn});
}

TEST(Codepilot, FilesStandBeforeTheText) {
  ImportMachine machine;
  import(
      machine,
      Chats().say(
          "m1", "user",
          R"(<!--files:[{"id":"f","name":"a.png","type":"image/png","filePath":"/x/a.png"}]-->look)"));
  const auto said = read_conversation(machine.store, "codepilot.s1", {});
  ASSERT_TRUE(said.ok());
  ASSERT_EQ(said->size(), 1u);
  const auto& parts = (*said)[0].message.parts;
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].path, "/x/a.png");
  EXPECT_EQ(parts[0].media_type, "image/png");
  EXPECT_EQ(parts[1].text, "look");
}

TEST(Codepilot, WhatIsNoListOfFilesIsText) {
  for (const char* content : {"<!--files:[]-->a", "<!--files:[1]-->a", "<!--files:[broken-->a",
                              "<!--files:{}-->a", R"(<!--files:[{"name":"a"}] never closed)"}) {
    EXPECT_EQ(said(Chats().say("m1", "user", content)), Lines{"user: " + std::string(content)});
  }
}

TEST(Codepilot, TheSessionsRowSaysWhatItIs) {
  ImportMachine machine;
  Chats chats;
  chats.say("m1", "user", "hi")
      .say("m2", "assistant", "ho",
           R"('{"input_tokens":10,"output_tokens":4,"cache_read_input_tokens":3,"cost_usd":0.5}')");
  chats.run("UPDATE chat_sessions SET status = 'archived', sdk_session_id = 'abc'");
  import(machine, chats);
  const auto summary = machine.store.sessions().describe_session("codepilot.s1");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->title, "A chat");
  EXPECT_EQ(summary->cwd, "/data/app");
  EXPECT_EQ(summary->model, "opus");
  EXPECT_EQ(summary->sdk_session_id, "abc");
  EXPECT_TRUE(summary->archived);
  EXPECT_EQ(summary->created, "2026-03-01T09:30:00Z");
  EXPECT_EQ(summary->counts.messages, 1u);
  const auto usage = UsageStore(machine.store).aggregate({.project = ProjectScope::all()});
  ASSERT_TRUE(usage.ok());
  EXPECT_EQ(usage->total.tokens_in, 10u);
  EXPECT_EQ(usage->total.tokens_out, 4u);
  EXPECT_EQ(usage->total.cache_read, 3u);
  EXPECT_EQ(usage->total.cost_recorded_nano_usd, 500000000);
}

TEST(Codepilot, ASummaryStandsForWhatIsOlder) {
  Chats chats;
  chats.say("m1", "user", "old").say("m2", "user", "new");
  chats.run("UPDATE messages SET created_at = '2026-03-01 10:00:00' WHERE id = 'm2'");
  chats.run(
      "UPDATE chat_sessions SET context_summary = 'in short', context_summary_updated_at = "
      "'2026-03-01 09:45:00'");
  const Lines lines = said(chats);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("in short"), std::string::npos);
  EXPECT_EQ(lines[1], "user: new");
}

TEST(Codepilot, PartsOfTheirOwnCount) {
  Chats chats;
  chats.run("CREATE TABLE projects (id TEXT PRIMARY KEY, root_path TEXT)")
      .run("INSERT INTO projects VALUES ('p1', '/data'), ('p2', '/else')");
  chats.run("ALTER TABLE chat_sessions ADD COLUMN project_id TEXT")
      .run("ALTER TABLE chat_sessions ADD COLUMN parent_session_id TEXT");
  chats.run("UPDATE chat_sessions SET project_id = 'p1', parent_session_id = 's0'");
  chats.run(
      "CREATE TABLE message_parts (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, "
      "part_type TEXT, payload TEXT, seq INTEGER)");
  chats.run(
      "CREATE TABLE session_runtime_state (session_id TEXT PRIMARY KEY, queued_messages TEXT)");
  chats.run("INSERT INTO session_runtime_state VALUES ('s1', '[]')");
  chats.say("m1", "user", "go").say("m2", "assistant", "in short");
  chats.run(
      R"(INSERT INTO message_parts VALUES ('b', 'm2', 's1', 'text', '{"text":"second"}', 2), ('a', 'm2', 's1', 'tool_use', '{"id":"c","name":"Read","input":{}}', 1))");
  ImportMachine machine;
  import(machine, chats);
  EXPECT_EQ(machine.said("codepilot.s1"),
            (Lines{"user: go", "assistant: Read({})", "assistant: second"}));
  EXPECT_EQ(machine.store.sessions().describe_session("codepilot.s1")->parent_session,
            "codepilot.s0");
  const QuotedRows given = quoted_rows(machine.give("codepilot.s1", "codepilot")["codepilot.db"]);
  const QuotedRows all = quoted_rows(machine.host.files[kPath]);
  for (const char* table :
       {"chat_sessions", "messages", "message_parts", "session_runtime_state"}) {
    EXPECT_EQ(given.at(table), all.at(table)) << table;
  }
  EXPECT_EQ(given.at("projects").size(), 1u);
  EXPECT_FALSE(given.contains("api_providers"));
}

TEST(Codepilot, PartsSayWhatTheyAre) {
  const std::string table =
      "CREATE TABLE message_parts (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, "
      "part_type TEXT, payload TEXT, seq INTEGER)";
  Chats chats;
  chats.run(table).say("m1", "user", "files").say("m2", "assistant", "thought");
  chats.run(
      R"(INSERT INTO message_parts VALUES
      ('a', 'm1', 's1', 'attachment', '{"file":{"name":"a.png","type":"image/png"}}', 0),
      ('b', 'm1', 's1', 'attachment', '{"name":"b.png","type":"image/gif"}', 1),
      ('c', 'm2', 's1', 'status', '{"type":"thinking","thinking":"hm"}', 0))");
  ImportMachine machine;
  import(machine, chats);
  const auto conversation = read_conversation(machine.store, "codepilot.s1", {});
  ASSERT_TRUE(conversation.ok());
  ASSERT_EQ(conversation->size(), 2u);
  const auto& files = (*conversation)[0].message.parts;
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "a.png");
  EXPECT_EQ(files[0].media_type, "image/png");
  EXPECT_EQ(files[1].name, "b.png");
  EXPECT_EQ(files[1].media_type, "image/gif");
  EXPECT_EQ((*conversation)[1].message.parts[0].type, PartType::kThinking);
  // One that cannot be read: the content counts, not the rest of the parts.
  for (const char* payload :
       {"'no json'", R"('{"text":"' || CAST(x'ff' AS TEXT) || '"}')", "'[]'"}) {
    Chats other;
    other.run(table).say("m1", "user", "in short");
    other.run(R"(INSERT INTO message_parts VALUES ('a', 'm1', 's1', 'text', '{"text":"one"}', 0), )"
              "('b', 'm1', 's1', 'text', " +
              std::string(payload) + ", 1)");
    EXPECT_EQ(said(other), Lines{"user: in short"}) << payload;
  }
}

TEST(Codepilot, ImportingAgainAddsTheNewOnly) {
  ImportMachine machine;
  Chats chats;
  chats.say("m1", "user", "one");
  import(machine, chats);
  EXPECT_EQ(import(machine, chats)[0].added, 0u);
  chats.say("m2", "assistant", "two");
  EXPECT_EQ(import(machine, chats)[0].added, 1u);
  // Nothing says that it changed but its length.
  chats.run("UPDATE messages SET content = 'two and more' WHERE id = 'm2'");
  EXPECT_EQ(import(machine, chats)[0].added, 1u);
  EXPECT_EQ(machine.said("codepilot.s1"), (Lines{"user: one", "assistant: two and more"}));
}

TEST(Codepilot, ADatabaseOfSomebodyElseIsReported) {
  for (const std::string& image :
       {std::string(), database_image({"CREATE TABLE messages (id TEXT)"}),
        database_image({"CREATE TABLE chat_sessions (id TEXT)"})}) {
    ImportMachine machine;
    machine.host.files[kPath] = image;
    const auto found = machine.find({.agents = {}, .paths = {"/home"}, .since_ms = 0});
    EXPECT_TRUE(found.sources.empty());
    EXPECT_EQ(found.problems.size(), 1u);
  }
}

// Written from another agent's session, and read again.
TEST(Codepilot, WhatIsWrittenSaysTheSame) {
  ImportMachine machine;
  const std::string path = "/s/2026_s1.jsonl";
  machine.host.files[path] =
      R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data/app"})"
      "\n"
      R"({"type":"message","id":"a1","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z","message":{"role":"user","content":"go"}})"
      "\n"
      R"({"type":"message","id":"a2","parentId":"a1","timestamp":"2026-03-01T09:30:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"looking"},{"type":"toolCall","id":"c1","name":"read","arguments":{"p":1}}],"stopReason":"toolUse"}})"
      "\n"
      R"({"type":"message","id":"a3","parentId":"a2","timestamp":"2026-03-01T09:30:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"the file"}],"isError":false}})"
      "\n"
      R"({"type":"message","id":"a4","parentId":"a3","timestamp":"2026-03-01T09:30:04.000Z","message":{"role":"assistant","content":[{"type":"text","text":"done"}],"stopReason":"stop"}})"
      "\n";
  machine.import("pi", path);
  const auto files = machine.give("pi.s1", "codepilot");
  ASSERT_EQ(files.size(), 1u);
  const QuotedRows rows = quoted_rows(files.at("codepilot.db"));
  EXPECT_EQ(rows.at("chat_sessions").size(), 1u);
  EXPECT_EQ(rows.at("messages").size(), 2u) << "a question, and the whole turn";
  machine.host.files[kPath] = files.at("codepilot.db");
  const auto reports =
      machine.import_all(machine.find({.agents = {}, .paths = {kPath}, .since_ms = 0}).sources);
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_FALSE(reports[0].error) << reports[0].error->message();
  EXPECT_EQ(machine.said(reports[0].session_id), machine.said("pi.s1"));
  EXPECT_EQ(machine.give("pi.s1", "codepilot"), files) << "the same transcript, the same bytes";
  // And for opencode.
  const auto document = machine.give("pi.s1", "opencode");
  ASSERT_EQ(document.size(), 1u);
  machine.host.files["/x/written.json"] = document.begin()->second;
  const auto again =
      machine.import_all(machine.find({.agents = {}, .paths = {"/x"}, .since_ms = 0}).sources);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(machine.said(again[0].session_id), machine.said("pi.s1"));
}

}  // namespace
}  // namespace quipu
