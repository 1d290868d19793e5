// Branches of a session on their way to agents that have branches too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "quipu/branch.h"
#include "quipu/usage.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

const std::string kHeader =
    R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})"
    "\n";

std::string message(const std::string& id, const std::string& parent, const std::string& members) {
  return R"({"type":"message","id":")" + id + R"(","parentId":)" +
         (parent.empty() ? "null" : "\"" + parent + "\"") +
         R"(,"timestamp":"2026-03-01T09:30:01.000Z","message":{)" + members + "}}\n";
}

std::string asked(const std::string& id, const std::string& parent) {
  return message(id, parent, R"("role":"user","content":"asks )" + id + "\"");
}

std::string answered(const std::string& id, const std::string& parent, const std::string& blocks) {
  return message(
      id, parent,
      R"("role":"assistant","content":[)" + blocks +
          R"(],"provider":"anthropic","model":"m","usage":{"input":1,"output":10,"cacheRead":0,"cacheWrite":0,"totalTokens":11,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop")");
}

std::string said(const std::string& id, const std::string& parent) {
  return answered(id, parent, R"({"type":"text","text":"says )" + id + R"("})");
}

std::string called(const std::string& id, const std::string& parent) {
  return answered(id, parent,
                  R"({"type":"toolCall","id":"call-)" + id +
                      R"(","name":"ls","arguments":{"in":")" + id + R"("}})");
}

std::string found(const std::string& id, const std::string& parent, const std::string& call) {
  return message(id, parent,
                 R"("role":"toolResult","toolCallId":"call-)" + call +
                     R"(","toolName":"ls","content":[{"type":"text","text":"found )" + id +
                     R"("}],"isError":false)");
}

class Branches : public testing::Test {
 protected:
  void import(const std::string& lines) {
    machine.host.files["/x/1_s1.jsonl"] = kHeader + lines;
    machine.import("pi", "/x/1_s1.jsonl");
  }

  // The session as a file of that agent, imported again.
  std::string carry(const std::string& to) {
    ImportMachine::Files made;
    const auto given = export_session(machine.store, "pi.s1", {.to = to, .normalise = true},
                                      [&](const std::string& path, std::string_view bytes) {
                                        made[path] += bytes;
                                        return Result<void>();
                                      });
    EXPECT_TRUE(given.ok()) << given.error().message();
    EXPECT_EQ(made.size(), 1u);
    for (const ExportLoss& loss : given->lost) EXPECT_NE(loss.what, "branch") << loss.why;
    const std::string path = "/there/" + made.begin()->first;
    machine.host.files[path] = made.begin()->second;
    return machine.import(to, path).session_id;
  }

  // What is said of branches that are not written.
  std::string branch_loss(const std::string& to) {
    const auto given =
        export_session(machine.store, "pi.s1", {.to = to, .normalise = true},
                       [](const std::string&, std::string_view) { return Result<void>(); });
    EXPECT_TRUE(given.ok()) << given.error().message();
    const auto lost = std::find_if(given->lost.begin(), given->lost.end(),
                                   [](const ExportLoss& loss) { return loss.what == "branch"; });
    return lost == given->lost.end() ? std::string() : lost->why;
  }

  // What was said on the way to each leaf.
  std::set<std::vector<std::string>> conversations(const std::string& session) {
    std::set<std::vector<std::string>> all;
    auto branch = SessionBranch::open(machine.store, session);
    EXPECT_TRUE(branch.ok());
    const auto leaves = branch->get_leaves();
    EXPECT_TRUE(leaves.ok());
    for (const std::string& leaf : *leaves) all.insert(machine.said(session, leaf));
    return all;
  }

  std::uint64_t tokens_out(const std::string& session) {
    UsageQuery query{.project = ProjectScope::all()};
    query.by = UsageBy::kSession;
    const auto sum = UsageStore(machine.store).aggregate(query);
    EXPECT_TRUE(sum.ok()) << sum.error().message();
    for (const UsageGroup& group : sum->groups) {
      if (group.name == session) return group.sum.tokens_out;
    }
    return 0;
  }

  ImportMachine machine;
};

