#include "quipu/export.h"
#include "pi_lines.h"

#include <gtest/gtest.h>

#include "quipu/usage.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

const std::string kPath = "/home/ada/.pi/agent/sessions/--data--/2026_s1.jsonl";

TEST(Export, AnotherAgentReadsTheSameConversation) {
  ImportMachine machine;
  const std::string call =
      R"({"type":"message","id":"b","parentId":"a","timestamp":"2026-03-01T09:30:02.000Z","message":{"role":"assistant",)"
      R"("content":[{"type":"text","text":"Looking."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}],)"
      R"("provider":"anthropic","model":"m","stopReason":"toolUse","timestamp":2}})";
  const std::string result =
      R"({"type":"message","id":"c","parentId":"b","timestamp":"2026-03-01T09:30:03.000Z","message":{"role":"toolResult",)"
      R"("toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"a.txt"}],"isError":false,"timestamp":3}})";
  machine.host.files[kPath] = kPiHeader + pi_line("a", "", "user", "What is there?") + "\n" + call +
                              "\n" + result + "\n" + pi_line("d", "c", "assistant", "A file.") +
                              "\n";
  machine.import("pi", kPath);
  const std::vector<std::string> texts = {"What is there?", "Looking.", "= a.txt", "A file."};
  for (const std::string agent : {"claude", "codex", "pi"}) {
    SCOPED_TRACE(agent);
    ImportMachine other;
    std::string written;
    auto given = export_session(machine.store, "pi.s1", {.to = agent, .normalise = true},
                                [&](const std::string& path, std::string_view bytes) {
                                  written = "/x/" + path;
                                  other.host.files[written] += bytes;
                                  return Result<void>();
                                });
    ASSERT_TRUE(given.ok()) << given.error().message();
    auto found = other.find({.agents = {}, .paths = {"/x"}, .since_ms = 0});
    ASSERT_EQ(found.sources.size(), 1u);
    EXPECT_EQ(found.sources[0].agent, agent);
    const ImportReport report = other.import_all(found.sources).at(0);
    std::string all;
    for (const std::string& said : other.said(report.session_id)) all += said + "\n";
    std::size_t at = 0;
    for (const std::string& text : texts) {
      at = all.find(text, at);
      EXPECT_NE(at, std::string::npos) << text << " is not in\n" << all;
    }
  }
}

TEST(Export, WhatStoodOnSeveralLinesStandsOnOne) {
  ImportMachine machine;
  const std::string path = "/home/ada/.gemini/tmp/p/chats/session-x.json";
  machine.host.files[path] =
      "{\"sessionId\": \"g1\", \"projectHash\": \"h\", \"messages\": [\n"
      "{\"id\": \"1\", \"type\": \"user\", \"content\": \"go\"},\n"
      "{\"id\": \"2\", \"type\": \"gemini\", \"content\": \"\", \"toolCalls\": [{\"id\": \"c\", "
      "\"name\": \"x\",\n"
      " \"args\": {\n  \"p\": 1\n }}]}]}";
  machine.import("gemini", path);
  for (const std::string agent :
       {"claude", "codex", "craft", "gemini", "jsonl", "myagents", "pi"}) {
    SCOPED_TRACE(agent);
    std::string lines;
    auto given = export_session(machine.store, "gemini.g1", {.to = agent, .normalise = true},
                                [&](const std::string& name, std::string_view bytes) {
                                  if (name.ends_with(".jsonl")) lines += bytes;
                                  return Result<void>();
                                });
    ASSERT_TRUE(given.ok()) << given.error().message();
    EXPECT_EQ(lines.find("{\n"), std::string::npos) << lines;
    EXPECT_NE(lines.find("\"p"), std::string::npos) << lines;
  }
}

TEST(Export, AnAnswerInSeveralRecordsIsOneMessage) {
  ImportMachine machine;
  const std::string path =
      "/home/ada/.claude/projects/-data/11111111-1111-4111-8111-111111111111.jsonl";
  const auto block = [](const std::string& uuid, const std::string& parent,
                        const std::string& content) {
    return R"({"parentUuid":)" + parent +
           R"(,"isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[)" +
           content + R"(]},"uuid":")" + uuid +
           R"(","timestamp":"2026-03-01T09:30:02.000Z","sessionId":"11111111-1111-4111-8111-111111111111"})"
           "\n";
  };
  machine.host.files[path] =
      R"({"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"go"},"uuid":"u","timestamp":"2026-03-01T09:30:01.000Z","sessionId":"11111111-1111-4111-8111-111111111111"})"
      "\n" +
      block("a", "\"u\"", R"({"type":"text","text":"Both."})") +
      block("b", "\"a\"", R"({"type":"tool_use","id":"c1","name":"x","input":{}})") +
      block("c", "\"b\"", R"({"type":"tool_use","id":"c2","name":"y","input":{}})");
  machine.import("claude", path);
  std::string text;
  auto given = export_session(machine.store, "claude.11111111-1111-4111-8111-111111111111",
                              {.to = "pi"}, [&](const std::string&, std::string_view bytes) {
                                text += bytes;
                                return Result<void>();
                              });
  ASSERT_TRUE(given.ok());
  std::size_t answers = 0;
  for (std::size_t at = text.find("\"role\":\"assistant\""); at != std::string::npos;
       at = text.find("\"role\":\"assistant\"", at + 1)) {
    ++answers;
  }
  EXPECT_EQ(answers, 1u) << text;
}

