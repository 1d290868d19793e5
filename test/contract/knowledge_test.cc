// KnowledgeIndex on all engines: the same documents, the same answers.
#include "quipu/knowledge.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "contract/recall_fixture.h"

namespace quipu::test {
namespace {

std::string sentences(std::size_t count, std::string_view about) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "This sentence of a long text, number " + std::to_string(i) + ", says a thing about " +
            std::string(about) + ". ";
  }
  return text;
}

class Knowledge : public RecallContract {
 protected:
  AddReport add(std::vector<KnowledgeDocument> documents) {
    return must(knowledge_.add(documents));
  }
  Ids found(std::string_view query, const QueryOptions& options = {}, std::size_t k = 10) {
    return ids_of(must(knowledge_.query(query, k, options)));
  }

  KnowledgeIndex knowledge_{*store_};
};

TEST_P(Knowledge, ADocumentIsFoundByTitleAndText) {
  EXPECT_EQ(2u, add({document("d1", "Press the left key.", "Undo"),
                     document("d2", "Nothing is lost.", "Saving")})
                    .added);
  EXPECT_EQ(Ids{"d1"}, found("undo"));
  EXPECT_EQ(Ids{"d1"}, found("left key"));
  const auto hits = must(knowledge_.query("what is lost", 10));
  ASSERT_EQ(1u, hits.items.size());
  const KnowledgeHit& hit = hits.items[0];
  EXPECT_EQ("Saving", hit.document.title);
  EXPECT_EQ("Nothing is lost.", hit.text);
  EXPECT_EQ(1u, hit.document.chunks);
  EXPECT_GT(hit.score, 0);
}

TEST_P(Knowledge, ALongDocumentIsFoundByItsBestChunk) {
  const std::string text = "# Guide\n\n" + sentences(30, "gardens") + "\n\n## Undo\n\n" +
                           sentences(3, "taking things back") + "\n\n" + sentences(40, "houses");
  add({document("guide", text, "The guide"), document("short", "gardens and houses")});
  const auto hits = must(knowledge_.query("taking things back", 10));
  ASSERT_EQ(Ids{"guide"}, ids_of(hits)) << "once, however many chunks match";
  const KnowledgeHit& hit = hits.items[0];
  EXPECT_GT(hit.document.chunks, 3u);
  EXPECT_EQ("Guide > Undo", hit.headings);
  EXPECT_EQ(text.substr(hit.begin, hit.end - hit.begin), hit.text);
  EXPECT_NE(std::string::npos, hit.text.find("taking things back"));
  EXPECT_EQ((Ids{"guide", "short"}).size(), found("gardens").size());
}

TEST_P(Knowledge, ALongDocumentHidesNoOther) {
  std::vector<KnowledgeDocument> documents{document("long", sentences(2500, "whales"))};
  for (int i = 0; i < 5; ++i) {
    documents.push_back(
        document("short" + std::to_string(i), sentences(6, "gardens") + " And one of whales."));
  }
  add(documents);
  ASSERT_GT(must(knowledge_.list({.after = {}, .limit = 9})).items.back().chunks, 120u);
  const Ids ids = found("whales");
  ASSERT_EQ(6u, ids.size());
  EXPECT_EQ("long", ids[0]) << "or this proves nothing: its chunks must be the best";
}

TEST_P(Knowledge, TheTitleFindsEveryChunk) {
  add({document("d", sentences(60, "nothing in particular"), "Xylophone")});
  EXPECT_EQ(Ids{"d"}, found("xylophone"));
}

TEST_P(Knowledge, AddingAgainDoesNothingUpdatingReplaces) {
  const std::string text = sentences(60, "whales");
  add({document("d", text)});
  EXPECT_EQ(1u, add({document("d", text)}).unchanged);
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(1u, add({document("d", sentences(30, "sharks"))}).replaced);
  EXPECT_EQ(Ids{}, found("whales")) << "no chunk of the old one is left";
  EXPECT_EQ(Ids{"d"}, found("sharks"));
  const auto page = must(knowledge_.list());
  ASSERT_EQ(1u, page.items.size());
  EXPECT_EQ(kNowMs, page.items[0].created_ms);
  EXPECT_EQ(kNowMs + 3'600'000, page.items[0].updated_ms);
}

