// Random histories against the model: the same calls, the same answers.
//
// A run prints its seed; QUIPU_TEST_SEED repeats it, QUIPU_TEST_SCALE multiplies
// the number of histories.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

#include "contract/random_history.h"

namespace quipu::test {
namespace {

double scale() {
  const char* text = std::getenv("QUIPU_TEST_SCALE");
  const double value = text == nullptr ? 1 : std::atof(text);
  return value > 0 ? value : 1;
}

std::uint64_t first_seed() {
  const char* text = std::getenv("QUIPU_TEST_SEED");
  if (text != nullptr) return std::strtoull(text, nullptr, 10);
  return std::random_device{}();
}

void check_histories(Engine engine, double histories) {
  const auto count = static_cast<std::uint64_t>(std::max(1.0, std::ceil(histories * scale())));
  const std::uint64_t first = first_seed();
  std::cout << count << " histories from QUIPU_TEST_SEED=" << first << std::endl;
  Tally tally;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t seed = first + i;
    const auto ops = random_ops(seed, 4 + seed % 28);
    const auto failure = [&] {
      const RandomStores stores(engine);
      return play(ops, stores.handles(), tally);
    }();
    if (failure.empty()) continue;
    const auto few = shrink(ops, engine);
    const RandomStores stores(engine);
    const auto small = play(few, stores.handles(), tally);
    FAIL() << "QUIPU_TEST_SEED=" << seed << " " << (small.empty() ? failure : small);
  }
  for (const auto& [answer, times] : tally) std::cout << "  " << answer << ": " << times << "\n";
  if (count < 500) return;
  // Histories that never meet a rule say nothing about it.
  for (const char* answer :
       {"append again", "append to the owning log", "append ok", "append bad_batch",
        "append fenced", "append head_moved", "append id_conflict", "append invalid_argument",
        "append not_found", "append partial_overlap", "append tail_moved", "append unknown_parent",
        "make ok", "make id_conflict", "make invalid_argument", "make not_found"}) {
    EXPECT_GE(tally[answer], 3u) << answer;
  }
}

TEST(Property, MemoryAnswersLikeTheModel) { check_histories(Engine::kMemory, 3000); }

TEST(Property, FilesAnswerLikeTheModel) { check_histories(Engine::kFile, 1100); }

TEST(Property, SqliteAnswersLikeTheModel) { check_histories(Engine::kSqlite, 700); }

TEST(Property, PostgresAnswersLikeTheModel) { check_histories(Engine::kPostgres, 200); }

// The comparison itself must be able to fail: a model in which one entry is
// not what was appended is told apart.
TEST(Property, ADifferenceIsSeen) {
  ModelStore one(kNow);
  ModelStore other(kNow);
  ASSERT_TRUE(one.create("s1").ok());
  ASSERT_TRUE(other.create("s1").ok());
  const std::vector<std::string> line = {R"({"id":"a","type":"message","payload":{"n":1}})"};
  const std::vector<std::string> changed = {R"({"id":"a","type":"message","payload":{"n":2}})"};
  ASSERT_TRUE(one.append("s1", line, {}).ok());
  ASSERT_TRUE(other.append("s1", changed, {}).ok());
  EXPECT_NE("", difference(one.view("s1").value(), other.view("s1").value()));
  EXPECT_EQ("", difference(one.view("s1").value(), one.view("s1").value()));
}

}  // namespace
}  // namespace quipu::test
