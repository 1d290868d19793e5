// Vectors from an endpoint, on all engines: it is never waited for, and nothing is lost when it
// fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <utility>

#include "base/json_write.h"
#include "contract/recall_fixture.h"
#include "recall/knowledge_tables.h"
#include "recall/memory_tables.h"
#include "recall/vectors.h"
#include "store/system_log.h"
#include "support/http_server.h"
#include "unit/recall/fake_endpoint.h"

namespace quipu::test {
namespace {

using std::chrono::milliseconds;

// What a text is about, as a model would see it.
std::vector<float> meaning_of(const std::string& text) {
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (has("kitten") || has("purring")) return {1, 0, 0.1F};
  if (has("puppy") || has("barking")) return {0, 1, 0.1F};
  return {0, 0, 1};
}

std::string answer_to(const std::string& body) {
  std::string answer;
  json::Writer out(answer);
  out.begin_object().key("data").begin_array();
  std::size_t index = 0;
  for (const std::string& text : recall::inputs_of(body)) {
    out.begin_object().member("index", index++).key("embedding").begin_array();
    for (const float x : meaning_of(text)) out.raw(std::to_string(x));
    out.end_array().end_object();
  }
  out.end_array().end_object();
  return answer;
}

enum class Mood { kWell, kSilent, kGarbage, kBusy, kTooLong };

class Endpoint : public RecallContract {
 protected:
  /// An entry of one of the store's own logs.
  void append(const char* log, const char* id, const char* type, std::string payload) {
    NewEntry entry;
    entry.id = id;
    entry.type = type;
    entry.payload = std::move(payload);
    must(SystemLog(store_->backend(), log).append(std::array{entry}));
  }
  RecallOptions options() const {
    RecallOptions made;
    made.endpoint.url = server_.url("/v1");
    made.endpoint.model = model_;
    made.endpoint.timeout = milliseconds(200);
    return made;
  }
  static MemorySearchOptions hybrid() {
    MemorySearchOptions made;
    made.ranking.hybrid = true;
    return made;
  }
  static std::vector<MemoryNode> animals() {
    return {node("cat", "a purring animal"), node("dog", "a barking animal"),
            node("car", "a vehicle")};
  }
  std::vector<std::string> sent() const {
    std::vector<std::string> texts;
    for (const HttpSeen& one : server_.seen()) {
      for (std::string& text : recall::inputs_of(one.body)) texts.push_back(std::move(text));
    }
    return texts;
  }
  std::size_t times_sent(const std::string& text) const {
    const auto all = sent();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), text));
  }

  // A database keeps vectors from test to test, and a port may be given out again.
  static inline int models_ = 0;
  const std::string model_ = "test" + std::to_string(++models_);
  std::atomic<Mood> mood_ = Mood::kWell;
  HttpServer server_{[this](const HttpSeen& seen) {
    switch (mood_.load()) {
      case Mood::kSilent:
        return HttpReply{.end = HttpReply::End::kSilent};
      case Mood::kGarbage:
        return HttpReply{.body = "<html>no</html>"};
      case Mood::kBusy:
        return HttpReply{.status = 429, .headers = {"Retry-After: 60"}};
      case Mood::kTooLong:
        return HttpReply{.status = 413};
      case Mood::kWell:
        break;
    }
    return HttpReply{.body = answer_to(seen.body)};
  }};
};

TEST_P(Endpoint, MakesVectors) {
  MemoryStore memory(*store_, options());
  must(memory.upsert(animals()));
  EXPECT_TRUE(sent().empty()) << "storing asks nobody";
  const EmbeddingStatus status = must(memory.embed(milliseconds(5000)));
  EXPECT_EQ(0u, status.waiting);
  EXPECT_EQ("", status.reason);
  const auto hits = must(memory.search("kitten", 1, hybrid()));
  EXPECT_TRUE(hits.is_hybrid);
  EXPECT_EQ("", hits.note);
  EXPECT_EQ(Ids{"cat"}, ids_of(hits));
}

TEST_P(Endpoint, WhenItFailsTheAnswerIsByWords) {
  MemoryStore memory(*store_, options());
  for (const Mood mood : {Mood::kSilent, Mood::kGarbage, Mood::kBusy}) {
    mood_ = mood;
    must(memory.upsert(animals()));
    const EmbeddingStatus status = must(memory.embed(milliseconds(5000)));
    EXPECT_EQ(3u, status.waiting);
    EXPECT_NE("", status.reason);
    const auto hits = must(memory.search("animal", 5, hybrid()));
    EXPECT_EQ(2u, hits.items.size());
    EXPECT_FALSE(hits.is_hybrid);
    EXPECT_NE("", hits.note);
  }
  mood_ = Mood::kWell;
  clock_.advance(std::chrono::hours(6));
  EXPECT_EQ(0u, must(memory.embed(milliseconds(5000))).waiting);
  EXPECT_EQ(Ids{"dog"}, ids_of(must(memory.search("puppy", 1, hybrid()))));
}

