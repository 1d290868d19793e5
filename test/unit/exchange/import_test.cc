#include "quipu/import.h"
#include "pi_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "quipu/attachments.h"
#include "quipu/context.h"
#include "quipu/usage.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

const std::string kPath = "/home/ada/.pi/agent/sessions/--data--/2026_s1.jsonl";

TEST(Import, EveryKindOfLineComesBack) {
  const std::vector<std::string> lines = {
      pi_line("a", "", "user", "one") + "\n",
      pi_line("a", "", "user", "one") + "\n",                                             // twice
      pi_line("b", "a", "assistant", "two") + pi_line("c", "b", "user", "three") + "\n",  // fused
      std::string("\0\0\0\0\n", 5),
      "\n",
      "\xff\xfe not UTF-8\n",
      "{\"type\":\"message\",\"id\":\"d\",\"parentId\":\"c\",\"x\":\"\xff\"}\n",
      R"({"type":"message","id":"e","parentId":"d","x":"\ud800"})"
      "\n",
      "  {\"type\":\"custom\"}  \n",
      pi_line("f", "nowhere", "user", "four") + "\r\n",
      R"({"type":"unheard-of","id":"g","parentId":"f","a":1,"a":2})"
      "\n",
      "[1,2]\n",
      R"({"type":"message","id":"h","pa)",  // torn
  };
  ImportMachine machine;
  std::string text = kPiHeader;
  for (const std::string& one : lines) text += one;
  machine.host.files[kPath] = text;
  const ImportReport report = machine.import("pi", kPath);
  EXPECT_EQ(report.session_id, "pi.s1");
  EXPECT_EQ(machine.give("pi.s1", "pi"), (ImportMachine::Files{{"2026_s1.jsonl", text}}));
  EXPECT_FALSE(report.problems.empty());
}

TEST(Import, ARecordMayBeCalledAsOurOwnEntriesAre) {
  ImportMachine machine;
  machine.host.files[kPath] = kPiHeader + pi_line("header", "", "user", "one") + "\n" +
                              pi_line("source", "header", "user", "two") + "\n";
  machine.import("pi", kPath);
  EXPECT_EQ(machine.give("pi.s1", "pi").begin()->second, machine.host.files[kPath]);
  EXPECT_EQ(machine.import("pi", kPath).added, 0u);
}

TEST(Import, ALineThatIsCutOffIsReplacedByTheWholeOne) {
  const std::string whole = kPiHeader + pi_line("a", "", "user", "one") + "\n";
  for (std::size_t cut = kPiHeader.size(); cut <= whole.size(); ++cut) {
    SCOPED_TRACE(cut);
    ImportMachine fresh;
    fresh.host.files[kPath] = whole.substr(0, cut);
    fresh.import("pi", kPath);
    fresh.host.files[kPath] = whole;
    fresh.import("pi", kPath);
    EXPECT_EQ(fresh.give("pi.s1", "pi").begin()->second, whole);
    EXPECT_EQ(fresh.import("pi", kPath).added, 0u);
    EXPECT_EQ(fresh.said("pi.s1"), std::vector<std::string>{"user: one"});
  }
}

TEST(Import, ASourceThatShrinksTakesNothingAway) {
  ImportMachine machine;
  machine.host.files[kPath] = kPiHeader + pi_line("a", "", "user", "one") + "\n" +
                              pi_line("b", "a", "assistant", "two") + "\n";
  machine.import("pi", kPath);
  machine.host.files[kPath] = kPiHeader + pi_line("a", "", "user", "one") + "\n";
  const ImportReport report = machine.import("pi", kPath);
  EXPECT_EQ(report.added, 0u);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].what, "lost");
  EXPECT_EQ(report.problems[0].count, 1u);
  EXPECT_EQ(machine.said("pi.s1").size(), 2u);
  EXPECT_TRUE(machine.import("pi", kPath).problems.empty()) << "said once";
}

