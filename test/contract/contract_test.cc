// One contract for every backend: all worked histories on all of them, and on
// the model itself, so that model and backends are held to the same stories.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/history.h"
#include "support/history_adopting_model.h"
#include "support/history_store.h"

namespace quipu::test {
namespace {

struct Subject {
  const char* name;
  bool is_file;
  bool is_model;
  Door door;
  bool reopen_each_step;
};

// A new backend is a line here, and an `open` in StoreTarget.
constexpr Subject kSubjects[] = {
    {"model", false, true, Door::kLines, false},
    {"memory_lines", false, false, Door::kLines, false},
    {"memory_entries", false, false, Door::kEntries, false},
    {"file_lines", true, false, Door::kLines, false},
    {"file_entries", true, false, Door::kEntries, false},
    {"file_lines_reopened", true, false, Door::kLines, true},
    {"file_entries_reopened", true, false, Door::kEntries, true},
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
      const bool takes_foreign = subject.is_file || subject.is_model;
      if (history.needs_foreign && !takes_foreign) continue;
      cases.push_back({subject, history});
    }
  }
  return cases;
}

class Contract : public ::testing::TestWithParam<Case> {};

TEST_P(Contract, HistoryIsKept) {
  const auto& [subject, history] = GetParam();
  const ScratchDir scratch;
  std::unique_ptr<HistoryTarget> target;
  if (subject.is_model) {
    target = std::make_unique<AdoptingModel>(kNow);
  } else {
    target = std::make_unique<StoreTarget>(subject.is_file ? scratch.path() + "/store" : "",
                                           subject.door);
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
