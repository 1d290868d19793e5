// Claude: which files are its own, what their lines are, what they say.
#include <gmock/gmock.h>

#include "claude_lines.h"
#include "claude_session.h"
#include "support/corpora.h"

namespace quipu::dialect::claude {
namespace {

using ::testing::ElementsAre;
using Leads = Record::Leads;

const std::string kDirectory = "/h/.claude/projects/-p/";
const std::string kMain = kDirectory + kSession + ".jsonl";

TEST(ClaudePlaces, AreTheUsersOrTheVariables) {
  MemoryHost host;
  std::string own;
  const Machine machine{.files = host, .home = "/h", .variable = [&](const std::string& name) {
                          return name == "CLAUDE_CONFIG_DIR" ? own : std::string();
                        }};
  EXPECT_THAT(Claude().places(machine),
              ElementsAre("/h/.claude/projects", "/h/.config/claude/projects"));
  own = "/c";
  EXPECT_THAT(Claude().places(machine), ElementsAre("/c/projects"));
}

TEST(ClaudeRecognises, LinesOfItsOwnAndNothingElse) {
  const Claude claude;
  EXPECT_TRUE(claude.recognises("/a/x.jsonl", user("u", "")));
  EXPECT_TRUE(claude.recognises("/a/x.jsonl", user("u", "").substr(0, 60)));  // a long line, cut
  EXPECT_TRUE(
      claude.recognises("/a/x.jsonl", R"({"type":"summary","summary":"s","leafUuid":"l"})"));
  EXPECT_TRUE(claude.recognises(
      "/a/x.jsonl", "garbage\n{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"s\"}\n"));
  EXPECT_TRUE(claude.recognises("/a/x.jsonl", "\xef\xbb\xbf" + user("u", "")));
  EXPECT_FALSE(claude.recognises("/a/x.json", user("u", "")));
  EXPECT_FALSE(claude.recognises(kDirectory + "s/tool-results/x.jsonl", user("u", "")));
  EXPECT_FALSE(claude.recognises(kDirectory + "s/subagents/w/journal.jsonl", user("u", "")));
  EXPECT_FALSE(claude.recognises("/a/x.jsonl", R"({"type":"session","id":"s","cwd":"/"})"));
  EXPECT_FALSE(
      claude.recognises("/a/x.jsonl", R"({"timestamp":"t","type":"event_msg","payload":{}})"));
  EXPECT_FALSE(
      claude.recognises("/a/x.jsonl", R"({"display":"hi","project":"/p","sessionId":"s"})"));
  EXPECT_FALSE(claude.recognises("/a/x.jsonl", ""));
}

TEST(ClaudeSources, TakeTheSideDirectoryButNotTheSubagents) {
  MemoryHost host;
  const std::string side = kDirectory + kSession;
  host.files[kMain] = user("u", "");
  host.files[side + "/archived.json"] = "{}";
  host.files[side + "/tool-results/t.txt"] = "out";
  host.files[side + "/remote-agents/remote-agent-r.meta.json"] = "{}";
  const std::string agent = side + "/subagents/workflows/run/agent-a1";
  host.files[agent + ".jsonl"] = aside(user("u", ""));
  host.files[agent + ".meta.json"] = "{}";
  const auto main = Claude().sources(kMain, host);
  ASSERT_TRUE(main.ok());
  EXPECT_THAT(main->front().files, ElementsAre(kMain, side + "/archived.json",
                                               side + "/remote-agents/remote-agent-r.meta.json",
                                               side + "/tool-results/t.txt"));
  const auto sub = Claude().sources(agent + ".jsonl", host);
  ASSERT_TRUE(sub.ok());
  EXPECT_THAT(sub->front().files, ElementsAre(agent + ".jsonl", agent + ".meta.json"));
}

std::string session_of(const std::string& path, const std::string& lines) {
  return ClaudeSession::of(lines, path).outline.session;
}

TEST(ClaudeOutline, TheFilesNameIsTheSession) {
  const std::string other = "99999999-2222-4333-8444-555555555555";
  EXPECT_EQ(session_of(kDirectory + other + ".jsonl", user("u", "")), other);
  EXPECT_EQ(session_of("/x/full.jsonl", user("u", "")), kSession);
  EXPECT_EQ(session_of("/x/full.jsonl", R"({"type":"summary","summary":"s","leafUuid":"l"})"),
            "full");
  const ClaudeSession session = ClaudeSession::of(user("u", "", R"(,"cwd":"/w")"));
  EXPECT_EQ(session.outline.cwd, "/w");
  EXPECT_EQ(session.outline.created, "2026-01-01T00:00:00.000Z");
}

TEST(ClaudeOutline, ASubagentsFileIsASessionOfItsOwn) {
  const std::string lines = aside(user("u", "", R"(,"agentId":"a1")"));
  const std::string owner = "99999999-2222-4333-8444-555555555555";
  EXPECT_EQ(session_of(kDirectory + "agent-a1.jsonl", lines), std::string(kSession) + ".a1");
  EXPECT_EQ(session_of(kDirectory + owner + "/subagents/w/r/agent-b2.jsonl", lines), owner + ".b2");
  EXPECT_EQ(session_of("/x/copied.jsonl", lines), std::string(kSession) + ".a1");
}

TEST(ClaudeDescribe, LinesWithAUuidAreNodes) {
  const ClaudeSession session = ClaudeSession::of(
      user("u1", "") + answer("a1", "u1") +
      R"({"type":"custom-title","customTitle":"T","uuid":"t","sessionId":")" + kSession + "\"}\n" +
      R"({"type":"ai-title","aiTitle":"T","sessionId":"another"})" + "\n" +
      R"({"type":"file-history-snapshot","messageId":"u1"})" + "\n" +
      node("brand-new", "n", "a1", "") + R"({"type":"what? ever"})" + "\nnot json\n");
  std::vector<std::string> kinds;
  for (const Record& record : session.described) {
    kinds.push_back(record.kind + (record.is_fact ? "*" : ""));
  }
  EXPECT_THAT(kinds, ElementsAre("user", "assistant", "custom-title*", "elsewhere*",
                                 "file-history-snapshot*", "brand-new", "raw*", "raw*"));
  EXPECT_EQ(session.described[0].link, Record::Link::kRoot);
  EXPECT_EQ(session.described[1].parent, "u1");
  EXPECT_EQ(session.head, 1u);
}

TEST(ClaudeDescribe, TheTreeGoesOnBehindABoundary) {
  const ClaudeSession session = ClaudeSession::of(user("u1", "") + boundary("b", "u1"));
  EXPECT_EQ(session.records[1].parent, 0u);
}

TEST(ClaudeDescribe, WhoLeads) {
  const std::string lines =
      user("u1", "") + node("system", "s", "u1", "") + node("progress", "p", "u1", "") +
      aside(user("side", "")) + user("team", "u1", R"(,"teamName":"t")") +
      node("attachment", "f", "u1", R"(,"attachment":{"type":"fork_briefing"})") +
      node("attachment", "q", "u1", R"(,"attachment":{"type":"queued_command","prompt":"p"})") +
      user("child", "late") + answer("late", "u1");
  std::vector<Leads> leads;
  for (const Record& record : ClaudeSession::of(lines).described) leads.push_back(record.leads);
  EXPECT_THAT(leads, ElementsAre(Leads::kHere, Leads::kAbove, Leads::kNot, Leads::kNot, Leads::kNot,
                                 Leads::kNot, Leads::kHere, Leads::kHere, Leads::kNot));
  const ClaudeSession agent = ClaudeSession::of(
      aside(user("u", "", R"(,"agentId":"a1")")) + aside(answer("a", "u")), "/x/agent-a1.jsonl");
  EXPECT_EQ(agent.head, 1u);
}

TEST(ClaudeDescribe, ALineThatComesAfterItsChildrenIsNobodysEndInALongFile) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) {
    lines += user("child" + std::to_string(i), "late" + std::to_string(i));
  }
  for (int i = 0; i < 1000; ++i) lines += user("late" + std::to_string(i), "");
  lines += user("end", "");
  const ClaudeSession session = ClaudeSession::of(lines);
  for (std::size_t i = 0; i < 2000; ++i) {
    EXPECT_EQ(session.described[i].leads, i < 1000 ? Leads::kHere : Leads::kNot) << i;
  }
  EXPECT_EQ(session.described[2000].leads, Leads::kHere);
}