TEST_F(Branches, AllThatLeaveTheConversationAreThereAndItsEndIsTheHead) {
  import(asked("a", "") + said("b", "a") + asked("c", "b") + called("d", "c") +
         found("e", "d", "d") + asked("f", "e") +             // leaves at b, and again at e
         said("g", "e") + asked("h", "b") + said("i", "h") +  // leaves at b
         asked("j", "b") + called("k", "j") + found("l", "k", "k") + said("m", "l"));
  const auto all = conversations("pi.s1");
  ASSERT_EQ(all.size(), 4u);
  for (const std::string to : {"pi", "jsonl", "claude"}) {
    SCOPED_TRACE(to);
    const std::string copy = carry(to);
    EXPECT_EQ(machine.said(copy), machine.said("pi.s1"));
    EXPECT_EQ(conversations(copy), all);
  }
}

// What a request took is in the file once, though two branches share the answer's beginning.
TEST_F(Branches, AnAnswerThatGoesOnInTwoWays) {
  import(asked("a", "") + said("b", "a") + said("c", "b") + asked("d", "b") + asked("e", "c"));
  const auto all = conversations("pi.s1");
  for (const std::string to : {"pi", "jsonl", "claude"}) {
    SCOPED_TRACE(to);
    const std::string copy = carry(to);
    EXPECT_EQ(conversations(copy).size(), all.size());
    EXPECT_EQ(machine.said(copy), machine.said("pi.s1"));
    EXPECT_EQ(tokens_out(copy), 20u);
  }
}

TEST_F(Branches, WhatTheRestOfASharedAnswerTookIsCounted) {
  import(asked("a", "") + said("b", "a") + said("c", "b") + asked("e", "c") + asked("d", "b"));
  for (const std::string to : {"pi", "jsonl", "claude"}) {
    SCOPED_TRACE(to);
    EXPECT_EQ(tokens_out(carry(to)), 20u);
  }
}

// Claude looks for results wherever they are.
TEST_F(Branches, NoneLeavesBetweenACallAndItsResult) {
  const std::string before = asked("a", "") + called("b", "a");
  for (const std::string& lines :
       {before + found("r2", "b", "b") + said("t", "r2") + found("r1", "b", "b") + said("s", "r1"),
        before + found("r2", "b", "b") + said("t", "r2") + asked("s", "b"),
        before + asked("t", "b") + found("r1", "b", "b") + said("s", "r1")}) {
    SCOPED_TRACE(lines);
    machine.store = Store::open("memory:").value();
    import(lines);
    for (const std::string to : {"pi", "jsonl", "claude"}) {
      EXPECT_THAT(branch_loss(to), testing::HasSubstr("on other branches")) << to;
    }
  }
}

// Calls that nobody ever answered are no obstacle.
TEST_F(Branches, ACallWithoutAResult) {
  import(asked("a", "") + called("b", "a") + asked("c", "b") + said("d", "c") + asked("e", "b"));
  const auto all = conversations("pi.s1");
  for (const std::string to : {"pi", "jsonl", "claude"}) EXPECT_EQ(conversations(carry(to)), all);
}

// There is no line for it in the file: the one before it is the last.
TEST_F(Branches, AnEndThatTheAgentHasNoPlaceFor) {
  import(asked("a", "") + said("b", "a") + asked("x", "a") + asked("c", "b"));
  NewEntry entry;
  entry.type = "message";
  entry.payload = R"({"role":"system","content":"Be brief."})";
  ASSERT_TRUE(machine.store.sessions().append_session_entries("pi.s1", {{entry}}).ok());
  EXPECT_EQ(machine.said(carry("pi")).back(), "user: asks c");
}

// Some versions of it go on where the latest was said.
TEST_F(Branches, InClaudesFilesTheEndIsTheLatest) {
  import(asked("a", "") + said("b", "a") + said("c", "b") + asked("x", "b"));
  auto branch = SessionBranch::open(machine.store, "pi.s1");
  ASSERT_TRUE(branch->switch_to("c").ok());
  const std::string copy = carry("claude");
  const auto said = read_conversation(machine.store, copy);
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said->back().timestamp, "2026-03-01T09:30:01.001Z");
  EXPECT_EQ(machine.said(copy).back(), "assistant: says c");
}

// A tree is written in time that does not grow with the square of its branches.
TEST_F(Branches, OfVeryManySomeAreReported) {
  std::string lines = asked("a", "") + said("b", "a");
  for (int i = 0; i < 400; ++i) lines += asked("n" + std::to_string(i), "a");
  import(lines + asked("z", "b"));
  EXPECT_EQ(branch_loss("claude"), "144 messages on other branches that are not written");
}

}  // namespace
}  // namespace quipu
