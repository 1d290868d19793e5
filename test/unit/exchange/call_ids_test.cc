// Calls whose ids begin anew: each keeps its result in every agent's files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pi_lines.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

std::string answered(const std::string& id, const std::string& parent, const std::string& blocks) {
  return pi_message(
      id, parent,
      R"("role":"assistant","content":[{"type":"text","text":"says )" + id + R"("})" + blocks +
          R"(],"provider":"anthropic","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop")");
}
std::string call(const std::string& call_id, const std::string& where) {
  return R"(,{"type":"toolCall","id":")" + call_id + R"(","name":"ls","arguments":{"in":")" +
         where + R"("}})";
}
std::string found(const std::string& id, const std::string& parent, const std::string& call_id) {
  return pi_message(id, parent,
                    R"("role":"toolResult","toolCallId":")" + call_id +
                        R"(","toolName":"ls","content":[{"type":"text","text":"found )" + id +
                        R"("}],"isError":false)");
}

// Calls and results as pairs, and all else that is said.
std::vector<std::string> pairs_of(ImportMachine& machine, const std::string& session) {
  std::vector<std::string> lines;
  std::map<std::string, std::string> calls;
  const auto said = read_conversation(machine.store, session);
  EXPECT_TRUE(said.ok());
  for (const Utterance& utterance : *said) {
    for (const Part& part : utterance.message.parts) {
      if (part.type == PartType::kText) lines.push_back(part.text);
      if (part.type == PartType::kToolUse) {
        EXPECT_TRUE(calls.emplace(part.tool_use_id, part.input).second) << part.tool_use_id;
      }
      if (part.type == PartType::kToolResult) {
        lines.push_back(calls[part.tool_use_id] + " = " + part.content.at(0).text);
      }
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

void expect_pairs(const std::string& lines, const std::vector<std::string>& expected) {
  ImportMachine machine;
  machine.host.files["/x/1_s1.jsonl"] = kPiHeader + lines;
  machine.import("pi", "/x/1_s1.jsonl");
  for (const std::string to : {"claude", "codex", "craft", "gemini", "jsonl", "opencode", "pi"}) {
    SCOPED_TRACE(to);
    ImportMachine other;
    const auto given = export_session(machine.store, "pi.s1", {.to = to, .normalise = true},
                                      [&](const std::string& path, std::string_view bytes) {
                                        other.host.files["/there/" + path] += bytes;
                                        return Result<void>();
                                      });
    ASSERT_TRUE(given.ok()) << given.error().message();
    const auto sources = other.find({.agents = {to}, .paths = {"/there"}}).sources;
    ASSERT_EQ(sources.size(), 1u);
    EXPECT_EQ(pairs_of(other, other.import_all(sources).at(0).session_id), expected);
  }
}

TEST(CallIds, ThatBeginAnewWithEachAnswer) {
  expect_pairs(pi_asked("a", "") + answered("b", "a", call("call_0", "b")) +
                   found("c", "b", "call_0") + answered("d", "c", call("call_0", "d")) +
                   found("e", "d", "call_0") + answered("f", "e", call("call_0_2", "f")) +
                   found("g", "f", "call_0_2") + answered("h", "g", ""),
               {"asks a", "says b", "says d", "says f", "says h", R"({"in":"b"} = found c)",
                R"({"in":"d"} = found e)", R"({"in":"f"} = found g)"});
}

TEST(CallIds, OfSeveralCallsAtOnce) {
  expect_pairs(
      pi_asked("a", "") + answered("b", "a", call("call_0", "one") + call("call_0", "two")) +
          found("c", "b", "call_0") + found("d", "c", "call_0") + answered("e", "d", ""),
      {"asks a", "says b", "says e", R"({"in":"one"} = found c)", R"({"in":"two"} = found d)"});
}

// Some agents write a result more than once.
TEST(CallIds, AResultThatIsWrittenTwice) {
  expect_pairs(pi_asked("a", "") + answered("b", "a", call("call_0", "b")) +
                   found("c", "b", "call_0") + found("d", "c", "call_0") + answered("e", "d", ""),
               {"asks a", "says b", "says e", R"({"in":"b"} = found c)"});
}

}  // namespace
}  // namespace quipu