// Gemini CLI writes results down again when it goes on with a session.
TEST(Export, AResultThatWasWrittenTwiceIsOne) {
  ImportMachine machine;
  const auto session = machine.store.sessions().create_session({.id = "s"});
  ASSERT_TRUE(session.ok());
  const auto entry = [](const std::string& payload) {
    NewEntry made;
    made.type = "message";
    made.payload = payload;
    return made;
  };
  const std::string result =
      R"({"role":"tool","content":[{"type":"tool_result","toolUseId":"c","content":"done"}]})";
  ASSERT_TRUE(machine.store.sessions()
                  .append_session_entries(
                      "s", {{entry(R"({"role":"user","content":"go"})"),
                             entry(R"({"role":"assistant","content":[{"type":"tool_use","id":"c",)"
                                   R"("name":"ls","input":{}}]})"),
                             entry(result), entry(result)}})
                  .ok());
  const std::string text = machine.give("s", "claude").begin()->second;
  std::size_t results = 0;
  for (std::size_t at = 0; (at = text.find("\"tool_result\"", at)) != std::string::npos; ++at) {
    ++results;
  }
  EXPECT_EQ(results, 1u) << text;
}

// Results may stand between the records of one answer.
TEST(Export, ARequestIsCountedOnce) {
  ImportMachine machine;
  ASSERT_TRUE(machine.store.sessions().create_session({.id = "s"}).ok());
  const auto entry = [](const std::string& payload) {
    NewEntry made;
    made.type = "message";
    made.payload = payload;
    return made;
  };
  const auto call = [&](const std::string& id) {
    return entry(
        R"({"role":"assistant","requestId":"r1","model":"m","content":[{"type":"tool_use","id":")" +
        id + R"(","name":"ls","input":{}}],"usage":{"tokensIn":7,"tokensOut":3}})");
  };
  const auto result = [&](const std::string& id) {
    return entry(R"({"role":"tool","content":[{"type":"tool_result","toolUseId":")" + id +
                 R"(","content":"done"}]})");
  };
  ASSERT_TRUE(machine.store.sessions()
                  .append_session_entries("s", {{entry(R"({"role":"user","content":"go"})"),
                                                 call("a"), result("a"), call("b"), result("b")}})
                  .ok());
  const std::string path = "/home/ada/.pi/agent/sessions/--data--/2026_s9.jsonl";
  machine.host.files[path] = machine.give("s", "pi").begin()->second;
  machine.import("pi", path);
  const auto used = UsageStore(machine.store)
                        .aggregate({.by = UsageBy::kSession, .project = ProjectScope::all()});
  ASSERT_TRUE(used.ok());
  ASSERT_EQ(used->groups.size(), 2u);
  for (const UsageGroup& session : used->groups) {
    EXPECT_EQ(session.sum.tokens_in, 7u) << session.name;
  }
}

// Where the agents' own programs look, also when the user has moved it.
TEST(Export, InstalledFilesLieWhereTheAgentLooks) {
  ImportMachine machine;
  machine.host.files[kPath] = kPiHeader + pi_line("a", "", "user", "one") + "\n";
  machine.import("pi", kPath);
  const auto install = [&](const std::string& to, std::map<std::string, std::string> variables) {
    variables["HOME"] = "/home/eve";
    std::vector<std::string> paths;
    auto report = export_session(
        machine.store, "pi.s1", {.to = to, .head = {}, .normalise = false, .install = true},
        [&](const std::string& path, std::string_view) {
          if (paths.empty() || paths.back() != path) paths.push_back(path);
          return Result<void>();
        },
        &machine.host, &variables);
    EXPECT_TRUE(report.ok()) << report.error().message();
    if (report.ok()) {
      EXPECT_EQ(report->files, paths);
    }
    return paths.empty() ? std::string() : paths.front();
  };
  EXPECT_EQ(install("pi", {}), "/home/eve/.pi/agent/sessions/--data--/2026_s1.jsonl");
  EXPECT_EQ(install("pi", {{"PI_CODING_AGENT_SESSION_DIR", "/elsewhere"}}),
            "/elsewhere/--data--/2026_s1.jsonl");
  EXPECT_TRUE(install("claude", {}).starts_with("/home/eve/.claude/projects/-data/"));
  EXPECT_TRUE(install("claude", {{"CLAUDE_CONFIG_DIR", "/c"}}).starts_with("/c/projects/-data/"));
  EXPECT_TRUE(install("codex", {}).starts_with("/home/eve/.codex/sessions/2026/03/01/rollout-"));
  machine.host.files["/home/eve/.config/claude/projects/-x/y.jsonl"] = "{}";
  EXPECT_TRUE(install("claude", {}).starts_with("/home/eve/.config/claude/projects/-data/"))
      << "the place that is in use";
}

}  // namespace
}  // namespace quipu