TEST_P(Endpoint, WhatWasGivenUpIsTriedAgainByAReindex) {
  MemoryStore memory(*store_, options());
  KnowledgeIndex knowledge(*store_, options());
  mood_ = Mood::kTooLong;
  must(memory.upsert(animals()));
  must(knowledge.add(std::vector{document("d", "a document")}));
  EXPECT_EQ(4u, must(memory.embed(milliseconds(5000))).given_up);
  mood_ = Mood::kWell;
  EXPECT_EQ(4u, must(memory.embed(milliseconds(5000))).given_up);
  must(memory.reindex());
  EXPECT_EQ(1u, must(memory.embed(milliseconds(5000))).given_up);
  must(knowledge.reindex());
  EXPECT_EQ(0u, must(knowledge.embed(milliseconds(5000))).given_up);
  EXPECT_EQ(Ids{"dog"}, ids_of(must(memory.search("puppy", 1, hybrid()))));
}

TEST_P(Endpoint, ATextIsSentOnce) {
  MemoryStore memory(*store_, options());
  must(memory.upsert(animals()));
  must(memory.embed(milliseconds(5000)));
  MemoryNode again = node("cat2", "a purring animal");
  must(memory.upsert(std::vector{again}));
  must(memory.embed(milliseconds(5000)));
  must(memory.reindex());
  must(memory.embed(milliseconds(5000)));
  EXPECT_EQ(1u, times_sent("a purring animal"));
  EXPECT_EQ(2u, must(memory.search("kitten", 2, hybrid())).items.size());
}

TEST_P(Endpoint, WhatIsForgottenIsNotSent) {
  MemoryStore memory(*store_, options());
  must(memory.upsert(animals()));
  must(memory.upsert(std::vector{node("twin", "a vehicle")}));
  must(memory.forget(Ids{"dog", "car"}));
  EXPECT_EQ(0u, must(memory.embed(milliseconds(5000))).waiting);
  EXPECT_EQ(1u, times_sent("a purring animal"));
  EXPECT_EQ(0u, times_sent("a barking animal"));
  EXPECT_EQ(1u, times_sent("a vehicle")) << "another node has it";
}

TEST_P(Endpoint, WhatIsForgottenTakesNoVectorFromItsTwin) {
  MemoryStore memory(*store_, options());
  must(memory.upsert(std::vector{node("m1", "a purring animal"), node("m2", "a purring animal")}));
  must(memory.search("x", 5, hybrid()));  // from now on both are waited for
  must(memory.forget(Ids{"m2"}));
  clock_.advance(std::chrono::seconds(2));
  must(memory.search("x", 5, hybrid()));
  must(memory.embed(milliseconds(5000)));
  clock_.advance(std::chrono::seconds(2));
  EXPECT_EQ(Ids{"m1"}, ids_of(must(memory.search("kitten", 5, hybrid()))));
}

TEST_P(Endpoint, WhatIsForgottenIsNotSentByOthers) {
  MemoryStore memory(*store_, options());
  KnowledgeIndex knowledge(*store_, options());
  MemoryNode brief = node("brief", "over soon");
  brief.expires_ms = kNowMs - 1;
  must(memory.upsert(animals()));
  must(memory.upsert(std::vector{brief}));
  must(knowledge.add(std::vector{document("d", "a document")}));
  must(memory.forget(Ids{"dog"}));
  must(memory.evict({}));
  // The outbox is that of both.
  must(knowledge.embed(milliseconds(5000)));
  EXPECT_EQ(1u, times_sent("a document"));
  EXPECT_EQ(1u, times_sent("a purring animal"));
  EXPECT_EQ(0u, times_sent("a barking animal"));
  EXPECT_EQ(0u, times_sent("over soon"));

  must(knowledge.add(std::vector{document("d", "another document")}));
  must(knowledge.remove(Ids{"d"}));
  must(memory.embed(milliseconds(5000)));
  EXPECT_EQ(0u, times_sent("another document"));
}