TEST(Import, LinesThatAreGoneFromTheMiddleAreReportedAndKept) {
  ImportMachine machine;
  const std::string one = pi_line("a", "", "user", "one") + "\n";
  const std::string two = pi_line("b", "a", "assistant", "two") + "\n";
  const std::string three = pi_line("c", "b", "user", "three") + "\n";
  machine.host.files[kPath] = kPiHeader + one + two + "not JSON\n" + three;
  EXPECT_EQ(machine.import("pi", kPath).added, 5u);
  machine.host.files[kPath] =
      kPiHeader + one + three + pi_line("d", "c", "assistant", "four") + "\n";
  const ImportReport report = machine.import("pi", kPath);
  EXPECT_EQ(report.added, 1u);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].what, "lost");
  EXPECT_EQ(report.problems[0].count, 2u);
  EXPECT_EQ(machine.said("pi.s1").size(), 4u);
  EXPECT_TRUE(machine.import("pi", kPath).problems.empty()) << "said once";
}

// A record that was said again in another way is one of its own: also when only that goes.
TEST(Import, AVersionOfARecordThatIsGoneIsReported) {
  ImportMachine machine;
  const std::string one = pi_line("a", "", "user", "one") + "\n";
  const std::string other = pi_line("a", "", "user", "other") + "\n";
  const std::string two = pi_line("b", "a", "assistant", "two") + "\n";
  machine.host.files[kPath] = kPiHeader + one + other + two;
  EXPECT_EQ(machine.import("pi", kPath).added, 4u);
  machine.host.files[kPath] = kPiHeader + one + two;
  const ImportReport report = machine.import("pi", kPath);
  EXPECT_EQ(report.added, 0u);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_EQ(report.problems[0].what, "lost");
  EXPECT_EQ(report.problems[0].count, 1u);
}

// A file that was seen while somebody wrote it anew.
TEST(Import, WhatIsThereAgainIsNotStoredTwice) {
  const std::string one = kPiHeader + pi_line("a", "", "user", "one") + "\n";
  const std::string all = one + pi_line("b", "a", "assistant", "two") + "\n" +
                          pi_line("c", "b", "user", "three") + "\n";
  ImportMachine machine;
  machine.host.files[kPath] = all;
  machine.import("pi", kPath);
  machine.host.files[kPath] = one;
  EXPECT_EQ(machine.import("pi", kPath).problems.at(0).count, 2u);
  machine.host.files[kPath] = all;
  const ImportReport again = machine.import("pi", kPath);
  EXPECT_EQ(again.added, 0u);
  EXPECT_TRUE(again.problems.empty());
  EXPECT_EQ(machine.said("pi.s1").size(), 3u);
  EXPECT_EQ(machine.give("pi.s1", "pi").begin()->second, all);
  // In a part of it only, and with something new: what is still missing was said.
  machine.host.files[kPath] = one;
  EXPECT_EQ(machine.import("pi", kPath).problems.at(0).count, 2u);
  machine.host.files[kPath] = one + pi_line("b", "a", "assistant", "two") + "\n";
  EXPECT_TRUE(machine.import("pi", kPath).problems.empty());
  machine.host.files[kPath] += pi_line("d", "b", "user", "four") + "\n";
  const ImportReport more = machine.import("pi", kPath);
  EXPECT_EQ(more.added, 1u);
  EXPECT_EQ(more.total, 4u);
  EXPECT_TRUE(more.problems.empty());
}

TEST(Import, BlanksAroundALineAreKeptAndDoNotHideIt) {
  ImportMachine machine;
  const std::string text = kPiHeader + "  " + pi_line("a", "", "user", "one") + "\t \n " +
                           pi_line("b", "a", "user", "two") + " ";
  machine.host.files[kPath] = text;
  EXPECT_TRUE(machine.import("pi", kPath).problems.empty());
  EXPECT_EQ(machine.said("pi.s1"), (std::vector<std::string>{"user: one", "user: two"}));
  EXPECT_EQ(machine.give("pi.s1", "pi").begin()->second, text);
}

TEST(Import, AnEmptyFileComesBack) {
  ImportMachine machine;
  machine.host.files["/x/empty.jsonl"] = "";
  const std::string session = machine.import("claude", "/x/empty.jsonl").session_id;
  EXPECT_EQ(machine.give(session, "claude"), (ImportMachine::Files{{"empty.jsonl", ""}}));
}

