// MyAgents: lines, the document before them, the index that sessions share.
#include <gtest/gtest.h>

#include "base/json_scan.h"
#include "laws.h"

namespace quipu {
namespace {

using Lines = std::vector<std::string>;

const std::string kHome = "/home/ada/.myagents/";
const std::string kId = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const std::string kPath = kHome + "sessions/" + kId + ".jsonl";
const std::string kLegacy = kHome + "sessions/" + kId + ".json";
const std::string kIndex = kHome + "sessions.json";
const std::string kSession = "myagents." + kId;

// As the program writes it: pretty, with a space that is nobody else's.
const std::string kEntry = R"({
    "id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "agentDir": "/data/atlas",
    "title": "Maps of \u00fcber",
    "createdAt": "2026-03-01T09:30:00.000Z",
    "lastActiveAt": "2026-03-01T09:31:00.000Z",
    "sdkSessionId": "sdk-1",
    "stats": { "messageCount":  1, "totalInputTokens": 10, "totalOutputTokens": 5 },
    "forkFrom": { "sourceSessionId": "other", "messageUuid": "u" }
  })";

std::string index_of(const std::string& entries) { return "[\n  " + entries + "\n]"; }

std::string line(const std::string& id, const std::string& role, const std::string& content,
                 const std::string& more = {}) {
  return R"({"id":")" + id + R"(","role":")" + role + R"(","content":)" + json::quoted(content) +
         R"(,"timestamp":"2026-03-01T09:30:0)" + id + R"(.000Z")" + more + "}";
}

const std::string kBlocks =
    R"([{"type":"thinking","thinking":"Hm.","isComplete":true},)"
    R"({"type":"text","text":"Looking."},)"
    R"({"type":"tool_use","tool":{"id":"t1","name":"Bash","input":{"command":"ls"},"streamIndex":1,"result":"a.txt"}},)"
    R"({"type":"tool_use","tool":{"id":"t2","name":"Task","input":{},"parsedInput":{"p":1},"streamIndex":2,"result":"done","isError":true,"subagentCalls":[{"id":"s1","name":"Read"}]}},)"
    R"({"type":"text","text":"Two things."}])";

const std::string kText =
    line("1", "user", "What is there?") + "\n" +
    line(
        "2", "assistant", kBlocks,
        R"(,"usage":{"inputTokens":10,"outputTokens":5,"cacheReadTokens":3,"model":"m"},"toolCount":2)") +
    "\n" + line("3", "user", "[1, 2] is a list") + "\n";

const Lines kSaid = {"user: What is there?",       "assistant: (Hm.)",
                     "assistant: Looking.",        "assistant: Bash({\"command\":\"ls\"})",
                     "assistant: Task({\"p\":1})", "assistant: = a.txt",
                     "assistant: = done",          "assistant: Two things.",
                     "user: [1, 2] is a list"};

std::string document(const std::string& messages) {
  return "{\n  \"messages\": [\n" + messages + "\n  ]\n}\n";
}

Session session() {
  Session session{.agent = "myagents", .main = kPath, .there = {}, .given = {}};
  session.there = {{kPath, kText},
                   {kIndex, index_of("{\"id\": \"another\"},\n  " + kEntry)},
                   {kHome + "attachments/" + kId + "/a.png", "\x89PNG"},
                   {kHome + "attachments/another/b.png", "no"},
                   {kHome + "config.json", "{}"}};
  session.given = {{kId + ".jsonl", kText},
                   {"sessions.json", index_of(kEntry)},
                   {"attachments/" + kId + "/a.png", "\x89PNG"}};
  return session;
}

TEST(MyAgents, ASessionComesBackWithItsPartOfTheIndex) {
  expect_lossless_and_idempotent(session());
}

TEST(MyAgents, LinesThatGrowAddTheRestOnly) { expect_grows(session(), kText.find('\n') + 1); }

TEST(MyAgents, WhatIsGoneFromTheFileStays) {
  ImportMachine machine;
  machine.host.files = session().there;
  import_found(machine, "myagents");
  machine.host.files[kPath] = line("1", "user", "What is there?") + "\n";
  EXPECT_EQ(import_found(machine, "myagents").added, 0u);
  EXPECT_EQ(machine.said(kSession), kSaid);
}

