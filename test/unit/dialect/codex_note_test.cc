// Title, usage, model, directory and kin of a rollout.
#include <gtest/gtest.h>

#include <map>

#include "codex_rollout.h"

namespace quipu::dialect::codex {
namespace {

std::string usage(int in, int cached, int out) {
  return R"({"input_tokens":)" + std::to_string(in) + R"(,"cached_input_tokens":)" +
         std::to_string(cached) + R"(,"output_tokens":)" + std::to_string(out) +
         R"(,"reasoning_output_tokens":1,"total_tokens":)" + std::to_string(in + out) + "}";
}

std::string count(int total_in, int total_out, const std::string& last) {
  return event("token_count", R"(,"info":{"total_token_usage":)" + usage(total_in, 0, total_out) +
                                  R"(,"last_token_usage":)" + last + "}");
}

std::string last_title(const std::string& text) {
  std::string title;
  for (const Note& note : notes(text)) {
    if (note.title) title = *note.title;
  }
  return title;
}

std::map<std::string, UsageNote> usages(const std::string& text) {
  std::map<std::string, UsageNote> by_key;
  for (const Note& note : notes(text)) {
    for (const UsageNote& usage : note.usage) by_key[usage.key] = usage;
  }
  return by_key;
}

TEST(CodexNote, TheFirstThingSomebodySaidIsTheTitle) {
  EXPECT_EQ(last_title(meta("t") + user("<environment_context>x</environment_context>") +
                       user("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>x</INSTRUCTIONS>") +
                       turn("1", "\n  First thing\nmore", "A") + turn("2", "Second", "B")),
            "First thing");
  EXPECT_EQ(last_title(meta("t") + event("user_message", R"(,"message":"only an event")")),
            "only an event");
  EXPECT_EQ(last_title(meta("t") + turn("1", "a", "A") +
                       event("thread_name_updated", R"(,"thread_name":"Given")")),
            "Given");
}

TEST(CodexNote, ALongTitleIsCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "€";
  EXPECT_EQ(last_title(meta("t") + turn("1", text, "A")).size(), 198u);
}

TEST(CodexNote, ModelAndDirectoryAreTheLastTurns) {
  const std::vector<Note> all =
      notes(meta("t") + turn("1", "a", "A") +
            line("turn_context", R"({"turn_id":"2","cwd":"/v","model":"gpt-6"})"));
  EXPECT_EQ(all.front().cwd, "/w");
  EXPECT_EQ(all.front().provider, "openai");
  EXPECT_EQ(all.back().cwd, "/v");
  EXPECT_EQ(all.back().model, "gpt-6");
}

TEST(CodexNote, UsageIsOfOneRequestAndWithoutTheCache) {
  const auto all = usages(meta("t") + turn("1", "a", "A") + count(110, 20, usage(110, 100, 20)));
  ASSERT_EQ(all.size(), 1u);
  const UsageNote& note = all.begin()->second;
  EXPECT_EQ(all.begin()->first, "codex:t:110.0.20.1.130");
  EXPECT_EQ(note.usage.tokens_in, 10u);
  EXPECT_EQ(note.usage.cache_read, 100u);
  EXPECT_EQ(note.usage.tokens_out, 20u);
  EXPECT_EQ(note.usage.reasoning, 1u);
  EXPECT_EQ(note.model, "gpt-5");
  EXPECT_EQ(note.provider, "openai");
}

TEST(CodexNote, CountsThatRepeatAreNoRequest) {
  const std::string one = count(100, 20, usage(100, 0, 20));
  const std::string text = meta("t") + one + one + turn("1", "a", "A") + one +
                           count(200, 40, usage(100, 0, 20)) +
                           event("token_count", R"(,"info":null)");
  std::size_t noted = 0;
  for (const Note& note : notes(text)) noted += note.usage.size();
  EXPECT_EQ(noted, 2u);
}

// A fork has its parent's lines with the parent's header among them.
TEST(CodexNote, CopiesHaveTheKeysOfTheOldestThread) {
  const std::string history = turn("1", "a", "A") + count(100, 20, usage(100, 0, 20));
  const auto parent = usages(meta("p") + history);
  const auto fork = usages(meta("f", R"(,"forked_from_id":"p")") + meta("p") + history +
                           count(200, 40, usage(100, 0, 20)));
  ASSERT_EQ(parent.size(), 1u);
  EXPECT_EQ(fork.size(), 2u);
  EXPECT_TRUE(fork.contains(parent.begin()->first));
  EXPECT_NE(usages(meta("q") + history).begin()->first, parent.begin()->first);
}

// Files that refer to a part of another go on from the same counts, also of one thread.
TEST(CodexNote, ReferencesAreNoCopies) {
  const std::string counted = count(300, 60, usage(100, 0, 20));
  const std::string base = R"(,"history_base":{"thread_id":"t","end_ordinal_exclusive":3})";
  EXPECT_NE(usages(meta("t") + counted).begin()->first,
            usages(meta("t", base) + counted).begin()->first);
}

TEST(CodexNote, ARecordOfEachRequestIsBetterThanCounts) {
  const std::string request = line(
      "token_usage_record", R"({"turn_id":"1","response_id":"r","usage":)" + usage(100, 40, 20) +
                                R"(,"turn_token_usage":)" + usage(100, 40, 20) + "}");
  const auto all =
      usages(meta("t") + turn("1", "a", "A") + request + count(100, 20, usage(100, 40, 20)));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.begin()->first, "codex:1:r:120");
  EXPECT_EQ(all.begin()->second.usage.tokens_in, 60u);
  EXPECT_EQ(usages(meta("f") + meta("t") + turn("1", "a", "A") + request).begin()->first,
            all.begin()->first);
}

TEST(CodexNote, Kin) {
  const auto kin = [](const std::string& more) {
    const std::vector<Note> all = notes(meta("t", more) + meta("p", R"(,"forked_from_id":"pp")"));
    EXPECT_TRUE(all[1].kin.empty()) << "a copied header says nothing of this file";
    return all[0].kin;
  };
  EXPECT_TRUE(kin("").empty());
  const auto fork = kin(R"(,"forked_from_id":"p")");
  ASSERT_EQ(fork.size(), 1u);
  EXPECT_EQ(fork[0].relation, Relation::kForkedFrom);
  EXPECT_EQ(fork[0].session, "p");
  const auto base = kin(R"(,"forked_from_id":"p","history_base":{"thread_id":"s"})");
  ASSERT_EQ(base.size(), 2u);
  EXPECT_EQ(base[0].session, "s");
  const auto spawned = kin(R"(,"parent_thread_id":"p")");
  ASSERT_EQ(spawned.size(), 1u);
  EXPECT_EQ(spawned[0].relation, Relation::kSpawnedBy);
}

TEST(CodexNote, WrongTypesEverywhere) {
  for (const char* kind : {"session_meta", "turn_context", "event_msg", "token_usage_record"}) {
    for (
        const char* payload :
        {"7", "{}", R"({"id":7,"cwd":[],"source":{"subagent":"review"},"history_base":7})",
         R"({"type":"token_count","info":{"total_token_usage":{},"last_token_usage":{"input_tokens":1,"cached_input_tokens":5}}})",
         R"({"type":"token_count","info":{"total_token_usage":7}})",
         R"({"type":"user_message","message":7})",
         R"({"turn_id":"1","usage":{"input_tokens":1e400}})"}) {
      for (const Note& note : notes(meta("t\\nx") + line(kind, payload))) {
        for (const UsageNote& usage : note.usage) EXPECT_EQ(usage.usage.tokens_in, 0u);
      }
    }
  }
}

}  // namespace
}  // namespace quipu::dialect::codex