// What was found may have grown before it is imported, or since it was imported.
TEST(Import, WhatWasFoundBeforeItGrewIsReadWhole) {
  ImportMachine machine;
  const std::string path = "/home/ada/.pi/agent/sessions/--data--/1_s1.jsonl";
  machine.host.files[path] = kPiHeader + pi_line("a", "", "user", "one") + "\n";
  const auto found = machine.find({.agents = {"pi"}, .paths = {"/home/ada/.pi"}, .since_ms = 0});
  ASSERT_EQ(found.sources.size(), 1u);
  machine.host.files[path] += pi_line("b", "a", "assistant", "two") + "\n";
  EXPECT_EQ(machine.import_all(found.sources).at(0).added, 3u);
  EXPECT_EQ(machine.import_all(found.sources).at(0).added, 0u);
  machine.host.files[path] += pi_line("c", "b", "user", "three") + "\n";
  EXPECT_EQ(machine.import_all(found.sources).at(0).added, 1u) << "found long ago";
  EXPECT_EQ(machine.said("pi.s1").size(), 3u);
  const auto before = machine.store.sessions().load_session_entries("pi.s1")->size();
  for (int round = 0; round < 3; ++round) machine.import_all(found.sources);
  EXPECT_EQ(machine.store.sessions().load_session_entries("pi.s1")->size(), before);
}

// A file beside a session is written anew: what it says now is what counts and comes back.
TEST(Import, AFileBesideASessionThatChangesAndChangesBack) {
  ImportMachine machine;
  const std::string session = "11111111-2222-4333-8444-555555555555";
  const std::string main = "/home/ada/.claude/projects/-data/" + session + ".jsonl";
  const std::string title = "/home/ada/.claude/projects/-data/" + session + "/custom-title.json";
  machine.host.files[main] =
      R"({"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"one"},"uuid":"u1","timestamp":"2026-01-01T00:00:00.000Z","sessionId":")" +
      session + "\"}\n";
  for (const std::string name : {"First", "Second", "First", "First", "Second"}) {
    SCOPED_TRACE(name);
    machine.host.files[title] = R"({"customTitle":")" + name + "\"}";
    const auto found =
        machine.find({.agents = {"claude"}, .paths = {"/home/ada/.claude"}, .since_ms = 0});
    ASSERT_EQ(found.sources.size(), 1u);
    const ImportReport report = machine.import_all(found.sources).at(0);
    EXPECT_TRUE(report.problems.empty());
    const auto made = machine.give("claude." + session, "claude");
    const auto given = std::find_if(made.begin(), made.end(), [](const auto& file) {
      return file.first.ends_with("custom-title.json");
    });
    ASSERT_NE(given, made.end());
    EXPECT_EQ(given->second, machine.host.files[title]);
    EXPECT_EQ(machine.store.sessions().describe_session("claude." + session)->title, name);
  }
}

// New sessions are written without going through the door: it must take every entry
// that was.
TEST(Import, EveryEntryOfANewSessionPassesTheDoor) {
  ImportMachine machine;
  machine.host.files[kPath] = kPiHeader + pi_line("a", "", "user", "one") + "\n" + "not JSON\n" +
                              "{\"x\":\"\xff\"}\n" + R"({"type":"custom","id":"","a":1,"a":2})" +
                              "\n" + R"({"type":"custom","id":"b\u0007","timestamp":"yesterday"})" +
                              "\n" + pi_line(std::string(300, 'i'), "a", "user", "two") + "\n" +
                              pi_line("c", "a", "user", "\\ud83d") + "\n";
  machine.import("pi", kPath);
  auto entries = machine.store.sessions().load_session_entries("pi.s1");
  ASSERT_TRUE(entries.ok());
  std::vector<std::string_view> lines;
  for (const Entry& entry : *entries) {
    if (entry.type != "session_header") lines.push_back(entry.json);
  }
  EXPECT_GT(lines.size(), 8u);
  const auto copy = machine.store.sessions().create_session();
  ASSERT_TRUE(copy.ok());
  const auto stored = machine.store.sessions().append_session_lines(copy->session_id, lines);
  EXPECT_TRUE(stored.ok()) << stored.error().message();
}

