// Sessions that Codex itself wrote, as far as they are on this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "codex_rollout.h"
#include "support/corpora.h"

namespace quipu::dialect::codex {
namespace {

// Empty when they are not there.
std::string recorded(const std::string& name) {
  const std::string place = corpora();
  if (place.empty()) return {};
  std::ifstream file(
      place + "/recorded/codex/0.104.0/sessions/2026/11/15/rollout-2026-11-15T" + name + ".jsonl",
      std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t count(const std::vector<std::string>& texts, std::string_view beginning) {
  return static_cast<std::size_t>(
      std::count_if(texts.begin(), texts.end(),
                    [&](const std::string& text) { return text.starts_with(beginning); }));
}

// Three turns, the first with four calls in three answers.
TEST(CodexCorpus, CallsHaveTheirResults) {
  const std::string text = recorded("18-38-43-01a1e081-2a0d-7470-9777-190acf32609d");
  if (text.empty()) return;
  const auto said = conversation(text);
  EXPECT_EQ(count(said, "assistant: call "), 4u);
  EXPECT_EQ(count(said, "tool: result "), 4u);
  EXPECT_EQ(count(said, "assistant: thinks list first [bW9ja2VuYy0x]"), 1u);
  EXPECT_EQ(count(said, "user: Second prompt, plain."), 1u);
  std::size_t requests = 0;
  std::string title;
  for (const Note& note : notes(text)) {
    requests += note.usage.size();
    if (note.title) title = *note.title;
  }
  EXPECT_EQ(requests, 6u);
  EXPECT_TRUE(title.starts_with("Inspect and edit."));
}

// Rolled back, then compacted as in 2025, then gone on with: what 0.166 sends for it.
TEST(CodexCorpus, RollbackAndCompaction) {
  const std::string text = recorded("18-39-09-01a1e081-90a4-7452-be64-2b0ee4687af2");
  if (text.empty()) return;
  std::vector<std::string> said = conversation(text);
  for (std::string& one : said) one = one.substr(0, one.find_first_of(".<\n#", 7));
  EXPECT_EQ(said, (std::vector<std::string>{
                      "user: App turn one", "user: App turn two", "user: App turn after rollback",
                      "user: Another language model started to solve this problem and produced a "
                      "summary of its thinking process",
                      "user: App turn after compaction", "assistant: ok 7",
                      "user: Second app turn after compaction", "assistant: ok 9",
                      "system: ", "user: # AGENTS", "user: <environment_context>",
                      "user: Resume the app thread", "assistant: ok 13"}));
}

}  // namespace
}  // namespace quipu::dialect::codex