TEST(MyAgents, AFileIsKnownByItsFirstMessageOrItsPlace) {
  ImportMachine machine;
  const std::string broken("\0\0\0\n", 4);
  machine.host.files["/home/ada/a/x.jsonl"] = broken + line("1", "user", "one") + "\n";
  machine.host.files["/home/ada/b/x.jsonl"] = line("1", "user", std::string(40000, 'x')) + "\n";
  machine.host.files["/home/ada/c/x.json"] = document(line("1", "user", "one"));
  machine.host.files[kHome + "sessions/y.jsonl"] = broken;
  machine.host.files["/home/ada/d/no.jsonl"] = R"({"id":"1","role":"user","content":"one"})"
                                               "\n";
  const auto found = machine.find({.agents = {}, .paths = {"/home/ada"}, .since_ms = 0});
  EXPECT_EQ(found.sources.size(), 4u);
  for (const ImportSource& source : found.sources) EXPECT_EQ(source.agent, "myagents");
}

TEST(MyAgents, BlocksAreInTheContentAndResultsInTheCalls) {
  ImportMachine machine;
  machine.host.files = session().there;
  import_found(machine, "myagents");
  EXPECT_EQ(machine.said(kSession), kSaid);
  const auto conversation = read_conversation(machine.store, kSession);
  ASSERT_TRUE(conversation.ok());
  const std::vector<Part>& parts = conversation->at(1).message.parts;
  EXPECT_EQ(parts.at(4).tool_use_id, "t1");
  EXPECT_TRUE(parts.at(5).is_error);
  EXPECT_EQ(parts.at(5).details, R"([{"id":"s1","name":"Read"}])");
}

TEST(MyAgents, TheIndexKnowsTitleDirectoryAndKin) {
  ImportMachine machine;
  machine.host.files = session().there;
  import_found(machine, "myagents");
  auto summary = machine.store.sessions().describe_session(kSession);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->title, "Maps of über");
  EXPECT_EQ(summary->cwd, "/data/atlas");
  EXPECT_EQ(summary->created, "2026-03-01T09:30:00.000Z");
  EXPECT_EQ(summary->parent_session, "myagents.other");
  EXPECT_EQ(summary->counts.messages, 2u);
  EXPECT_EQ(summary->counts.tokens_in, 10u);
  EXPECT_EQ(summary->counts.cache_read, 3u);
  EXPECT_EQ(summary->model, "m");

  // A change of another session is none of ours, one of its own is one record.
  std::string entry = kEntry;
  machine.host.files[kIndex] = index_of("{\"id\": \"a third\"},\n  " + entry);
  const FindOptions everywhere{.agents = {}, .paths = {"/home/ada"}, .since_ms = 0};
  EXPECT_TRUE(machine.find(everywhere).sources.at(0).is_current);
  EXPECT_EQ(import_found(machine, "myagents").added, 0u);
  entry.replace(entry.find("Maps"), 4, "Ways");
  machine.host.files[kIndex] = index_of(entry);
  EXPECT_EQ(import_found(machine, "myagents").added, 1u);
  EXPECT_EQ(machine.store.sessions().describe_session(kSession)->title, "Ways of über");
  EXPECT_EQ(machine.give(kSession, "myagents")["sessions.json"], index_of(entry));
  // Nobody can read it while it is written, and nothing is forgotten.
  machine.host.files[kIndex] = "[\n  {\"id\": \"7c9e";
  EXPECT_EQ(import_found(machine, "myagents").added, 0u);
  EXPECT_EQ(machine.give(kSession, "myagents")["sessions.json"], index_of(entry));
}

TEST(MyAgents, DocumentsOfOldAreReadAsTheyAreNow) {
  const std::string one = line("1", "user", "one");
  const std::string two = line("2", "assistant", "two");
  Session old{.agent = "myagents", .main = kLegacy, .there = {}, .given = {}};
  old.there = {{kLegacy, document(one + ",\n" + two)}, {kIndex, index_of(kEntry)}};
  old.given = {{kId + ".json", document(one + ",\n" + two)}, {"sessions.json", index_of(kEntry)}};
  expect_lossless_and_idempotent(old);

  ImportMachine machine;
  machine.host.files = old.there;
  import_found(machine, "myagents");
  machine.host.files[kLegacy] = document(one + ",\n" + line("2", "assistant", "better"));
  EXPECT_EQ(import_found(machine, "myagents").added, 1u);
  EXPECT_EQ(machine.said(kSession), (Lines{"user: one", "assistant: better"}));
}