TEST(Import, ALineThatIsTooLargeIsKeptWhole) {
  ImportMachine machine;
  const std::string large = pi_line("b", "a", "user", std::string(17 << 20, 'x')) + "\n";
  const std::string text = kPiHeader + pi_line("a", "", "user", "one") + "\n" + large +
                           pi_line("c", "a", "user", "two") + "\n";
  machine.host.files[kPath] = text;
  const ImportReport report = machine.import("pi", kPath);
  EXPECT_EQ(report.added, 4u);
  EXPECT_TRUE(machine.give("pi.s1", "pi").begin()->second == text);
  EXPECT_EQ(Attachments(machine.store).list()->size(), 1u);
  EXPECT_EQ(machine.said("pi.s1"), (std::vector<std::string>{"user: one", "user: two"}));
}

TEST(Import, WhatHasNotChangedIsNotReadAgain) {
  class CountingHost : public MemoryHost {
   public:
    int opened = 0;
    int looked_at = 0;  // files, not directories
    Result<std::unique_ptr<fs::HostFile>> open(const std::string& path) override {
      ++opened;
      return MemoryHost::open(path);
    }
    Result<std::string> read(const std::string& path, std::size_t bytes_max) override {
      ++opened;
      return MemoryHost::read(path, bytes_max);
    }
    Result<fs::HostStat> stat(const std::string& path) override {
      if (path.find(".jsonl") != std::string::npos) ++looked_at;
      return MemoryHost::stat(path);
    }
  };
  CountingHost host;
  host.files[kPath] = kPiHeader + pi_line("a", "", "user", "one") + "\n";
  auto store = Store::open("memory:").value();
  Importer importer(store, &host);
  const FindOptions there{.agents = {}, .paths = {"/home/ada"}, .since_ms = 0};
  const auto ignore = [](const ImportReport&) { return true; };
  auto found = importer.find(there);
  ASSERT_EQ(found->sources.size(), 1u);
  EXPECT_FALSE(found->sources[0].is_current);
  host.opened = 0;
  ASSERT_TRUE(importer.run(found->sources, {}, ignore).ok());
  EXPECT_EQ(host.opened, 1);
  host.opened = host.looked_at = 0;
  found = importer.find(there);
  EXPECT_TRUE(found->sources[0].is_current);
  EXPECT_EQ(found->sources[0].session_id, "pi.s1");
  ASSERT_TRUE(importer.run(found->sources, {}, ignore).ok());
  EXPECT_EQ(host.opened, 0);
  EXPECT_EQ(host.looked_at, 1);
}

// Only who reads it from the beginning meets the line that is another now.
TEST(Import, ASourceThatHasGrownIsReadOnFromWhereItEnded) {
  ImportMachine machine;
  std::string& text = machine.host.files[kPath];
  text = kPiHeader + pi_line("a", "", "user", "one") + "\n" +
         pi_line("b", "a", "assistant", std::string(5000, 'x')) + "\n";
  EXPECT_EQ(machine.import("pi", kPath).added, 3u);
  text.replace(text.find("one"), 3, "two");
  text += pi_line("c", "b", "user", "three") + "\n";
  EXPECT_EQ(machine.import("pi", kPath).added, 1u);
  text.replace(text.rfind("three"), 5, "other");
  text += pi_line("d", "c", "user", "four") + "\n";
  EXPECT_EQ(machine.import("pi", kPath).added, 3u);
}

