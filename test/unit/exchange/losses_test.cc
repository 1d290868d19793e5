// What a session has and the files of an export have not: it is said, and counted.
#include <gtest/gtest.h>

#include "quipu/branch.h"
#include "quipu/catalogue.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

const std::string kHeader =
    R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})"
    "\n";

std::string record(const std::string& type, const std::string& id, const std::string& parent,
                   const std::string& members) {
  return R"({"type":")" + type + R"(","id":")" + id + R"(","parentId":)" +
         (parent.empty() ? "null" : "\"" + parent + "\"") +
         R"(,"timestamp":"2026-03-01T09:30:01.000Z",)" + members + "}\n";
}

std::string asked(const std::string& id, const std::string& parent, const std::string& text) {
  return record("message", id, parent, R"("message":{"role":"user","content":")" + text + R"("})");
}

std::string answered(const std::string& id, const std::string& parent, const std::string& cost) {
  return record(
      "message", id, parent,
      R"("message":{"role":"assistant","content":[{"type":"text","text":"Yes."}],"provider":"anthropic","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":)" +
          cost + R"(}},"stopReason":"stop"})");
}

class Losses : public testing::Test {
 protected:
  void import(const std::string& lines) {
    machine.host.files["/x/1_s1.jsonl"] = kHeader + lines;
    machine.import("pi", "/x/1_s1.jsonl");
  }

  Result<ExportReport> give(const std::string& to, bool normalise = true) {
    made.clear();
    return export_session(machine.store, "pi.s1", {.to = to, .normalise = normalise},
                          [&](const std::string& path, std::string_view bytes) {
                            made[path] += bytes;
                            return Result<void>();
                          });
  }

  // "what: why" of those that are called so.
  std::string lost(const std::string& to, const std::string& what, bool normalise = true) {
    const auto report = give(to, normalise);
    if (!report.ok()) return std::string(report.error().message());
    std::string said;
    for (const ExportLoss& loss : report->lost) {
      if (loss.what == what) said += loss.entry_id + ": " + loss.why + "\n";
    }
    return said;
  }

  ImportMachine machine;
  ImportMachine::Files made;
};

TEST_F(Losses, OtherBranches) {
  import(asked("a", "", "one") + asked("b", "a", "left") + answered("c", "b", "0") +
         asked("d", "a", "right"));
  for (const std::string to : {"codepilot", "codex", "craft", "gemini", "myagents", "opencode"}) {
    SCOPED_TRACE(to);
    EXPECT_EQ(lost(to, "branch"), ": 2 messages on other branches that are not written\n");
    EXPECT_EQ(lost(to, "history"), "");
  }
  for (const std::string to : {"pi", "jsonl", "claude"}) EXPECT_EQ(lost(to, "branch"), "") << to;
  EXPECT_EQ(lost("pi", "branch", false), "") << "its own records have them all";
}

// What is hidden is in no file, whoever wrote it.
TEST_F(Losses, WhatIsRedacted) {
  import(asked("a", "", "one") + asked("b", "a", "secret") + asked("c", "b", "three"));
  NewEntry entry;
  entry.type = "redaction";
  entry.payload = R"({"targetEntryId":"b","reason":"x"})";
  ASSERT_TRUE(machine.store.sessions().append_session_entries("pi.s1", {{entry}}).ok());
  for (const auto& [to, normalise] : std::map<std::string, bool>{
           {"pi", false}, {"claude", false}, {"jsonl", true}, {"opencode", false}}) {
    SCOPED_TRACE(to);
    EXPECT_EQ(lost(to, "redacted", normalise), ": 1 entry hidden by redactions\n");
    for (const auto& [path, bytes] : made) EXPECT_EQ(bytes.find("secret"), std::string::npos);
  }
}

// An agent that goes on with the newest would go on there.
TEST_F(Losses, WhatGoesOnFromTheHeadOrFromNothing) {
  import(asked("a", "", "one") + asked("b", "a", "two") + answered("c", "b", "0") +
         asked("d", "", "from nothing") + asked("e", "b", "three"));
  auto branch = SessionBranch::open(machine.store, "pi.s1");
  ASSERT_TRUE(branch.ok());
  ASSERT_TRUE(branch->switch_to("b").ok());
  for (const std::string to : {"pi", "jsonl", "claude"}) {
    EXPECT_EQ(lost(to, "branch"), ": 3 messages on other branches that are not written\n") << to;
  }
}

TEST_F(Losses, ABranchOfOurOwnBesideTheRecordsOfTheAgent) {
  import(asked("a", "", "one") + asked("b", "a", "two"));
  auto branch = SessionBranch::open(machine.store, "pi.s1");
  ASSERT_TRUE(branch.ok());
  NewEntry entry;
  entry.type = "message";
  entry.payload = R"({"role":"user","content":"aside"})";
  ASSERT_TRUE(branch->create_branch("a", {{entry}}).ok());
  ASSERT_TRUE(branch->set_label("a", "here").ok());
  ASSERT_TRUE(branch->switch_to("b").ok());
  EXPECT_EQ(lost("pi", "branch", false), ": 1 message on other branches that are not written\n");
  EXPECT_EQ(lost("pi", "label", false), ": 1 label of entries: there is no place for names\n");
}