TEST_P(Endpoint, WhatIsForgottenIsNotSentByTablesMadeAnew) {
  MemoryStore memory(*store_, options());
  KnowledgeIndex knowledge(*store_, options());
  must(memory.upsert(animals()));
  must(knowledge.add(std::vector{document("d", "a document"), document("e", "first words")}));
  // As processes do that are killed right after, and a version that has other tables.
  const auto append = [&](const char* log, const char* type, std::string payload) {
    NewEntry entry;
    entry.type = type;
    entry.payload = std::move(payload);
    must(SystemLog(store_->backend(), log).append(std::array{entry}));
  };
  append("memory", "fact.quipu.forget", R"({"ids":["dog"]})");
  append("memory", "fact.quipu.memory", R"({"id":"car","text":"a vessel"})");
  append("knowledge", "fact.quipu.remove", R"({"ids":["d"]})");
  append("knowledge", "fact.quipu.document", R"({"id":"e","text":"second words"})");
  const auto& indexes = store_->indexes();
  must(indexes->drop(recall::MemoryTables(indexes->text_index(recall::kMemoryText)).tables()));
  must(
      indexes->drop(recall::KnowledgeTables(indexes->text_index(recall::kKnowledgeText)).tables()));

  must(memory.list());
  must(knowledge.list());
  must(memory.embed(milliseconds(5000)));
  must(knowledge.embed(milliseconds(5000)));
  auto all = sent();
  std::sort(all.begin(), all.end());
  EXPECT_EQ((Ids{"a purring animal", "a vessel", "second words"}), all);
}

TEST_P(Endpoint, WhatIsRedactedIsNotSent) {
  MemoryStore memory(*store_, options());
  KnowledgeIndex knowledge(*store_, options());
  append("memory", "secret", "fact.quipu.memory", R"({"id":"m","text":"a password"})");
  append("knowledge", "secret", "fact.quipu.document", R"({"id":"d","text":"all passwords"})");
  must(memory.upsert(animals()));
  must(knowledge.add(std::vector{document("e", "a document")}));
  for (const char* log : {"memory", "knowledge"}) {
    append(log, "redaction", "redaction", R"({"targetEntryId":"secret","reason":"leaked"})");
  }
  EXPECT_EQ(3u, must(memory.list()).total);
  EXPECT_EQ(1u, must(knowledge.list()).total);
  must(memory.embed(milliseconds(5000)));
  must(knowledge.embed(milliseconds(5000)));
  EXPECT_EQ(4u, sent().size());
  EXPECT_EQ(0u, times_sent("a password") + times_sent("all passwords"));
}

TEST_P(Endpoint, WhatIsForgottenOrRedactedLeavesNoVector) {
  MemoryStore memory(*store_, options());
  KnowledgeIndex knowledge(*store_, options());
  const auto vectors = [&] {
    const auto engine = must(store_->indexes()->lease());
    const std::string own = model_ + "/%";
    return must(engine->number("SELECT COUNT(*) FROM @embed_cache WHERE fingerprint LIKE $1",
                               std::array{sql::Param(own)}));
  };
  append("memory", "secret", "fact.quipu.memory", R"({"id":"m","text":"a password"})");
  append("knowledge", "secret", "fact.quipu.document", R"({"id":"d","text":"all passwords"})");
  must(memory.upsert(animals()));
  must(knowledge.add(std::vector{document("e", "a document")}));
  must(memory.embed(milliseconds(5000)));
  must(knowledge.embed(milliseconds(5000)));
  EXPECT_EQ(6, vectors());
  must(memory.forget(Ids{"dog"}));
  EXPECT_EQ(5, vectors());
  append("memory", "redaction", "redaction", R"({"targetEntryId":"secret","reason":"leaked"})");
  must(memory.list());
  EXPECT_EQ(4, vectors());
  append("knowledge", "redaction", "redaction", R"({"targetEntryId":"secret","reason":"leaked"})");
  must(knowledge.list());
  EXPECT_EQ(3, vectors());
  must(memory.embed(milliseconds(5000)));
  must(knowledge.embed(milliseconds(5000)));
  EXPECT_EQ(6u, sent().size()) << "what is still there is not sent again";
}

// Tables that somebody else changes right after their texts were read.
class ChangedTables : public recall::VectorSource {
 public:
  ChangedTables(const recall::MemoryTables& tables, std::function<void()> change)
      : tables_(tables), change_(std::move(change)) {}

  Result<std::vector<recall::VectorRow>> vector_rows(sql::Engine& engine, std::int64_t after,
                                                     std::size_t limit) const override {
    return tables_.vector_rows(engine, after, limit);
  }
  Result<std::vector<recall::TextRow>> text_rows(sql::Engine& engine, std::int64_t after,
                                                 std::size_t limit) const override {
    auto rows = tables_.text_rows(engine, after, limit);
    if (const auto change = std::exchange(change_, nullptr)) change();
    return rows;
  }
  Result<std::vector<std::int64_t>> existing(sql::Engine& engine,
                                             std::span<const std::int64_t> keys) const override {
    return tables_.existing(engine, keys);
  }
  sql::Text read_mark() const override { return tables_.read_mark(); }
  sql::Text set_mark() const override { return tables_.set_mark(); }
  sql::Text read_cursor() const override { return tables_.read_cursor(); }
  sql::Text move_cursor() const override { return tables_.move_cursor(); }

 private:
  const recall::MemoryTables& tables_;
  mutable std::function<void()> change_;
};