// Which sessions there are is asked once, before the first source is read.
TEST(Import, ASessionThatSomebodyElseMakesMeanwhileIsGoneOnWith) {
  class RacingHost : public MemoryHost {
   public:
    std::function<void()> before_open;
    Result<std::unique_ptr<fs::HostFile>> open(const std::string& path) override {
      if (const auto race = std::exchange(before_open, nullptr)) race();
      return MemoryHost::open(path);
    }
  };
  ImportMachine other;
  RacingHost host;
  host.files[kPath] = other.host.files[kPath] = kPiHeader + pi_line("a", "", "user", "one") + "\n";
  host.before_open = [&] { EXPECT_EQ(other.import("pi", kPath).added, 2u); };
  std::vector<ImportReport> reports;
  const auto done =
      Importer(other.store, &host)
          .run({{.agent = "pi", .path = kPath, .part = {}, .files = {kPath}, .session_id = {}}}, {},
               [&](const ImportReport& report) {
                 reports.push_back(report);
                 return true;
               });
  ASSERT_TRUE(done.ok());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_FALSE(reports[0].error);
  EXPECT_EQ(reports[0].session_id, "pi.s1");
  EXPECT_EQ(reports[0].added, 0u);
  EXPECT_EQ(other.said("pi.s1"), std::vector<std::string>{"user: one"});
}

TEST(Import, ASecondFileOfTheSameSessionHasANameOfItsOwn) {
  ImportMachine machine;
  const std::string other = "/home/ada/copy/of_s1.jsonl";
  machine.host.files[kPath] = kPiHeader + pi_line("a", "", "user", "one") + "\n";
  machine.host.files[other] = kPiHeader + pi_line("a", "", "user", "two") + "\n";
  const std::string first = machine.import("pi", kPath).session_id;
  const std::string second = machine.import("pi", other).session_id;
  EXPECT_EQ(first, "pi.s1");
  EXPECT_TRUE(second.starts_with("pi.s1.")) << second;
  EXPECT_EQ(machine.import("pi", other).session_id, second);
  EXPECT_EQ(machine.said(first), std::vector<std::string>{"user: one"});
  EXPECT_EQ(machine.said(second), std::vector<std::string>{"user: two"});
}

// All new sessions of a run are made together, also those that say they are the same.
TEST(Import, CopiesThatAreNewTogetherAreAllReported) {
  ImportMachine machine;
  for (const char* name : {"/a.jsonl", "/b.jsonl", "/c.jsonl"}) {
    machine.host.files[name] = kPiHeader + pi_line("a", "", "user", name) + "\n";
  }
  std::vector<ImportSource> sources;
  for (const auto& [path, text] : machine.host.files) {
    sources.push_back({.agent = "pi", .path = path, .part = {}, .files = {path}, .session_id = {}});
  }
  const auto reports = machine.import_all(sources);
  std::set<std::string> sessions;
  for (const ImportReport& report : reports) {
    EXPECT_FALSE(report.error) << report.source;
    sessions.insert(report.session_id);
  }
  EXPECT_EQ(sessions.size(), 3u);
  EXPECT_TRUE(sessions.contains("pi.s1"));
}

TEST(Import, ADocumentIsWrittenBackAsItIsNow) {
  const std::string path = "/home/ada/.gemini/tmp/p/chats/session-x.json";
  const auto document = [](const std::string& messages) {
    return "{\n \"sessionId\": \"g1\",\n \"projectHash\": \"h\",\n \"startTime\": "
           "\"2026-03-01T09:30:00.000Z\",\n \"messages\": [" +
           messages + "]\n}\n";
  };
  const std::string one = R"({"id": "1", "type": "user", "content": "one"})";
  const std::string two = "{\n  \"id\": \"2\", \"type\": \"gemini\", \"content\": \"two\"\n }";
  const std::string changed = R"({"id": "2", "type": "gemini", "content": "better"})";
  const std::string three = R"({"id": "3", "type": "user", "content": "three"})";
  ImportMachine machine;
  for (const std::string& messages :
       {std::string(), one, one + ",\n" + two, one + ", " + changed + ",\n" + three,
        one + "," + three, one + ",\n" + two}) {
    SCOPED_TRACE(messages);
    machine.host.files[path] = document(messages);
    machine.import("gemini", path);
    EXPECT_EQ(machine.give("gemini.g1", "gemini").begin()->second, document(messages));
    EXPECT_EQ(machine.import("gemini", path).added, 0u);
  }
  EXPECT_EQ(machine.said("gemini.g1"), (std::vector<std::string>{"user: one", "assistant: two"}));
}