TEST_F(Losses, WhatACompactionCovers) {
  import(asked("a", "", "one") + answered("b", "a", "0") + asked("c", "b", "two") +
         record("compaction", "d", "c",
                R"("summary":"One was said.","firstKeptEntryId":"c","tokensBefore":9)") +
         asked("e", "d", "three"));
  EXPECT_EQ(lost("jsonl", "history"),
            ": 2 messages on the way to the head: compacted, reset, taken back, failed or "
            "repeated\n");
  EXPECT_EQ(lost("jsonl", "branch"), "");
}

TEST_F(Losses, OfAResetHere) {
  import(asked("a", "", "one"));
  for (const std::string type : {"context_reset", "message"}) {
    NewEntry entry;
    entry.type = type;
    entry.payload = type == "message" ? R"({"role":"user","content":"two"})" : "{}";
    ASSERT_TRUE(machine.store.sessions().append_session_entries("pi.s1", {{entry}}).ok());
  }
  EXPECT_NE(lost("claude", "history").find("1 message"), std::string::npos);
}

TEST_F(Losses, Labels) {
  const auto label = [](const std::string& id, const std::string& parent, const std::string& on,
                        const std::string& name) {
    return record(
        "label", id, parent,
        R"("targetId":")" + on + R"(")" + (name.empty() ? "" : R"(,"label":")" + name + R"(")"));
  };
  import(asked("a", "", "one") + label("l1", "a", "a", "first") + asked("b", "l1", "two") +
         label("l2", "b", "b", "gone") + label("l3", "l2", "b", "") +
         label("l4", "l3", "a", "renamed"));
  EXPECT_EQ(lost("jsonl", "label"), ": 1 label of entries: there is no place for names\n");
}

// In the files, or in the report.
TEST_F(Losses, WhatIsCostIsWrittenOrSaidToBeLost) {
  import(asked("a", "", "one") + answered("b", "a", "0.25") + asked("c", "b", "two") +
         answered("d", "c", "0.125"));
  for (const std::string agent :
       {"claude", "codepilot", "codex", "craft", "gemini", "jsonl", "myagents", "opencode", "pi"}) {
    SCOPED_TRACE(agent);
    const std::string said = lost(agent, "cost");
    bool is_written = false;
    for (const auto& [path, bytes] : made) {
      is_written |= bytes.find("0.25") != std::string::npos ||  // each, or their sum
                    bytes.find("0.375") != std::string::npos;
    }
    EXPECT_EQ(said, is_written ? "" : ": 0.375 of 0.375 USD that were recorded are not written\n");
  }
}

TEST_F(Losses, TheCostOfWhatIsNotWritten) {
  import(asked("a", "", "one") + answered("b", "a", "0.25") + answered("c", "a", "0.5"));
  EXPECT_EQ(lost("opencode", "cost"), ": 0.25 of 0.75 USD that were recorded are not written\n");
  EXPECT_EQ(lost("pi", "cost"), "") << "it is in the other branch";
}

TEST_F(Losses, CharactersThatNoStrictReaderTakes) {
  import(asked("a", "", R"(half \ud83d, and \udc00 \ufffd)") + asked("b", "a", R"(\ud83d\ude00)") +
         asked("c", "b", "no UTF-8: \xff"));
  EXPECT_EQ(lost("jsonl", "characters"),
            "c: 1 character became U+FFFD: half a surrogate pair, or no UTF-8\n"
            "a: 2 characters became U+FFFD: half a surrogate pair, or no UTF-8\n");
  EXPECT_EQ(lost("pi", "characters", false), "");
}

TEST_F(Losses, NothingIsReportedWhereNothingIsLost) {
  import(asked("a", "", "one") + answered("b", "a", "0.25"));
  for (const std::string to : {"pi", "jsonl"}) {
    const auto report = give(to);
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->lost.empty()) << to << ": " << report->lost[0].why;
  }
}

TEST_F(Losses, ASessionInWhichNothingWasSaidIsNoFile) {
  import(record("model_change", "a", "", R"("provider":"anthropic","modelId":"m")"));
  for (const std::string to : {"claude", "codex", "gemini", "jsonl", "myagents", "pi"}) {
    SCOPED_TRACE(to);
    const auto report = give(to);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code(), Code::kInvalidArgument);
    EXPECT_TRUE(made.empty());
  }
  ASSERT_TRUE(give("pi", false).ok()) << "as it was";
  EXPECT_EQ(made.begin()->second, machine.host.files["/x/1_s1.jsonl"]);
}

}  // namespace
}  // namespace quipu
