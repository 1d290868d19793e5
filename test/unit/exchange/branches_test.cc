// Branches of a session on their way to agents that have branches too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "pi_lines.h"
#include "quipu/branch.h"
#include "quipu/usage.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

std::string answered(const std::string& id, const std::string& parent, const std::string& blocks) {
  return pi_message(
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
  return pi_message(id, parent,
                    R"("role":"toolResult","toolCallId":"call-)" + call +
                        R"(","toolName":"ls","content":[{"type":"text","text":"found )" + id +
                        R"("}],"isError":false)");
}

class Branches : public testing::Test {
 protected:
  void import(const std::string& lines) {
    machine.host.files["/x/1_s1.jsonl"] = kPiHeader + lines;
    machine.import("pi", "/x/1_s1.jsonl");
  }

  // The session as a file of that agent, imported again.
  std::string carry(const std::string& to) {
    ImportMachine::Files made;
    const auto given = export_session(machine.store, session_, {.to = to, .normalise = true},
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
  std::string session_ = "pi.s1";
};

TEST_F(Branches, AllThatLeaveTheConversationAreThereAndItsEndIsTheHead) {
  import(pi_asked("a", "") + said("b", "a") + pi_asked("c", "b") + called("d", "c") +
         found("e", "d", "d") + pi_asked("f", "e") +             // leaves at b, and again at e
         said("g", "e") + pi_asked("h", "b") + said("i", "h") +  // leaves at b
         pi_asked("j", "b") + called("k", "j") + found("l", "k", "k") + said("m", "l"));
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
  import(pi_asked("a", "") + said("b", "a") + said("c", "b") + pi_asked("d", "b") +
         pi_asked("e", "c"));
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
  import(pi_asked("a", "") + said("b", "a") + said("c", "b") + pi_asked("e", "c") +
         pi_asked("d", "b"));
  for (const std::string to : {"pi", "jsonl", "claude"}) {
    SCOPED_TRACE(to);
    EXPECT_EQ(tokens_out(carry(to)), 20u);
  }
}

// Claude looks for results wherever they are.
TEST_F(Branches, NoneLeavesBetweenACallAndItsResult) {
  const std::string before = pi_asked("a", "") + called("b", "a");
  for (const std::string& lines :
       {before + found("r2", "b", "b") + said("t", "r2") + found("r1", "b", "b") + said("s", "r1"),
        before + found("r2", "b", "b") + said("t", "r2") + pi_asked("s", "b"),
        before + pi_asked("t", "b") + found("r1", "b", "b") + said("s", "r1")}) {
    SCOPED_TRACE(lines);
    machine.store = Store::open("memory:").value();
    import(lines);
    for (const std::string to : {"pi", "jsonl", "claude"}) {
      EXPECT_THAT(branch_loss(to), testing::HasSubstr("on other branches")) << to;
    }
  }
}

// A counter that begins anew in each branch: which result is whose cannot be told by it.
TEST_F(Branches, NoneRepeatsTheIdOfACall) {
  const std::string before = pi_asked("a", "") + said("b", "a");
  const auto call = [](const std::string& id, const std::string& parent) {
    return answered(id, parent,
                    R"({"type":"text","text":"in )" + id +
                        R"("},{"type":"toolCall","id":"ls:0","name":"ls","arguments":{}})");
  };
  const auto result = [](const std::string& id, const std::string& parent) {
    std::string line = found(id, parent, "x");
    return line.replace(line.find("call-x"), 6, "ls:0");
  };
  import(before + pi_asked("x", "b") + call("c2", "x") + result("r2", "c2") + said("t", "r2") +
         pi_asked("y", "b") + call("c1", "y") + result("r1", "c1") + said("s", "r1"));
  for (const std::string to : {"pi", "jsonl", "claude"}) {
    EXPECT_EQ(branch_loss(to), "4 messages on other branches that are not written") << to;
  }
}

// The same, but for its words, is not said by the conversation.
TEST_F(Branches, ACallThatSaysSomethingElseIsALoss) {
  import(pi_asked("a", "") + called("b", "a") + found("r", "b", "b") +
         answered("c", "a",
                  R"({"type":"toolCall","id":"call-b","name":"ls","arguments":{"in":"c"}})") +
         found("s", "c", "b") + said("d", "s"));
  EXPECT_EQ(branch_loss("claude"), "2 messages on other branches that are not written");
}