TEST(Import, TheHeadIsWhereTheAgentGoesOnUnlessSomebodyMovedIt) {
  ImportMachine machine;
  std::string text = kPiHeader + pi_line("a", "", "user", "one") + "\n" +
                     pi_line("b", "a", "assistant", "two") + "\n" +
                     pi_line("c", "a", "assistant", "other") + "\n";
  machine.host.files[kPath] = text;
  machine.import("pi", kPath);
  EXPECT_EQ(machine.store.sessions().session_ends("pi.s1")->head, "c");
  const NewEntry own{.type = "message", .payload = R"({"role":"user","content":"mine"})"};
  ASSERT_TRUE(machine.store.sessions().append_session_entries("pi.s1", {&own, 1}).ok());
  const std::string head = machine.store.sessions().session_ends("pi.s1")->head;
  machine.host.files[kPath] = text + pi_line("d", "b", "user", "three") + "\n";
  EXPECT_EQ(machine.import("pi", kPath).added, 1u);
  EXPECT_EQ(machine.store.sessions().session_ends("pi.s1")->head, head);
  EXPECT_EQ(machine.said("pi.s1"),
            (std::vector<std::string>{"user: one", "assistant: other", "user: mine"}));
}

TEST(Import, NativeEntriesAndForksGoOnFromAnImportedSession) {
  ImportMachine machine;
  machine.host.files[kPath] = kPiHeader + pi_line("a", "", "user", "one") + "\n" +
                              pi_line("b", "a", "assistant", "two") + "\n";
  machine.import("pi", kPath);
  auto fork = machine.store.sessions().branch_from_entry("pi.s1", "b");
  ASSERT_TRUE(fork.ok());
  const NewEntry own{.type = "message", .payload = R"({"role":"user","content":"mine"})"};
  ASSERT_TRUE(machine.store.sessions().append_session_entries(fork->session_id, {&own, 1}).ok());
  EXPECT_EQ(machine.said(fork->session_id),
            (std::vector<std::string>{"user: one", "assistant: two", "user: mine"}));
  auto context = build_context(machine.store, fork->session_id, {.provider = Provider::kAnthropic});
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(context->messages, 3u);
  EXPECT_EQ(context->notes[0].entry_id, "a");
}

TEST(Import, AListKnowsTitlePromptsAndUsage) {
  ImportMachine machine;
  const std::string answer =
      R"({"type":"message","id":"b","parentId":"a","timestamp":"2026-03-01T09:30:02.000Z","message":)"
      R"({"role":"assistant","content":[{"type":"text","text":"two"}],"provider":"anthropic","model":"m","responseId":"r1",)"
      R"("usage":{"input":10,"output":5,"cacheRead":3,"cacheWrite":1,"cost":{"total":0.25}},"timestamp":1}})";
  machine.host.files[kPath] =
      kPiHeader + pi_line("a", "", "user", "What now?") + "\n" + answer + "\n";
  machine.import("pi", kPath);
  auto summary = machine.store.sessions().describe_session("pi.s1");
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->title, "What now?");
  EXPECT_EQ(summary->created, "2026-03-01T09:30:00.000Z");
  EXPECT_EQ(summary->counts.messages, 1u);
  EXPECT_EQ(summary->counts.tokens_in, 10u);
  EXPECT_EQ(summary->source, kPath);
  EXPECT_EQ(summary->model, "m");

  // A fork copies what was used; it counts once.
  const std::string copy = "/home/ada/.pi/agent/sessions/--data--/2026_s2.jsonl";
  std::string text = machine.host.files[kPath];
  text.replace(text.find("\"s1\""), 4, "\"s2\"");
  machine.host.files[copy] = text;
  machine.import("pi", copy);
  auto usage =
      UsageStore(machine.store).aggregate({.by = UsageBy::kModel, .project = ProjectScope::all()});
  ASSERT_TRUE(usage.ok());
  ASSERT_EQ(usage->groups.size(), 1u);
  EXPECT_EQ(usage->groups[0].name, "m");
  EXPECT_EQ(usage->total.requests, 1u);
  EXPECT_EQ(usage->total.tokens_in, 10u);
  EXPECT_EQ(usage->total.cost_recorded_nano_usd, 250'000'000);
}

}  // namespace
}  // namespace quipu
