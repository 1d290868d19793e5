#include <gtest/gtest.h>

#include <limits>

#include "quipu/knowledge.h"
#include "quipu/memory.h"
#include "recall/document_fact.h"
#include "recall/memory_fact.h"

namespace quipu {
namespace {

std::string problem_of(std::string_view json) {
  const auto node = read_memory_node(json);
  if (node.ok()) return "";
  EXPECT_EQ(Code::kInvalidArgument, node.error().code());
  return node.error().message();
}

MemoryNode whole_node() {
  MemoryNode node;
  node.id = "m1";
  node.kind = MemoryKind::kAgent;
  node.text = "Ada \"prefers\" tabs\n数据";
  node.context = "before and after";
  node.agent_id = "coder";
  node.project_id = "p 1";
  node.meta = R"({"a":[1,2],"b":"c"})";
  node.sources = {{.session_id = "s1", .entry_id = "e1"}, {.session_id = "s2", .entry_id = ""}};
  node.importance = 0.3;
  node.pinned = true;
  node.expires_ms = 1'800'000'000'123;
  node.embedding = {0.1F, -2.5F, 3e-20F};
  return node;
}

TEST(MemoryFact, ANodeIsReadAsItWasWritten) {
  const MemoryNode node = whole_node();
  const auto read = read_memory_node(memory_node_json(node));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(node, *read);
  EXPECT_EQ(memory_node_json(node), memory_node_json(*read));
  MemoryNode plain;
  plain.text = "x";
  const auto again = read_memory_node(memory_node_json(plain));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(plain, *again);
}

TEST(MemoryFact, EmbeddingsAreArraysToo) {
  const auto node = read_memory_node(R"({"id":"a","text":"t","embedding":[1, -2.5e-1, 3]})");
  ASSERT_TRUE(node.ok());
  EXPECT_EQ((std::vector<float>{1, -0.25F, 3}), node->embedding);
}

TEST(MemoryFact, WhatNobodyKnowsIsKeptInMeta) {
  const auto node = read_memory_node(R"({"id":"a","text":"t","meta":{"x":1},"speaker":"ada"})");
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(R"({"x":1,"speaker":"ada"})", node->meta);
  EXPECT_NE("", problem_of(R"({"id":"a","text":"t","meta":{"x":1},"x":2})"));
}

TEST(MemoryFact, WhatIsWrongIsNamed) {
  EXPECT_NE(std::string::npos, problem_of("{").find("byte"));
  EXPECT_EQ("text is missing", problem_of(R"({"id":"a"})"));
  EXPECT_EQ("text is no text", problem_of(R"({"id":"a","text":7})"));
  EXPECT_EQ("kind is none of short, long and agent",
            problem_of(R"({"id":"a","text":"t","kind":"huge"})"));
  EXPECT_EQ("id has control characters", problem_of(R"({"id":"a\nb","text":"t"})"));
  EXPECT_EQ("id is longer than 256 bytes",
            problem_of(R"({"text":"t","id":")" + std::string(257, 'x') + R"("})"));
  EXPECT_EQ("member id is there twice", problem_of(R"({"id":"a","text":"t","id":"b"})"));
  EXPECT_EQ("importance is not between 0 and 1",
            problem_of(R"({"id":"a","text":"t","importance":2})"));
  EXPECT_EQ("meta is no object", problem_of(R"({"id":"a","text":"t","meta":[]})"));
  EXPECT_NE("", problem_of(R"({"id":"a","text":"t","expires":"tomorrow"})"));
}

TEST(MemoryFact, BadVectorsAreRefused) {
  const auto of = [](const char* embedding) {
    return problem_of(R"({"id":"a","text":"t","embedding":)" + std::string(embedding) + "}");
  };
  EXPECT_NE("", of("[1,\"2\"]"));
  EXPECT_NE("", of("[]"));
  EXPECT_NE("", of("[0,0]"));
  EXPECT_NE("", of("[1,1e39]"));
  EXPECT_NE("", of("[1,1e999]"));
  EXPECT_NE("", of("\"AAA\""));
  EXPECT_NE("", of("\"AAAAAA==\"")) << "four bytes and more are whole floats, or none";
  EXPECT_NE("", of("\"AADAfw==\"")) << "not a number";
  EXPECT_NE("", of("{}"));
  MemoryNode node = whole_node();
  node.embedding[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Code::kInvalidArgument, recall::check(node).error().code());
}

TEST(DocumentFact, ADocumentIsReadAsItWasWritten) {
  KnowledgeDocument document;
  document.id = "d";
  document.text = "text";
  document.title = "Title";
  document.meta = R"({"lang":"en"})";
  document.embedding = {1, 2};
  const auto read = read_knowledge_document(knowledge_document_json(document));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(document, *read);
}

TEST(DocumentFact, NeedsAnIdAndAText) {
  EXPECT_FALSE(read_knowledge_document(R"({"text":"t"})").ok());
  EXPECT_FALSE(read_knowledge_document(R"({"id":"d"})").ok());
  EXPECT_TRUE(read_knowledge_document(R"({"id":"d","text":""})").ok());
}

TEST(ForgetFact, IdsAreReadAsTheyWereWritten) {
  const std::vector<std::string> ids{"a", "b \"c\""};
  EXPECT_EQ(ids, recall::read_ids(recall::forget_payload(ids, "evicted")));
  EXPECT_TRUE(recall::read_ids("{}").empty());
}

}  // namespace
}  // namespace quipu