// ---- notes

Note note_of(const std::string& kind, const std::string& payload) {
  Note note;
  Claude().note(kind, payload, note);
  return note;
}

TEST(ClaudeNote, TitlesThatWereGivenAndOthers) {
  const Note given = note_of("custom-title", R"({"customTitle":"Mine"})");
  EXPECT_EQ(given.title, "Mine");
  EXPECT_TRUE(given.title_is_given);
  EXPECT_TRUE(note_of("title-file", R"({"customTitle":"Mine"})").title_is_given);
  const Note made = note_of("ai-title", R"({"aiTitle":"Made up"})");
  EXPECT_EQ(made.title, "Made up");
  EXPECT_FALSE(made.title_is_given);
  const Note summary = note_of("summary", R"({"summary":"S","leafUuid":"l"})");
  EXPECT_EQ(summary.title, "S");
  EXPECT_EQ(summary.title_at, "l");
  EXPECT_FALSE(note_of("last-prompt", R"({"lastPrompt":"p"})").title);
  EXPECT_FALSE(note_of("elsewhere", R"({"customTitle":"of another"})").title);
}

TEST(ClaudeNote, UsageHasTheKeyOfItsRequest) {
  const std::string answer =
      R"({"message":{"id":"m","model":"claude-x","usage":{"input_tokens":3,"output_tokens":5,)"
      R"("cache_read_input_tokens":7,"cache_creation_input_tokens":11}},"requestId":"r"})";
  const Note note = note_of("assistant", answer);
  ASSERT_EQ(note.usage.size(), 1u);
  EXPECT_EQ(note.usage[0].key, "m:r");
  EXPECT_EQ(note.usage[0].usage.tokens_in, 3u);
  EXPECT_EQ(note.usage[0].usage.tokens_out, 5u);
  EXPECT_EQ(note.usage[0].usage.cache_read, 7u);
  EXPECT_EQ(note.usage[0].usage.cache_write, 11u);
  EXPECT_EQ(note.model, "claude-x");
  EXPECT_EQ(note.provider, "anthropic");
  const Note paid = note_of("assistant", R"({"message":{"id":"m","model":"c"},"costUSD":0.5})");
  ASSERT_EQ(paid.usage.size(), 1u);
  EXPECT_EQ(paid.usage[0].usage.cost_usd, 0.5);
}

