#include "store/search_fields.h"

#include <gtest/gtest.h>

namespace quipu {
namespace {

using Texts = std::vector<std::string>;

TEST(SearchFields, AreTakenOutOfTheWords) {
  const SessionQuery query = read_session_query(
      "role:User llama tool:Bash agent:scribe project:Atlas session:s1 branch:head", false);
  EXPECT_EQ((Texts{"user"}), query.roles);
  EXPECT_EQ((Texts{"bash"}), query.tools);
  EXPECT_EQ((Texts{"scribe"}), query.agents);
  EXPECT_EQ((Texts{"Atlas"}), query.projects);
  EXPECT_EQ((Texts{"s1"}), query.sessions);
  EXPECT_EQ("head", query.branch);
  EXPECT_EQ(1u, query.words.any.size());
}

TEST(SearchFields, TimesNarrow) {
  const SessionQuery query = read_session_query(
      "x after:2026-03-01 after:2026-03-02 before:2026-04-01T10:00:00Z before:2026-05-01", false);
  EXPECT_EQ(read_search_time("2026-03-02"), query.from_ms);
  EXPECT_EQ(read_search_time("2026-04-01T10:00:00Z"), query.to_ms);
  EXPECT_EQ(1772323200000, read_search_time("2026-03-01"));
  EXPECT_FALSE(read_search_time("2026-02-30"));
  EXPECT_FALSE(read_search_time(""));
}

TEST(SearchFields, WhatMeansNothingIsWords) {
  for (const char* text : {"role:nobody x", "after:all x", "before: x", "branch:b x"}) {
    const SessionQuery query = read_session_query(text, false);
    EXPECT_TRUE(query.roles.empty()) << text;
    EXPECT_FALSE(query.from_ms || query.to_ms || query.branch) << text;
    EXPECT_FALSE(query.words.is_empty()) << text;
  }
  const SessionQuery query = read_session_query("role:nobody role:user tool:bash x", false);
  EXPECT_TRUE(query.roles.empty()) << "one of them is a word, so all of them are";
  EXPECT_EQ((Texts{"bash"}), query.tools);
}

TEST(SearchFields, ABranchNeedsItsSession) {
  EXPECT_EQ("b", read_session_query("x branch:b", true).branch);
  EXPECT_EQ("b", read_session_query("x branch:b session:s", false).branch);
  EXPECT_FALSE(read_session_query("x branch:b", false).branch);
}

}  // namespace
}  // namespace quipu