TEST(MyAgents, AnInterruptedMigrationLosesNothing) {
  const std::string before = line("0", "user", "before");
  const std::string one = line("1", "user", "one");
  const std::string between = line("2", "assistant", "between");
  const std::string three = line("3", "user", "three");
  const std::string after = line("4", "assistant", "after");
  const std::string later = line("5", "user", "later");
  Session both{.agent = "myagents", .main = kPath, .there = {}, .given = {}};
  const std::string lines = one + "\n" + three + "\n";
  const std::string whole =
      document(before + "," + one + ",\n" + between + "," + three + "," + after);
  both.there = {{kPath, lines}, {kLegacy, whole}};
  both.given = {{kId + ".jsonl", lines}, {kId + ".json", whole}};
  expect_lossless_and_idempotent(both);

  ImportMachine machine;
  machine.host.files = both.there;
  import_found(machine, "myagents");
  EXPECT_EQ(machine.said(kSession), (Lines{"user: before", "user: one", "assistant: between",
                                           "user: three", "assistant: after"}));
  // At an earlier message the conversation ends there.
  EXPECT_EQ(machine.said(kSession, "1"),
            (Lines{"user: before", "user: one", "assistant: between"}));
  // The program goes on with the lines and takes the document away.
  machine.host.files.erase(kLegacy);
  machine.host.files[kPath] = lines + later + "\n";
  EXPECT_EQ(import_found(machine, "myagents").added, 1u);
  EXPECT_EQ(machine.said(kSession).back(), "user: later");
  EXPECT_EQ(machine.said(kSession).size(), 6u);
}

// The document is found first; what grows is the lines.
TEST(MyAgents, LinesGrowBesideADocumentThatStays) {
  const std::string one = line("1", "user", "one");
  ImportMachine machine;
  machine.host.files[kLegacy] = document(one);
  machine.host.files[kPath] = one + "\n";
  import_found(machine, "myagents");
  machine.host.files[kPath] += line("2", "assistant", "two") + "\n";
  const auto find = [&] {
    return machine.find({.agents = {}, .paths = {"/home/ada"}, .since_ms = 0});
  };
  const auto found = find();
  ASSERT_EQ(found.sources.size(), 1u);
  EXPECT_FALSE(found.sources[0].is_current);
  EXPECT_EQ(machine.import_all(found.sources).at(0).added, 1u);
  EXPECT_EQ(machine.said(kSession), (Lines{"user: one", "assistant: two"}));
  EXPECT_TRUE(find().sources.at(0).is_current);
}

TEST(MyAgents, WhatIsWrittenIsReadAgain) {
  ImportMachine machine;
  machine.host.files = session().there;
  import_found(machine, "myagents");
  ImportMachine other;
  auto given = export_session(machine.store, kSession, {.to = "myagents", .normalise = true},
                              [&](const std::string& path, std::string_view bytes) {
                                other.host.files[kHome + path] += bytes;
                                return Result<void>();
                              });
  ASSERT_TRUE(given.ok()) << given.error().message();
  const std::string id = import_found(other, "myagents").session_id;
  EXPECT_EQ(other.said(id), kSaid);
  const auto summary = other.store.sessions().describe_session(id);
  EXPECT_EQ(summary->title, "Maps of über");
  EXPECT_EQ(summary->cwd, "/data/atlas");
  EXPECT_EQ(summary->counts.tokens_in, 10u);
  ASSERT_EQ(given->lost.size(), 1u);
  EXPECT_EQ(given->lost[0].what, "context");
}

TEST(MyAgents, AttachmentsOfTheUserAreFiles) {
  ImportMachine machine;
  const std::string path = "/home/ada/.pi/agent/sessions/--data--/2026_s1.jsonl";
  machine.host.files[path] =
      R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})"
      "\n"
      R"({"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z","message":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","data":"iVBORw==","mimeType":"image/png"}],"timestamp":1}})"
      "\n";
  machine.import("pi", path);
  const ImportMachine::Files files = machine.give("pi.s1", "myagents");
  ASSERT_EQ(files.size(), 3u);
  EXPECT_TRUE(files.begin()->first.starts_with("attachments/")) << files.begin()->first;
  EXPECT_TRUE(files.begin()->first.ends_with(".png"));
  EXPECT_EQ(files.begin()->second, "\x89PNG");
}

}  // namespace
}  // namespace quipu