TEST(ClaudeNote, WhatNoModelSaidUsedNothing) {
  for (const std::string more : {R"("model":"<synthetic>"},"requestId":"r"})",
                                 R"("model":"claude-x"},"isApiErrorMessage":true})"}) {
    const Note note =
        note_of("assistant", R"({"message":{"id":"m","usage":{"input_tokens":3},)" + more);
    EXPECT_TRUE(note.usage.empty());
    EXPECT_FALSE(note.model);
  }
}

TEST(ClaudeNote, OfASideChainOnlyItsUsage) {
  const Note inside =
      note_of("assistant",
              R"({"isSidechain":true,"cwd":"/w","sessionId":"s","message":{"id":"m","model":"c",)"
              R"("usage":{"output_tokens":1}}})");
  EXPECT_EQ(inside.usage.size(), 1u);
  EXPECT_FALSE(inside.model);
  EXPECT_FALSE(inside.cwd);
  EXPECT_TRUE(inside.kin.empty());
}

TEST(ClaudeNote, Lineage) {
  const Note forked =
      note_of("user", R"({"forkedFrom":{"sessionId":"p","messageUuid":"m"},"cwd":"/w"})");
  ASSERT_EQ(forked.kin.size(), 1u);
  EXPECT_EQ(forked.kin[0].relation, Relation::kForkedFrom);
  EXPECT_EQ(forked.kin[0].session, "p");
  EXPECT_EQ(forked.kin[0].entry, "m");
  EXPECT_EQ(forked.cwd, "/w");
  const Note spawned = note_of("user", R"({"isSidechain":true,"agentId":"a","sessionId":"p"})");
  ASSERT_EQ(spawned.kin.size(), 1u);
  EXPECT_EQ(spawned.kin[0].relation, Relation::kSpawnedBy);
  EXPECT_EQ(spawned.kin[0].session, "p");
  const Note sidecar = note_of("agent-file", R"({"agentType":"x","toolUseId":"toolu_1"})");
  ASSERT_EQ(sidecar.kin.size(), 1u);
  EXPECT_EQ(sidecar.kin[0].entry, "toolu_1");
  const Note moved = note_of("continued-in", R"({"continuedInSessionId":"n"})");
  ASSERT_EQ(moved.kin.size(), 1u);
  EXPECT_EQ(moved.kin[0].relation, Relation::kContinuedIn);
  EXPECT_EQ(moved.kin[0].session, "n");
}

