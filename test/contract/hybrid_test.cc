// Hybrid searches on all engines: vectors that the caller gives, and vectors that an
// endpoint makes.
#include <gtest/gtest.h>

#include "contract/recall_fixture.h"

namespace quipu::test {
namespace {

class Hybrid : public RecallContract {
 protected:
  static MemoryNode with_vector(std::string id, std::string text, std::vector<float> vector) {
    MemoryNode made = node(std::move(id), std::move(text));
    made.embedding = std::move(vector);
    return made;
  }
  static MemorySearchOptions like(std::vector<float> vector) {
    MemorySearchOptions options;
    options.ranking.hybrid = true;
    options.ranking.embedding = std::move(vector);
    return options;
  }
  Hits<MemoryHit> search(std::string_view query, const MemorySearchOptions& options) {
    return must(memory_.search(query, 10, options));
  }

  MemoryStore memory_{*store_};
  KnowledgeIndex knowledge_{*store_};
};

TEST_P(Hybrid, WhatIsNearIsFoundWithoutAWordInCommon) {
  must(memory_.upsert(std::vector{with_vector("cat", "a purring animal", {1, 0.1F, 0}),
                                  with_vector("dog", "a barking animal", {0.1F, 1, 0}),
                                  with_vector("car", "a vehicle", {0, 0, 1})}));
  const auto hits = search("kitten", like({1, 0, 0}));
  EXPECT_TRUE(hits.is_hybrid);
  EXPECT_EQ("", hits.note);
  ASSERT_EQ(3u, hits.items.size());
  EXPECT_EQ("cat", hits.items[0].memory.node.id);
  EXPECT_EQ(0u, hits.items[0].reason.lexical_rank);
  EXPECT_EQ(1u, hits.items[0].reason.vector_rank);
  EXPECT_NEAR(0.995, hits.items[0].reason.vector_score, 0.001);
}

TEST_P(Hybrid, BothListsCount) {
  must(memory_.upsert(std::vector{with_vector("words", "the green door", {0, 1}),
                                  with_vector("both", "the green gate", {0.9F, 0.1F}),
                                  with_vector("near", "something else", {1, 0}),
                                  node("plain", "green without a vector")}));
  auto options = like({1, 0});
  const auto hits = search("green gate", options);
  EXPECT_EQ("both", hits.items[0].memory.node.id);
  EXPECT_EQ(4u, hits.items.size());
  // Without a say of the vectors the order is that of the words.
  options.ranking.vector_weight = 0;
  const auto words = search("green gate", options);
  EXPECT_EQ("near", words.items.back().memory.node.id);
  options.ranking = like({1, 0}).ranking;
  options.ranking.fusion = Fusion::kReciprocalRank;
  const auto ranks = search("green gate", options);
  EXPECT_EQ("both", ranks.items[0].memory.node.id);
  EXPECT_NEAR(2.0 / 61 + 1.0 / 62, ranks.items[0].score, 1e-9);
}

TEST_P(Hybrid, ScopesHoldForVectors) {
  std::vector<MemoryNode> nodes;
  for (int i = 0; i < 20; ++i) {
    MemoryNode one = with_vector("n" + std::to_string(i), "text " + std::to_string(i), {1, 0});
    one.agent_id = i % 2 == 0 ? "even" : "odd";
    one.kind = i < 4 ? MemoryKind::kShort : MemoryKind::kLong;
    if (i == 0) one.expires_ms = kNowMs - 1;
    nodes.push_back(one);
  }
  must(memory_.upsert(nodes));
  auto options = like({1, 0});
  options.scope.agent_id = "even";
  for (const MemoryHit& hit : search("nothing", options).items) {
    EXPECT_EQ("even", hit.memory.node.agent_id);
    EXPECT_NE("n0", hit.memory.node.id) << "it has expired";
  }
  EXPECT_EQ(9u, search("nothing", options).items.size());
  options.scope.kinds = {MemoryKind::kShort};
  EXPECT_EQ(Ids{"n2"}, ids_of(search("nothing", options)));
  options.scope.agent_id.reset();
  EXPECT_EQ(3u, search("nothing", options).items.size());
}

TEST_P(Hybrid, ForgottenAndReplacedVectorsAreGone) {
  must(memory_.upsert(std::vector{with_vector("a", "one", {1, 0}),
                                  with_vector("b", "two", {1, 0.1F}),
                                  with_vector("c", "three", {0, 1})}));
  EXPECT_EQ(3u, search("x", like({1, 0})).items.size());
  must(memory_.forget(Ids{"a"}));
  must(memory_.upsert(std::vector{with_vector("b", "two", {-1, 0})}));
  const auto hits = search("x", like({1, 0}));
  ASSERT_EQ((Ids{"c", "b"}), ids_of(hits));
  EXPECT_NEAR(-1, hits.items[1].reason.vector_score, 1e-6);
  must(memory_.upsert(std::vector{with_vector("d", "four", {1, 0})}));
  EXPECT_EQ("d", search("x", like({1, 0})).items[0].memory.node.id);
}

TEST_P(Hybrid, MadeAnewTheVectorsAreTheSame) {
  must(memory_.upsert(
      std::vector{with_vector("a", "one", {1, 0}), with_vector("b", "two", {0, 1})}));
  must(memory_.reindex());
  MemoryStore other(*store_);
  EXPECT_EQ("a", must(other.search("x", 5, like({1, 0}))).items[0].memory.node.id);
}

TEST_P(Hybrid, QueriesThatAreNoVectorsAreRefused) {
  must(memory_.upsert(std::vector{with_vector("a", "one", {1, 0})}));
  EXPECT_EQ(Code::kInvalidArgument, code_of(memory_.search("x", 5, like({0, 0}))));
  EXPECT_EQ(Code::kInvalidArgument,
            code_of(memory_.search("x", 5, like({1, std::numeric_limits<float>::quiet_NaN()}))));
  const auto other_size = search("one", like({1, 2, 3}));
  EXPECT_EQ(Ids{"a"}, ids_of(other_size));
  EXPECT_FALSE(other_size.is_hybrid);
  EXPECT_NE("", other_size.note);
}

TEST_P(Hybrid, DocumentsAreFoundByTheirVectors) {
  KnowledgeDocument cat = document("cat", "a purring animal");
  cat.embedding = {1, 0};
  cat.meta = R"({"lang":"en"})";
  KnowledgeDocument dog = document("dog", "a barking animal");
  dog.embedding = {0.5F, 1};
  must(knowledge_.add(std::vector{cat, dog, document("plain", "no vector at all")}));
  QueryOptions options;
  options.ranking.hybrid = true;
  options.ranking.embedding = {1, 0};
  const auto hits = must(knowledge_.query("kitten", 5, options));
  EXPECT_TRUE(hits.is_hybrid);
  EXPECT_EQ((Ids{"cat", "dog"}), ids_of(hits));
  EXPECT_EQ("a purring animal", hits.items[0].text);
  options.filter = {{"lang", "en"}};
  EXPECT_EQ(Ids{"cat"}, ids_of(must(knowledge_.query("kitten", 5, options))));
  must(knowledge_.remove(Ids{"cat"}));
  options.filter.clear();
  EXPECT_EQ(Ids{"dog"}, ids_of(must(knowledge_.query("kitten", 5, options))));
}

INSTANTIATE_TEST_SUITE_P(Engines, Hybrid,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