TEST_P(Knowledge, RemovedIsGoneAtOnce) {
  add({document("d1", sentences(60, "whales")), document("d2", "a whale")});
  EXPECT_EQ(1u, must(knowledge_.remove(Ids{"d1", "nobody"})));
  EXPECT_EQ(Ids{"d2"}, found("whales"));
  EXPECT_EQ(1u, must(knowledge_.list()).total);
  add({document("d1", "a whale again")});
  EXPECT_EQ(2u, found("whales").size());
}

TEST_P(Knowledge, MembersOfMetaFilter) {
  KnowledgeDocument english = document("en", "the sea");
  english.meta = R"({"lang":"en","year":2020})";
  KnowledgeDocument german = document("de", "the sea, die See");
  german.meta = R"({"lang":"de","year":2020})";
  add({english, german, document("none", "the sea")});
  QueryOptions options;
  options.filter = {{"lang", "de"}};
  EXPECT_EQ(Ids{"de"}, found("sea", options));
  options.filter = {{"year", "2020"}};
  EXPECT_EQ(2u, found("sea", options).size());
  options.filter = {{"year", "2020"}, {"lang", "en"}};
  EXPECT_EQ(Ids{"en"}, found("sea", options));
  options.filter = {{"lang", "fr"}};
  EXPECT_EQ(Ids{}, found("sea", options));
}

TEST_P(Knowledge, ListsComeInPages) {
  std::vector<KnowledgeDocument> documents;
  for (int i = 0; i < 5; ++i) documents.push_back(document("d" + std::to_string(i), "text"));
  add(documents);
  const auto first = must(knowledge_.list({.after = {}, .limit = 3}));
  EXPECT_EQ(5u, first.total);
  ASSERT_EQ(3u, first.items.size());
  EXPECT_EQ("d4", first.items[0].id);
  const auto second = must(knowledge_.list({.after = first.next, .limit = 3}));
  ASSERT_EQ(2u, second.items.size());
  EXPECT_EQ("", second.next);
}

TEST_P(Knowledge, BadDocumentsAreRefusedByName) {
  KnowledgeDocument bad = document("bad", "text");
  bad.embedding = {0, 0};
  const auto answer = knowledge_.add(std::vector{document("good", "text"), bad});
  ASSERT_EQ(Code::kInvalidArgument, code_of(answer));
  EXPECT_EQ(0u, answer.error().message().find("document 2 (bad)")) << answer.error().message();
  EXPECT_EQ(Code::kInvalidArgument, code_of(knowledge_.add(std::vector{document("", "text")})));
  EXPECT_EQ(0u, must(knowledge_.list()).total);
}

TEST_P(Knowledge, VectorsAreCheckedBeforeAnythingIsStored) {
  std::vector<KnowledgeDocument> documents;
  for (int i = 0; i < 2500; ++i) documents.push_back(document("d" + std::to_string(i), "text"));
  documents.front().embedding = {1, 2};
  documents.back().embedding = {1, 2, 3};  // far behind the first batch
  EXPECT_EQ(Code::kInvalidArgument, code_of(knowledge_.add(documents)));
  EXPECT_EQ(0u, must(knowledge_.list()).total);
}

TEST_P(Knowledge, HybridWithoutVectorsAnswersByWordsAndSaysSo) {
  add({document("d", "a word")});
  QueryOptions options;
  options.ranking.hybrid = true;
  const auto hits = must(knowledge_.query("word", 5, options));
  EXPECT_EQ(Ids{"d"}, ids_of(hits));
  EXPECT_FALSE(hits.is_hybrid);
  EXPECT_NE("", hits.note);
}

TEST_P(Knowledge, MadeAnewItAnswersTheSame) {
  add({document("d1", sentences(80, "whales")), document("d2", sentences(50, "sharks"), "Whales"),
       document("d3", "whales and sharks")});
  add({document("d1", sentences(70, "whales"))});
  const auto answers = [&] {
    std::vector<std::pair<std::string, double>> all;
    for (const char* query : {"whales", "sharks", "number 7 thing"}) {
      for (const KnowledgeHit& hit : must(knowledge_.query(query, 20)).items) {
        all.emplace_back(hit.document.id + "#" + std::to_string(hit.chunk), hit.score);
      }
    }
    return all;
  };
  const auto before = answers();
  ASSERT_GT(before.size(), 4u);
  must(knowledge_.reindex());
  EXPECT_EQ(before, answers());
}

INSTANTIATE_TEST_SUITE_P(Engines, Knowledge,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