// Some agents have no place for what was said last.
TEST_F(Branches, TheEndIsWhatEveryAgentHasAPlaceFor) {
  for (const std::string block :
       {R"({"type":"thinking","thinking":"hm"})", R"({"type":"text","text":" "})"}) {
    SCOPED_TRACE(block);
    machine.store = Store::open("memory:").value();
    import(pi_asked("a", "") + said("b", "a") + pi_asked("x", "b") + pi_asked("c", "b") +
           answered("d", "c", block));
    for (const std::string to : {"pi", "jsonl", "claude"}) {
      const std::vector<std::string> all = machine.said(carry(to));
      EXPECT_THAT(all, testing::Contains("user: asks c")) << to;
      EXPECT_THAT(all, testing::Not(testing::Contains("user: asks x"))) << to;
    }
  }
}

// A request is counted once though records of two branches name it.
TEST_F(Branches, WhatARequestTookIsInTheFileOnce) {
  const auto entry = [](const std::string& id, const std::string& parent, const std::string& role,
                        const std::string& more) {
    return R"({"id":")" + id + R"(","parentId":)" +
           (parent.empty() ? "null" : "\"" + parent + "\"") +
           R"(,"type":"message","timestamp":"2026-03-01T09:30:01.000Z","payload":{"role":")" +
           role + R"(","content":"says )" + id + "\"" + more + "}}\n";
  };
  const auto took = [](const std::string& request, int tokens) {
    return R"(,"requestId":")" + request + R"(","usage":{"tokensIn":1,"tokensOut":)" +
           std::to_string(tokens) + "}";
  };
  const std::string begin =
      entry("a", "", "user", "") + entry("b", "a", "assistant", took("r", 30));
  for (const auto& [lines, tokens] : std::vector<std::pair<std::string, std::uint64_t>>{
           {begin + entry("x", "a", "assistant", took("r", 30)) + entry("y", "x", "user", "") +
                entry("c", "b", "user", ""),
            30},
           {begin + entry("x", "b", "assistant", took("s", 40)) + entry("y", "x", "user", "") +
                entry("c", "b", "user", ""),
            70}}) {
    for (const std::string to : {"pi", "jsonl", "claude"}) {
      SCOPED_TRACE(to + "\n" + lines);
      machine.store = Store::open("memory:").value();
      machine.host.files["/x/s1.jsonl"] =
          lines +
          R"({"type":"head","id":"h","timestamp":"2026-03-01T09:30:01.000Z","payload":{"entryId":"c"}})" +
          "\n";
      session_ = machine.import("jsonl", "/x/s1.jsonl").session_id;
      EXPECT_EQ(tokens_out(session_), tokens);
      EXPECT_EQ(tokens_out(carry(to)), tokens);
    }
  }
}

// A root that shares nothing is looked past, however many there are.
TEST_F(Branches, ManyThatShareNothingHideNone) {
  std::string lines = pi_asked("a", "") + said("b", "a") + pi_asked("x", "b") + pi_asked("c", "b");
  for (int i = 0; i < 300; ++i) lines += pi_asked("n" + std::to_string(i), "");
  import(lines);
  auto branch = SessionBranch::open(machine.store, "pi.s1");
  ASSERT_TRUE(branch->switch_to("c").ok());
  EXPECT_EQ(branch_loss("claude"), "300 messages on other branches that are not written");
}

// Calls that nobody ever answered are no obstacle.
TEST_F(Branches, ACallWithoutAResult) {
  import(pi_asked("a", "") + called("b", "a") + pi_asked("c", "b") + said("d", "c") +
         pi_asked("e", "b"));
  const auto all = conversations("pi.s1");
  for (const std::string to : {"pi", "jsonl", "claude"}) EXPECT_EQ(conversations(carry(to)), all);
}

// There is no line for it in the file: the one before it is the last.
TEST_F(Branches, AnEndThatTheAgentHasNoPlaceFor) {
  import(pi_asked("a", "") + said("b", "a") + pi_asked("x", "a") + pi_asked("c", "b"));
  NewEntry entry;
  entry.type = "message";
  entry.payload = R"({"role":"system","content":"Be brief."})";
  ASSERT_TRUE(machine.store.sessions().append_session_entries("pi.s1", {{entry}}).ok());
  EXPECT_EQ(machine.said(carry("pi")).back(), "user: asks c");
}

// Some versions of it go on where the latest was said.
TEST_F(Branches, InClaudesFilesTheEndIsTheLatest) {
  import(pi_asked("a", "") + said("b", "a") + said("c", "b") + pi_asked("x", "b"));
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
  std::string lines = pi_asked("a", "") + said("b", "a");
  for (int i = 0; i < 400; ++i) lines += pi_asked("n" + std::to_string(i), "a");
  import(lines + pi_asked("z", "b"));
  EXPECT_EQ(branch_loss("claude"), "144 messages on other branches that are not written");
}

}  // namespace
}  // namespace quipu