TEST(ClaudeNote, TagArchiveAndRelocation) {
  EXPECT_THAT(*note_of("tag", R"({"tag":"x"})").tags, ElementsAre("x"));
  EXPECT_THAT(*note_of("tag", R"({"tag":""})").tags, ElementsAre());
  EXPECT_EQ(note_of("archive-file", R"({"archived":true,"at":1})").archived, true);
  EXPECT_FALSE(note_of("file", R"({"archived":true})").archived);
  EXPECT_EQ(note_of("relocated", R"({"relocatedCwd":"/n"})").cwd, "/n");
}

TEST(ClaudeNote, SideFilesAreNotedByTheirNames) {
  MemoryHost host;
  host.files[kMain] = user("u", "");
  host.files[kDirectory + kSession + "/archived.json"] = R"({"archived":true})";
  host.files[kDirectory + kSession + "/custom-title.json"] = R"({"customTitle":"T"})";
  host.files[kDirectory + kSession + "/tool-results/x.json"] = R"({"customTitle":"no"})";
  const ClaudeSession session = ClaudeSession::read(host, kMain);
  Note note;
  for (const StoredRecord& record : session.records)
    Claude().note(record.kind, record.payload, note);
  EXPECT_EQ(note.archived, true);
  EXPECT_EQ(note.title, "T");
  EXPECT_EQ(session.records.size(), 4u);
}

// ---- recorded sessions

TEST(ClaudeRecorded, KnownFacts) {
  const std::string place = corpora();
  if (place.empty()) return;
  const std::string directory =
      place + "/recorded/claude/2.1.197/projects/-home-dev-projects-ag-claude-2-1-197-proj/";
  const auto read = [&](const std::string& name) {
    return ClaudeSession::read(fs::HostFiles::system(), directory + name + ".jsonl");
  };
  // Compacted by hand, with one message kept; two prompts and answers since.
  const ClaudeSession compacted = read("ce347622-a007-46f0-9869-35fdbfbaedaf");
  const auto picks = compacted.picked();
  ASSERT_GE(picks.size(), 2u);
  EXPECT_EQ(picks[0], "0e66f2da-3727-4600-a0e4-654234f0a305");  // the summary
  EXPECT_EQ(picks[1], "c3439a86-1425-4534-874d-fd127663d0b7");  // what was kept
  // A request that failed is not sent again.
  const ClaudeSession failed = read("ef95c379-d472-4a8f-8515-050f5f5813d9");
  EXPECT_LT(failed.picked().size(), failed.chain().size());
  // A sub-agent, with what its sidecar says.
  const ClaudeSession agent =
      read("8830a27b-1948-4051-8f05-8b0f8cfc9977/subagents/agent-af943201248de57c5");
  EXPECT_EQ(agent.outline.session, "8830a27b-1948-4051-8f05-8b0f8cfc9977.af943201248de57c5");
  Note note;
  for (const StoredRecord& record : agent.records) Claude().note(record.kind, record.payload, note);
  ASSERT_FALSE(note.kin.empty());
  EXPECT_EQ(note.kin.front().session, "8830a27b-1948-4051-8f05-8b0f8cfc9977");
  EXPECT_TRUE(note.kin.back().entry.starts_with("toolu_"));
  // A large output lies beside.
  EXPECT_EQ(read("4269a089-cd62-4ab3-b1b2-bd79a1df9498").records.back().kind, "file");
}

}  // namespace
}  // namespace quipu::dialect::claude
