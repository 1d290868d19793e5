// Crashes a workload after each of its calls, in every way, and judges what is
// left; then does the same to the recovery from it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "fault/crash_judge.h"

namespace quipu::fault {

/// How the store was before the workload.
enum class Scene : unsigned char {
  kFresh,   // an empty disk; making the store is part of the workload
  kOne,     // one handle, cold; the log has a torn tail
  kTwo,     // two handles, both with the log open, taking turns
  kLegacy,  // the same, and the log is a file of another program
};
const char* name(Scene scene);

struct Workload {
  Scene scene = Scene::kOne;
  std::vector<Op> ops;
};
std::string name(const Workload& workload);
std::vector<Workload> all_workloads();

struct Tally {
  std::uint64_t workloads = 0;
  std::uint64_t points = 0;         // crash points, recoveries included
  std::uint64_t states = 0;         // point x policy x variant
  std::uint64_t collapsed = 0;      // of these: the policy cannot differ from another one here
  std::uint64_t images = 0;         // built
  std::uint64_t distinct = 0;       // of these: never seen with this expectation
  std::uint64_t recoveries = 0;     // run and judged
  std::uint64_t crashed_again = 0;  // of these: crashed at each of their calls as well
  /// A torn line and older bytes of its file made a whole JSON object by chance:
  /// without a seal it cannot be told from another program's line.
  std::uint64_t spliced = 0;
  std::vector<std::string> notes;
  std::map<std::string, std::uint64_t> by_policy;
  std::uint64_t violations = 0;
  std::vector<std::string> examples;

  void add(const Tally& other);
};

struct SweepOptions {
  std::uint64_t seed = 1;
  /// How many images of a policy that has a choice, in the workload and in the
  /// recovery; when there are no more than that, all of them.
  std::uint64_t variants = 4;
  std::uint64_t variants_again = 2;
  /// The recovery is crashed again from one in so many images of workloads of
  /// one, two and three calls.
  std::uint64_t again_one_in[4] = {1, 1, 4, 32};
};

class Sweep {
 public:
  explicit Sweep(const SweepOptions& options) : options_(options) {}

  /// Crashes the last call of the workload: the ones before it are workloads of
  /// their own.
  void run(const Workload& workload);
  /// Kills the process that makes the last call, after each of its calls; the
  /// other one goes on, and then the power goes.
  void run_killed_peer(const Workload& workload);

  const Tally& tally() const { return tally_; }

 private:
  class Points;
  void visit(const fs::SimDisk& disk, const Oracle& oracle, int level, std::uint64_t point,
             const std::string& where);
  void judge(fs::SimDisk image, const Oracle& oracle, int level, fs::DataLoss loss,
             const std::string& where);
  void complain(const std::string& where, const std::string& what, bool stale = false);

  SweepOptions options_;
  Tally tally_;
  std::unordered_set<std::uint64_t> seen_;
  const Keepsakes* kept_ = nullptr;
  bool index_matters_ = false;
  std::uint64_t again_one_in_ = 1;
};

}  // namespace quipu::fault
