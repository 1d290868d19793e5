// WordPlaces: what ranks a document in PostgreSQL, as bytes.
#include "search/word_places.h"

#include <gtest/gtest.h>

namespace quipu::search {
namespace {

using Words = std::map<std::string, std::vector<Place>>;

// Text and context of each term, in the order of the terms; -1: not found.
std::vector<std::pair<int, int>> counts(const Query& query, std::string_view bytes) {
  const Terms terms(query);
  TermFinder finder(terms);
  std::vector<std::pair<int, int>> counts(terms.size(), {-1, -1});
  for (const Found& found : finder.found_in(bytes)) {
    counts[found.term] = {static_cast<int>(found.occurrence.in_text),
                          static_cast<int>(found.occurrence.in_context)};
  }
  return counts;
}
using Counts = std::vector<std::pair<int, int>>;

const Words kWords{{"heron", {{1}, {4}, {500, true}}},
                   {"her", {{7}}},
                   {"pond", {{2}, {501, true}}},
                   {"pool", {{5}, {9}}},
                   {"zander", {{70000}}}};

TEST(WordPlaces, CountsWordsPhrasesAndBeginnings) {
  Query query;
  query.any = {{.tokens = {"heron"}},
               {.tokens = {"pond"}},
               {.tokens = {"zander"}},
               {.tokens = {"wren"}},
               {.tokens = {"heron", "pond"}},
               {.tokens = {"pond", "heron"}},
               {.tokens = {"her"}, .is_prefix = true},
               {.tokens = {"heron", "po"}, .is_prefix = true},
               {.tokens = {"pools"}, .is_prefix = true, .stems = {"pool"}}};
  const std::string bytes = word_places(kWords);
  EXPECT_EQ(counts(query, bytes),
            (Counts{{2, 1}, {1, 1}, {1, 0}, {-1, -1}, {1, 1}, {-1, -1}, {3, 1}, {2, 1}, {2, 0}}));
}

TEST(WordPlaces, AFinderLooksAtOneDocumentAfterTheOther) {
  Query query;
  query.any = {{.tokens = {"heron"}}, {.tokens = {"wren"}}};
  const Terms terms(query);
  TermFinder finder(terms);
  EXPECT_EQ(finder.found_in(word_places({{"wren", {{1}}}})).size(), 1u);
  const auto& second = finder.found_in(word_places(kWords));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second.front().term, 0u);
  EXPECT_TRUE(finder.found_in(word_places({{"owl", {{1}}}})).empty());
  EXPECT_TRUE(finder.found_in("").empty());
}

TEST(WordPlaces, OfVeryManyWordsTheCountsAreKept) {
  Words words = kWords;
  for (std::size_t i = 0; i < kPlacesBytesMax / 4; ++i) words["w" + std::to_string(i)] = {{1}};
  Query query;
  query.any = {
      {.tokens = {"heron"}}, {.tokens = {"heron", "pond"}}, {.tokens = {"her"}, .is_prefix = true}};
  EXPECT_EQ(counts(query, word_places(words)), (Counts{{2, 1}, {-1, -1}, {3, 1}}));
}

TEST(WordPlaces, AnyBytesAreRead) {
  Query query;
  query.any = {{.tokens = {"heron", "pond"}}, {.tokens = {"po"}, .is_prefix = true}};
  const std::string whole = word_places(kWords);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    counts(query, whole.substr(0, i));
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = byte;
      counts(query, damaged);
    }
  }
}

}  // namespace
}  // namespace quipu::search
