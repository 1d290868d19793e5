// What stands beside hits, on every engine.
#include "contract/search_fixture.h"

namespace quipu::test {
namespace {

class SearchNeighbours : public SearchContract {};

TEST_P(SearchNeighbours, NeighboursLiftEachOther) {
  make("s");
  std::vector<NewEntry> entries;
  for (int i = 0; i < 40; ++i) {
    const bool has = i == 5 || i == 20 || i == 21;
    entries.push_back(message("e" + std::to_string(i), "user",
                              has ? "puma lives here now" : "nothing of note there"));
  }
  append("s", entries);
  auto hits = page("puma").items;
  ASSERT_EQ(3u, hits.size());
  EXPECT_EQ("e5", hits[2].entry_id);
  SearchOptions alone = kEverywhere;
  alone.neighbour_weight = 0;
  hits = page("puma", alone).items;
  EXPECT_DOUBLE_EQ(hits[0].score, hits[2].score);
}

INSTANTIATE_TEST_SUITE_P(Engines, SearchNeighbours,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
