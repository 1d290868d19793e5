// One contract for every backend: all worked histories on all of them, and on
// the model itself, so that model and backends are held to the same stories.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/fresh_store.h"
#include "support/history.h"
#include "support/history_adopting_model.h"
#include "support/history_store.h"

namespace quipu::test {
namespace {

struct Subject {
  const char* name;
  std::optional<Engine> engine;  // nothing: the model
  Door door;
  bool reopen_each_step;
};

// A new backend is a line here, and a place in FreshStore.
constexpr Subject kSubjects[] = {
    {"model", std::nullopt, Door::kLines, false},
    {"memory_lines", Engine::kMemory, Door::kLines, false},
    {"memory_entries", Engine::kMemory, Door::kEntries, false},
    {"file_lines", Engine::kFile, Door::kLines, false},
    {"file_entries", Engine::kFile, Door::kEntries, false},
    {"file_lines_reopened", Engine::kFile, Door::kLines, true},
    {"file_entries_reopened", Engine::kFile, Door::kEntries, true},
    {"sqlite_lines", Engine::kSqlite, Door::kLines, false},
    {"sqlite_entries", Engine::kSqlite, Door::kEntries, false},
    {"sqlite_lines_reopened", Engine::kSqlite, Door::kLines, true},
    {"postgres_lines", Engine::kPostgres, Door::kLines, false},
    {"postgres_entries", Engine::kPostgres, Door::kEntries, false},
    {"postgres_lines_reopened", Engine::kPostgres, Door::kLines, true},
};

struct Case {
  Subject subject;
  History history;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.subject.name << " " << one.history.name;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& history : load_histories(QUIPU_SOURCE_DIR "/test/contract/histories")) {
    for (const auto& subject : kSubjects) {
      const bool takes_foreign = !subject.engine || subject.engine == Engine::kFile;
      if (history.needs_foreign && !takes_foreign) continue;
      cases.push_back({subject, history});
    }
  }
  return cases;
}

class Contract : public ::testing::TestWithParam<Case> {};

TEST_P(Contract, HistoryIsKept) {
  const auto& [subject, history] = GetParam();
  std::optional<FreshStore> fresh;
  std::unique_ptr<HistoryTarget> target;
  if (!subject.engine) {
    target = std::make_unique<AdoptingModel>(kNow);
  } else {
    fresh.emplace(*subject.engine);
    target = std::make_unique<StoreTarget>(fresh->url(), subject.door);
  }
  RunOptions options;
  options.reopen_each_step = subject.reopen_each_step;
  options.check_json = subject.door == Door::kLines;
  EXPECT_EQ("", run_history(history, *target, options));
}

std::string case_name(const ::testing::TestParamInfo<Case>& one) {
  return one.param.history.name + "_on_" + one.param.subject.name;
}

INSTANTIATE_TEST_SUITE_P(Histories, Contract, ::testing::ValuesIn(all_cases()), case_name);

TEST(Histories, ThereAreEnough) {
  const auto histories = load_histories(QUIPU_SOURCE_DIR "/test/contract/histories");
  EXPECT_GE(histories.size(), 24u);
}

// A runner that cannot fail proves nothing.
TEST(Histories, AWrongHistoryIsNoticed) {
  const auto run = [](std::vector<HistoryStep> steps) {
    AdoptingModel model(kNow);
    const History history{"wrong", std::move(steps), false};
    return run_history(history, model, {});
  };
  const HistoryStep create{1, {"create", "s1"}, "", false, {}};
  const HistoryStep append{2, {"append", "s1"}, "", false, {"msg a"}};
  const HistoryStep orphan{2, {"append", "s1"}, "", false, {"msg a < nowhere"}};
  EXPECT_EQ("", run({create, append, {3, {"tail", "s1"}, "a", true, {}}}));
  EXPECT_NE("", run({create, append, {3, {"tail", "s1"}, "b", true, {}}}));
  EXPECT_NE("", run({create, append, {3, {"entries", "s1"}, "a", true, {}}}));
  EXPECT_NE("", run({create, orphan}));
  EXPECT_NE("", run({create, orphan, {3, {"tail", "s1"}, "@s1", true, {}}}));
  EXPECT_EQ("", run({create, orphan, {3, {"expect", "error", "unknown_parent"}, "", false, {}}}));
  EXPECT_NE("", run({create, orphan, {3, {"expect", "error", "bad_batch"}, "", false, {}}}));
  EXPECT_NE("", run({create, append, {3, {"expect", "error", "bad_batch"}, "", false, {}}}));
  EXPECT_NE("", run({create, append, {3, {"expect", "ok", "appended=2"}, "", false, {}}}));
}

}  // namespace
}  // namespace quipu::test
