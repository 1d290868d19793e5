// Every workload of up to three calls on a store in a SQLite file, crashed after every call that
// changes the disk, under every policy; opened again, and for some crashed again meanwhile.
//
// QUIPU_CRASH_WORKLOAD="one:append5,tidy" runs these only; a failure names its workload.
// QUIPU_CRASH_SEED changes the random images.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_set>

#include "fault/sqlite_judge.h"

namespace quipu::fault {
namespace {

using fs::CrashPolicy;
using fs::DataLoss;
using fs::NameLoss;
using fs::SimCall;
using fs::SimDisk;

constexpr std::size_t kExamplesMax = 8;

enum class Step : unsigned char { kCreate, kAppend1, kAppend2, kAppend5, kBranch, kReopen, kTidy };
constexpr int kSteps = 7;
constexpr const char* kStepNames[kSteps] = {"create", "append1", "append2", "append5",
                                            "branch", "reopen",  "tidy"};

struct Workload {
  bool fresh = false;  // an empty disk: making the store is part of it
  std::vector<Step> steps;
};

std::string name(const Workload& workload) {
  std::string text = workload.fresh ? "fresh" : "one";
  char separator = ':';
  for (const Step step : workload.steps) {
    text += separator;
    text += kStepNames[static_cast<int>(step)];
    separator = ',';
  }
  return text;
}

// Short ones first. In an empty store the first thing is a session.
std::vector<Workload> all_workloads() {
  std::vector<Workload> all{{.fresh = true, .steps = {}},
                            {.fresh = true, .steps = {Step::kCreate}},
                            {.fresh = true, .steps = {Step::kCreate, Step::kAppend2}},
                            {.fresh = true, .steps = {Step::kCreate, Step::kTidy}}};
  std::vector<std::vector<Step>> longest{{}};
  for (int length = 1; length <= 3; ++length) {
    std::vector<std::vector<Step>> longer;
    for (const auto& shorter : longest) {
      for (int step = 0; step < kSteps; ++step) {
        longer.push_back(shorter);
        longer.back().push_back(static_cast<Step>(step));
      }
    }
    longest = std::move(longer);
    for (const auto& steps : longest) all.push_back({.fresh = false, .steps = steps});
  }
  return all;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u + b;
  z = (z ^ (z >> 31)) * 0x94d049bb133111ebu;
  return z ^ (z >> 29);
}

bool changes_disk(SimCall call) {
  switch (call) {
    case SimCall::kList:
    case SimCall::kStat:
    case SimCall::kReadAt:
    case SimCall::kFileStat:
    case SimCall::kMap:
    case SimCall::kTryLock:
    case SimCall::kUnlock:
      return false;
    default:
      return true;
  }
}

// The store that workloads begin with: a session, part of it in the log only.
struct Stage {
  SimDisk disk{kDatabaseBytesMax};
  Oracle oracle;
};

Stage make_stage() {
  Stage stage;
  SqliteProcess process(stage.disk.process(), 1);
  if (!process.open(true).ok()) std::abort();
  if (perform(process.handle(), stage.oracle, Op::kCreate, "s")) std::abort();
  if (perform(process.handle(), stage.oracle, Op::kAppend1, "s0")) std::abort();
  if (!process.tidy().ok()) std::abort();
  if (perform(process.handle(), stage.oracle, Op::kAppend1, "s1")) std::abort();
  stage.disk = stage.disk.crash({DataLoss::kEverything, NameLoss::kNone}, 0);
  return stage;
}

struct Options {
  std::uint64_t seed = 1;
  /// How many images of a policy that has a choice.
  std::uint64_t variants = 1;
  /// The recovery is crashed again from one in so many images.
  std::uint64_t again_one_in = 200;
};

struct Tally {
  std::uint64_t workloads = 0;
  std::uint64_t points = 0;
  std::uint64_t states = 0;
  std::uint64_t collapsed = 0;
  std::uint64_t distinct = 0;
  std::uint64_t crashed_again = 0;
  std::map<std::string, std::uint64_t> by_policy;
  std::uint64_t violations = 0;
};

class Sweep {
 public:
  explicit Sweep(const Options& options) : options_(options) {}

  // Crashes the last step of the workload: those before it are workloads of their own.
  void run(const Workload& workload) {
    ++tally_.workloads;
    seed_sqlite(1);
    static const Stage prepared = make_stage();
    Stage stage;
    if (!workload.fresh) stage = prepared;
    Points points(*this, stage, 1, name(workload));
    points.active = workload.fresh && workload.steps.empty();
    auto process = std::make_unique<SqliteProcess>(observed(stage.disk.process(), points), 2);
    auto opened = process->open(workload.fresh);
    Complaint wrong = opened.ok() ? Complaint() : Complaint(opened.error().message());
    for (std::size_t i = 0; i < workload.steps.size() && !wrong; ++i) {
      points.active = i + 1 == workload.steps.size();
      const Step step = workload.steps[i];
      if (step == Step::kReopen) {
        process = nullptr;
        process = std::make_unique<SqliteProcess>(observed(stage.disk.process(), points), 3 + i);
        opened = process->open();
      } else if (step == Step::kTidy) {
        opened = process->tidy();
      } else {
        wrong = perform(process->handle(), stage.oracle, static_cast<Op>(step), std::to_string(i));
      }
      if (!opened.ok()) wrong = opened.error().message();
    }
    points.point("at the end");
    points.active = false;
    if (wrong) complain(name(workload), *wrong);
  }

  const Tally& tally() const { return tally_; }

