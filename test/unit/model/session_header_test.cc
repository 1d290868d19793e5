#include "model/session_header.h"

#include <gtest/gtest.h>

#include "quipu/entry.h"

namespace quipu {
namespace {

TEST(SessionHeader, WhatIsWrittenIsRead) {
  SessionHeader header;
  header.version = 1;
  header.session_id = "s";
  header.cwd = "/a \"b\"";
  header.title = "t\n";
  header.agent_id = "ag";
  header.preset_id = "pr";
  header.project_id = "pj";
  header.parent_session = "p";
  header.parent_entry = "e";
  header.detached_session = "d";
  header.detached_entry = "f";
  const SessionHeader read = read_session_header(session_header_payload(header));
  EXPECT_EQ(read.version, 1);
  EXPECT_EQ(read.session_id, header.session_id);
  EXPECT_EQ(read.cwd, header.cwd);
  EXPECT_EQ(read.title, header.title);
  EXPECT_EQ(read.agent_id, header.agent_id);
  EXPECT_EQ(read.preset_id, header.preset_id);
  EXPECT_EQ(read.project_id, header.project_id);
  EXPECT_EQ(read.parent_session, header.parent_session);
  EXPECT_EQ(read.parent_entry, header.parent_entry);
  EXPECT_EQ(read.detached_session, header.detached_session);
  EXPECT_EQ(read.detached_entry, header.detached_entry);
}

TEST(SessionHeader, EmptyMembersAreLeftOut) {
  SessionHeader header;
  header.version = 1;
  header.session_id = "s";
  EXPECT_EQ(session_header_payload(header), R"({"version":1,"sessionId":"s"})");
}

TEST(SessionHeader, WrongKindsAreAbsent) {
  const SessionHeader header =
      read_session_header(R"({"version":[],"sessionId":5,"cwd":null,"parentSession":"x"})");
  EXPECT_EQ(header.version, 0);
  EXPECT_EQ(header.session_id, "");
  EXPECT_EQ(header.parent_session, "");
  EXPECT_EQ(read_session_header("").version, 0);
  EXPECT_EQ(read_session_header("{").session_id, "");
  EXPECT_EQ(read_session_header(R"({"version":"3"})").version, 3);
  EXPECT_EQ(read_session_header(R"({"version":99999999999999})").version, 0);
}

TEST(SessionIds, TheRule) {
  for (const char* good :
       {"a", "A9", "a.b", "a-b_c", "0", "claude.0192f0c1-2b5e", "com10", "conx"}) {
    EXPECT_TRUE(is_session_id(good)) << good;
  }
  EXPECT_TRUE(is_session_id(std::string(64, 'a')));
  for (const std::string& bad :
       {std::string(),       std::string(65, 'a'),   std::string("."),        std::string(".."),
        std::string("a..b"), std::string("-a"),      std::string("a-"),       std::string("_a"),
        std::string("a."),   std::string("a/b"),     std::string("../a"),     std::string("a\\b"),
        std::string("a b"),  std::string("a\0b", 3), std::string("\xc3\xa9"), std::string("con"),
        std::string("CON"),  std::string("nul.txt"), std::string("com1"),     std::string("LPT9.x"),
        std::string("a\n"),  std::string("a:b")}) {
    EXPECT_FALSE(is_session_id(bad)) << bad;
  }
}

}  // namespace
}  // namespace quipu
