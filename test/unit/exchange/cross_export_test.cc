// Real sessions of one agent as files of another, read back: the same is said, the same
// calls are made, each has its result.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "base/json_scan.h"
#include "support/corpora.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

std::string without_space(const std::string& text) {
  std::string dense;
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') dense += c;
  }
  return dense;
}

// What every format has a place for. Where an agent cuts its messages is its own affair, and
// so is whether a result stands behind its call or behind all of them.
struct Essence {
  std::vector<std::string> said;               // texts and calls, in order
  std::map<std::string, std::string> results;  // the first of each call

  void say(Role role, const std::string& text) {
    const std::string dense = without_space(text);
    if (dense.empty()) return;
    const std::string who = std::string(name(role)) + ": ";
    if (said.empty() || !said.back().starts_with(who)) said.push_back(who);
    said.back() += dense;
  }
};

Essence essence_of(const std::vector<Utterance>& conversation,
                   const std::set<std::string>& left_out = {}) {
  Essence essence;
  std::set<std::string> called;
  for (const Utterance& utterance : conversation) {
    if (utterance.message.role == Role::kSystem || left_out.contains(utterance.entry_id)) continue;
    for (const Part& part : utterance.message.parts) {
      if (part.type == PartType::kText) essence.say(utterance.message.role, part.text);
      if (part.type == PartType::kToolUse) {
        called.insert(part.tool_use_id);
        // Arguments that are no object become a member of one, where there must be one.
        essence.said.push_back(
            "call " + part.tool_use_id + " " + part.name + " " +
            (part.raw_input.empty()
                 ? without_space(part.input)
                 : without_space("{\"input\":" + json::quoted(part.raw_input) + "}")));
      }
      if (part.type == PartType::kToolResult && called.contains(part.tool_use_id)) {
        std::string text = part.is_error ? "error " : "";
        for (const Part& inner : part.content) text += without_space(inner.text);
        essence.results.emplace(part.tool_use_id, text);
      }
    }
  }
  return essence;
}

std::string line_of(const std::pair<const std::string, std::string>& result) {
  return result.first + " = " + result.second;
}
std::string line_of(const std::string& said) { return said; }

// Where they part, in few words: sessions are long.
template <class List>
std::string difference(const List& read, const List& expected) {
  constexpr std::size_t kShown = 300;
  auto ours = read.begin();
  auto theirs = expected.begin();
  for (; ours != read.end() && theirs != expected.end(); ++ours, ++theirs) {
    if (*ours != *theirs) break;
  }
  if (ours == read.end() && theirs == expected.end()) return {};
  const auto shown = [](const List& list, auto at) {
    return at == list.end() ? "(end)" : line_of(*at).substr(0, kShown);
  };
  return shown(read, ours) + "\ninstead of\n" + shown(expected, theirs);
}

std::string whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Given {
  ImportMachine machine;
  std::string id;
  std::set<std::string> left_out;  // entries that are said to be
};

// As the other agent finds it in a directory of its own.
void give(ImportMachine& from, const std::string& session, const std::string& agent, Given& into) {
  auto given = export_session(from.store, session, {.to = agent, .normalise = true},
                              [&](const std::string& path, std::string_view bytes) {
                                into.machine.host.files["/x/" + path] += bytes;
                                return Result<void>();
                              });
  ASSERT_TRUE(given.ok()) << given.error().message();
  for (const auto& loss : given->lost) {
    if (loss.what == "prompt") into.left_out.insert(loss.entry_id);
  }
  const auto found = into.machine.find({.agents = {}, .paths = {"/x"}, .since_ms = 0});
  ASSERT_EQ(found.sources.size(), 1u);
  EXPECT_EQ(found.sources[0].agent, agent);
  const ImportReport report = into.machine.import_all(found.sources).at(0);
  ASSERT_FALSE(report.error) << report.error->message();
  into.id = report.session_id;
}

TEST(CrossExport, RealSessionsSayTheSameInAnotherAgentsFiles) {
  const std::string place = corpora();
  if (place.empty()) return;
  ImportMachine system;
  auto found = Importer(system.store).find({.agents = {}, .paths = {place}, .since_ms = 0});
  ASSERT_TRUE(found.ok());
  std::map<std::string, std::array<std::size_t, 4>> sums;
  for (const ImportSource& source : found->sources) {
    if (!source.part.empty()) continue;
    ImportMachine machine;
    for (const std::string& path : source.files) machine.host.files[path] = whole(path);
    const ImportReport report = machine.import_all({source}).at(0);
    const auto original = read_conversation(machine.store, report.session_id);
    if (!original.ok() || original->empty()) continue;
    for (const std::string agent : {"craft", "gemini", "jsonl", "myagents"}) {
      SCOPED_TRACE(source.path + " to " + agent);
      Given given;
      give(machine, report.session_id, agent, given);
      if (HasFatalFailure()) return;
      const auto back = read_conversation(given.machine.store, given.id);
      const Essence expected = essence_of(*original, given.left_out);
      // A session in which nobody said anything has nothing to be read.
      const Essence read = back.ok() ? essence_of(*back) : Essence();
      EXPECT_EQ(difference(read.said, expected.said), "");
      EXPECT_EQ(difference(read.results, expected.results), "");
      auto& sum = sums[source.agent + " to " + agent];
      ++sum[0];
      sum[1] += expected.said.size();
      sum[2] += expected.results.size();
      sum[3] += given.left_out.size();
    }
  }
  for (const auto& [pair, sum] : sums) {
    std::printf("%-20s %3zu sessions %6zu texts and calls %5zu results %3zu prompts left out\n",
                pair.c_str(), sum[0], sum[1], sum[2], sum[3]);
  }
}

}  // namespace
}  // namespace quipu