 private:
  // Visits the crash points of a run.
  class Points : public CallObserver {
   public:
    Points(Sweep& sweep, const Stage& stage, int level, std::string where)
        : Points(sweep, stage.disk, stage.oracle, level, std::move(where)) {}
    Points(Sweep& sweep, const SimDisk& disk, const Oracle& oracle, int level, std::string where)
        : sweep_(sweep), disk_(disk), oracle_(oracle), level_(level), where_(std::move(where)) {}

    void before(SimCall, const std::string&, std::string_view) override {}
    void after(SimCall call, const std::string& path) override {
      if (!active || !changes_disk(call)) return;
      ++calls_;
      point("after change " + std::to_string(calls_) + " " + std::string(fs::name(call)) + " " +
            path);
    }
    void point(const std::string& label) {
      ++sweep_.tally_.points;
      sweep_.visit(disk_, oracle_, level_, calls_, where_ + " | " + label);
    }

    bool active = true;

   private:
    Sweep& sweep_;
    const SimDisk& disk_;
    const Oracle& oracle_;
    int level_;
    std::string where_;
    std::uint64_t calls_ = 0;
  };

  void visit(const SimDisk& disk, const Oracle& oracle, int level, std::uint64_t point,
             const std::string& where) {
    const bool names = disk.unsynced_names();
    const bool data = disk.unsynced_data();
    for (const CrashPolicy& policy : fs::all_crash_policies()) {
      const bool killed = policy.data == DataLoss::kKilled;
      if (!killed && ((!names && policy.names != NameLoss::kAll) ||
                      (!data && policy.data != DataLoss::kNothing))) {
        ++tally_.states;
        ++tally_.collapsed;
        continue;
      }
      const std::uint64_t variants = killed ? 1 : disk.crash_variants(policy);
      for (std::uint64_t i = 0; i < std::min(variants, options_.variants); ++i) {
        const std::uint64_t seed = mix(mix(options_.seed, point), i);
        ++tally_.states;
        ++tally_.by_policy[fs::name(policy)];
        judge(disk.crash(policy, seed), oracle, level, killed,
              where + " | " + fs::name(policy) + " seed " + std::to_string(seed));
      }
    }
  }

  void judge(SimDisk image, const Oracle& oracle, int level, bool killed,
             const std::string& where) {
    std::uint64_t key =
        mix(image.fingerprint(), mix(oracle.digest(), static_cast<unsigned>(level)));
    if (killed) {
      key = mix(key, image.crash({DataLoss::kEverything, NameLoss::kNone}, 0).fingerprint());
    }
    if (!seen_.insert(key).second) return;
    ++tally_.distinct;
    Oracle expected = oracle;
    // The workload must not notice that it was interrupted.
    if (level == 1) sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SAVE);
    seed_sqlite(1 + level);
    Complaint wrong;
    if (level == 1 && key % options_.again_one_in == 0) {
      ++tally_.crashed_again;
      Points points(*this, image, expected, 2, where);
      wrong = recover_database(image, expected, 1, &points);
    } else {
      wrong = recover_database(image, expected, level, nullptr);
    }
    if (level == 1) sqlite3_test_control(SQLITE_TESTCTRL_PRNG_RESTORE);
    if (wrong) complain(where, *wrong);
  }

  void complain(const std::string& where, const std::string& what) {
    if (++tally_.violations <= kExamplesMax) ADD_FAILURE() << what << "\n      at " << where;
  }

  const Options options_;
  Tally tally_;
  std::unordered_set<std::uint64_t> seen_;
};

void print(const Tally& tally) {
  const auto row = [](const char* what, std::uint64_t count) {
    std::printf("%-34s %14llu\n", what, static_cast<unsigned long long>(count));
  };
  row("workloads", tally.workloads);
  row("crash points (calls)", tally.points);
  row("judged states", tally.states);
  row("  of them nothing was unsynced", tally.collapsed);
  row("distinct images x expectation", tally.distinct);
  row("  of them crashed again", tally.crashed_again);
  for (const auto& [policy, count] : tally.by_policy) row(("  " + policy).c_str(), count);
  row("violations", tally.violations);
}

std::string environment(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? text : "";
}

// Long ones are many, and differ little: at scale 1 every fourth, at less fewer of all.
std::vector<Workload> chosen_workloads() {
  const std::string only = " " + environment("QUIPU_CRASH_WORKLOAD") + " ";
  const double scale = test_scale();
  std::vector<Workload> chosen;
  double due = 0;
  for (Workload& workload : all_workloads()) {
    if (only.size() > 2) {
      if (only.find(" " + name(workload) + " ") != std::string::npos) chosen.push_back(workload);
      continue;
    }
    due += std::min(1.0, workload.steps.size() == 3 ? scale / 4 : scale);
    if (due < 1) continue;
    due -= 1;
    chosen.push_back(std::move(workload));
  }
  return chosen;
}

TEST(SqliteSweep, EveryCallEveryPolicy) {
  Options options;
  if (const std::string seed = environment("QUIPU_CRASH_SEED"); !seed.empty()) {
    options.seed = std::strtoull(seed.c_str(), nullptr, 10);
  }
  std::printf("seed %llu (QUIPU_CRASH_SEED)\n", static_cast<unsigned long long>(options.seed));
  options.variants = static_cast<std::uint64_t>(std::max(1.0, test_scale() / 4));
  const auto workloads = chosen_workloads();
  ASSERT_FALSE(workloads.empty()) << "no workload of that name";
  Sweep sweep(options);
  for (const Workload& workload : workloads) sweep.run(workload);
  print(sweep.tally());
  EXPECT_EQ(sweep.tally().violations, 0u);
}

}  // namespace
}  // namespace quipu::fault