TEST_P(Endpoint, WhatOthersForgetWhileItIsPutInIsNotSent) {
  if (GetParam() == Engine::kMemory) return;  // one connection, one at a time
  MemoryStore memory(*store_);
  must(memory.upsert(animals()));
  const recall::MemoryTables tables(store_->indexes()->text_index(recall::kMemoryText));
  const ChangedTables changed(tables, [&] { must(memory.forget(Ids{"dog"})); });
  recall::Vectors vectors(*store_->indexes(), changed, options(), clock_);
  {
    const auto engine = must(store_->indexes()->lease());
    must(vectors.enqueue(*engine));
  }
  EXPECT_EQ(0u, must(vectors.embed(milliseconds(5000))).waiting);
  EXPECT_EQ(1u, times_sent("a purring animal"));
  EXPECT_EQ(0u, times_sent("a barking animal"));
}

TEST_P(Endpoint, ConfiguredLaterItMakesTheVectorsOfAll) {
  MemoryStore without(*store_);
  must(without.upsert(animals()));
  MemoryStore memory(*store_, options());
  const auto before = must(memory.search("kitten", 5, hybrid()));
  EXPECT_FALSE(before.is_hybrid);
  must(memory.embed(milliseconds(5000)));
  clock_.advance(std::chrono::seconds(2));
  EXPECT_EQ("cat", must(memory.search("kitten", 5, hybrid())).items.at(0).memory.node.id);
}

TEST_P(Endpoint, VectorsOfCallersAreNotMade) {
  MemoryStore memory(*store_, options());
  MemoryNode given = node("given", "a purring animal");
  given.embedding = {0, 1, 0};
  must(memory.upsert(std::vector{given, node("cat", "a purring cat")}));
  must(memory.embed(milliseconds(5000)));
  EXPECT_EQ(0u, times_sent("a purring animal"));
  EXPECT_EQ("given", must(memory.search("puppy", 5, hybrid())).items.at(0).memory.node.id);
}

TEST_P(Endpoint, ChunksOfDocumentsHaveVectorsOfTheirOwn) {
  KnowledgeIndex knowledge(*store_, options());
  std::string text;
  for (int i = 0; i < 300; ++i) text += "Filling words of no meaning here. ";
  text += "\n\n# Pets\n\nIt was purring. ";
  for (int i = 0; i < 40; ++i) text += "More words without any meaning. ";
  must(knowledge.add(std::vector{document("d", text, "Title"), document("e", "a barking one")}));
  EXPECT_EQ(0u, must(knowledge.embed(milliseconds(5000))).waiting);
  QueryOptions asked;
  asked.ranking.hybrid = true;
  const auto hits = must(knowledge.query("kitten", 1, asked));
  ASSERT_EQ(Ids{"d"}, ids_of(hits));
  EXPECT_NE(std::string::npos, hits.items[0].text.find("It was purring."));
  EXPECT_GT(hits.items[0].chunk, 0u);
  EXPECT_EQ(1u, times_sent("a barking one"));
}

TEST_P(Endpoint, ALongDocumentHidesNoOther) {
  KnowledgeIndex knowledge(*store_, options());
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += "It was purring again, for the " + std::to_string(i) + ". ";
  must(knowledge.add(std::vector{document("d", "a purring one"), document("e", "one purring")}));
  must(knowledge.add(std::vector{document("long", text)}));  // of equals the newer ones come first
  EXPECT_EQ(0u, must(knowledge.embed(milliseconds(60'000))).waiting);
  QueryOptions asked;
  asked.ranking.hybrid = true;
  EXPECT_EQ(3u, must(knowledge.query("kitten", 5, asked)).items.size());
}

TEST_P(Endpoint, AThreadOfItsOwnMakesThem) {
  RecallOptions made = options();
  made.background = true;
  // Threads that wait for each other need a clock that moves.
  Store store = must(Store::open(place_.url(), {.create = true}));
  MemoryStore memory(store, made);
  must(memory.upsert(animals()));
  while (must(memory.embed(milliseconds(0))).waiting > 0) std::this_thread::yield();
  EXPECT_EQ(Ids{"cat"}, ids_of(must(memory.search("kitten", 1, hybrid()))));
}

TEST_P(Endpoint, OneThatCannotBeUsedIsNamed) {
  RecallOptions bad = options();
  bad.endpoint.url = "ftp://nowhere";
  MemoryStore memory(*store_, bad);
  must(memory.upsert(animals()));
  EXPECT_EQ(Code::kInvalidArgument, code_of(memory.embed(milliseconds(10))));
  const auto hits = must(memory.search("animal", 5, hybrid()));
  EXPECT_EQ(2u, hits.items.size());
  EXPECT_NE("", hits.note);
}

INSTANTIATE_TEST_SUITE_P(Engines, Endpoint,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
