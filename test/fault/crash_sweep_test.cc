// Every workload of up to three calls, crashed after every call to the file
// system under every policy, recovered, and crashed again during recovery.
//
// QUIPU_CRASH_WORKLOAD="one:append5,migrate two:append1" runs these only; a
// failure names its workload. QUIPU_CRASH_SEED changes the random images.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "fault/crash_sweep.h"

namespace quipu::fault {
namespace {

constexpr unsigned kThreads = 2;

void print(const Tally& tally) {
  const auto row = [](const char* what, std::uint64_t count) {
    std::printf("%-34s %14llu\n", what, static_cast<unsigned long long>(count));
  };
  std::printf("\n");
  row("workloads", tally.workloads);
  row("crash points (calls)", tally.points);
  row("judged states", tally.states);
  row("  of them nothing was unsynced", tally.collapsed);
  row("disk images built", tally.images);
  row("distinct images x expectation", tally.distinct);
  row("recoveries run and judged", tally.recoveries);
  row("  of them crashed again at each call", tally.crashed_again);
  for (const auto& [policy, count] : tally.by_policy) row(("  " + policy).c_str(), count);
  row("chance lines in stale blocks", tally.spliced);
  for (const std::string& note : tally.notes) std::printf("  %s\n", note.c_str());
  row("violations", tally.violations);
}

std::string environment(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? text : "";
}

SweepOptions sweep_options() {
  SweepOptions options;
  if (const std::string seed = environment("QUIPU_CRASH_SEED"); !seed.empty()) {
    options.seed = std::strtoull(seed.c_str(), nullptr, 10);
  }
  std::printf("seed %llu (QUIPU_CRASH_SEED)\n", static_cast<unsigned long long>(options.seed));
  return options;
}

// At less than full scale every k-th workload: the short ones come first.
std::vector<Workload> chosen_workloads() {
  const std::string only = environment("QUIPU_CRASH_WORKLOAD");
  const auto step = static_cast<std::size_t>(std::max(1.0, std::round(1 / test_scale())));
  std::vector<Workload> chosen;
  std::size_t number = 0;
  for (Workload& workload : all_workloads()) {
    const bool named = (' ' + only + ' ').find(' ' + name(workload) + ' ') != std::string::npos;
    const bool wanted = only.empty() ? number++ % step == 0 : named;
    if (wanted) chosen.push_back(std::move(workload));
  }
  return chosen;
}

template <class Work>
Tally in_threads(const std::vector<Workload>& workloads, const SweepOptions& options, Work work) {
  std::atomic<std::size_t> next = 0;
  std::vector<Tally> tallies(kThreads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Sweep sweep(options);
      for (std::size_t at = next++; at < workloads.size(); at = next++) work(sweep, workloads[at]);
      tallies[i] = sweep.tally();
    });
  }
  Tally total;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads[i].join();
    total.add(tallies[i]);
  }
  return total;
}

void expect_clean(const Tally& tally) {
  print(tally);
  for (const std::string& example : tally.examples) ADD_FAILURE() << example;
  EXPECT_EQ(tally.violations, 0u);
  EXPECT_LE(tally.spliced, 10 + tally.distinct / 100) << "these must be rare accidents";
}

TEST(CrashSweep, EveryWorkloadEveryCallEveryPolicy) {
  const auto workloads = chosen_workloads();
  ASSERT_FALSE(workloads.empty()) << "no workload of that name";
  const Tally tally =
      in_threads(workloads, sweep_options(), [](Sweep& sweep, const Workload& w) { sweep.run(w); });
  expect_clean(tally);
  if (test_scale() >= 1 && environment("QUIPU_CRASH_WORKLOAD").empty()) {
    EXPECT_GE(tally.states, 10'000'000u);
  }
}

TEST(CrashSweep, KilledProcessThenPowerCut) {
  // Longer workloads differ little in what one process leaves to the other.
  std::vector<Workload> workloads;
  std::size_t number = 0;
  for (Workload& workload : chosen_workloads()) {
    const bool named = !environment("QUIPU_CRASH_WORKLOAD").empty();
    if (named || workload.ops.size() <= 2 || number++ % 16 == 0) {
      workloads.push_back(std::move(workload));
    }
  }
  const Tally tally = in_threads(workloads, sweep_options(),
                                 [](Sweep& sweep, const Workload& w) { sweep.run_killed_peer(w); });
  expect_clean(tally);
}

}  // namespace
}  // namespace quipu::fault
