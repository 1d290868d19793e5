#include "fault/crash_sweep.h"

#include <algorithm>

namespace quipu::fault {
namespace {

using fs::CrashPolicy;
using fs::DataLoss;
using fs::NameLoss;
using fs::SimCall;
using fs::SimDisk;

constexpr std::size_t kExamplesMax = 12;

const std::string kOldFile =
    R"({"id":"old-0","parentId":null,"type":"message","timestamp":"2025-01-01T00:00:00Z","payload":{"role":"user","content":"one"}})"
    "\n"
    R"({"id":"old-1","parentId":"old-0","type":"message","timestamp":"2025-01-01T00:00:01Z","payload":{"role":"assistant","content":"two"}})"
    "\n"
    R"({"type":"user","content":"flat"})"
    "\n";
constexpr const char* kTornTail = R"({"id":"torn","type":"message","pa)";

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u + b;
  z = (z ^ (z >> 31)) * 0x94d049bb133111ebu;
  return z ^ (z >> 29);
}

// The store every workload begins with, and what is in it.
struct Stage {
  SimDisk disk;
  Oracle oracle;
};

// `m` is a file of another program, `s` one of ours.
Stage make_stage(bool torn, bool legacy) {
  Stage stage;
  Handle handle(1);
  if (!handle.open(stage.disk.process(), true).ok()) std::abort();
  Oracle& oracle = stage.oracle;
  oracle.sessions.resize(1);
  oracle.sessions[0].id = "s";
  oracle.sessions[0].reported = true;
  NewSession ours;
  ours.id = "s";
  if (!handle.sessions().create_session(ours).ok()) std::abort();
  if (perform(handle, oracle, Op::kAppend1, "s0")) std::abort();
  stage.disk.write_file("sessions/m.jsonl", kOldFile);
  const auto entries = handle.sessions().load_session_entries("m");
  ModelSession old;
  old.id = "m";
  old.reported = true;
  for (const Entry& entry : *entries) old.base.push_back({entry.id, entry.payload});
  oracle.sessions.push_back(std::move(old));
  handle.drop();
  oracle.unsealed = legacy;
  oracle.target = legacy ? 1 : 0;
  const std::string path = "sessions/" + oracle.sessions[oracle.target].id + ".jsonl";
  if (torn) stage.disk.write_file(path, *stage.disk.read_file(path) + kTornTail);
  // The machine was started anew since.
  stage.disk = stage.disk.crash({DataLoss::kEverything, NameLoss::kNone}, 0);
  return stage;
}

const Stage& stage_of(Scene scene) {
  static const Stage fresh;
  static const Stage one = make_stage(true, false);
  static const Stage two = make_stage(false, false);
  static const Stage legacy = make_stage(false, true);
  switch (scene) {
    case Scene::kFresh:
      return fresh;
    case Scene::kOne:
      return one;
    case Scene::kTwo:
      return two;
    case Scene::kLegacy:
      return legacy;
  }
  return fresh;
}

bool is_pair(Scene scene) { return scene == Scene::kTwo || scene == Scene::kLegacy; }

bool is_stale(DataLoss loss) {
  return loss == DataLoss::kBlocks512Stale || loss == DataLoss::kBlocks4096Stale;
}

bool is_index(std::string_view file) { return file.ends_with(".idx"); }

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

}  // namespace

const char* name(Scene scene) {
  static constexpr const char* kNames[] = {"fresh", "one", "two", "legacy"};
  return kNames[static_cast<int>(scene)];
}

std::string name(const Workload& workload) {
  std::string text = name(workload.scene);
  char separator = ':';
  for (const Op op : workload.ops) {
    text += separator;
    text += name(op);
    separator = ',';
  }
  return text;
}

std::vector<Workload> all_workloads() {
  std::vector<Workload> all;
  for (const Scene scene : {Scene::kFresh, Scene::kOne, Scene::kTwo, Scene::kLegacy}) {
    std::vector<std::vector<Op>> longest{{}};
    // In an empty store there is nothing to migrate, repair or fork.
    if (scene == Scene::kFresh) all.push_back({scene, {}});
    for (int length = 1; length <= 3; ++length) {
      std::vector<std::vector<Op>> longer;
      for (const auto& shorter : longest) {
        for (int op = 0; op < kOps; ++op) {
          if (scene == Scene::kFresh && (shorter.empty() ? op != 0 : op == 5)) continue;
          longer.push_back(shorter);
          longer.back().push_back(static_cast<Op>(op));
        }
      }
      longest = std::move(longer);
      for (const auto& ops : longest) all.push_back({scene, ops});
    }
  }
  return all;
}

void Tally::add(const Tally& other) {
  workloads += other.workloads;
  points += other.points;
  states += other.states;
  collapsed += other.collapsed;
  images += other.images;
  distinct += other.distinct;
  recoveries += other.recoveries;
  crashed_again += other.crashed_again;
  spliced += other.spliced;
  notes.insert(notes.end(), other.notes.begin(), other.notes.end());
  violations += other.violations;
  for (const auto& [policy, count] : other.by_policy) by_policy[policy] += count;
  for (const auto& example : other.examples) {
    if (examples.size() < kExamplesMax) examples.push_back(example);
  }
}

// Visits the crash points of a run.
class Sweep::Points : public CallObserver {
 public:
  Points(Sweep& sweep, SimDisk& disk, const Oracle& oracle, int level, std::string where)
      : sweep_(sweep), disk_(disk), oracle_(oracle), level_(level), where_(std::move(where)) {}

  void before(SimCall call, const std::string& path, std::string_view bytes) override {
    if (!active) return;
    // Stores through a mapping are no calls; they show in the next one.
    const std::uint64_t now = live_fingerprint();
    if (now != last_) {
      last_ = now;
      point("before " + label(call, path));
    }
    if (call == SimCall::kAppend && !path.empty() && !bytes.empty()) {
      for (const std::size_t part : {std::size_t{1}, bytes.size() / 2, bytes.size() - 1}) {
        partial(path, bytes.substr(0, part));
      }
    }
  }
  void after(SimCall call, const std::string& path) override {
    if (!active) return;
    ++calls_;
    if (changes_disk(call)) last_ = live_fingerprint();
    point("after " + label(call, path));
  }

  void point(const std::string& label) {
    ++sweep_.tally_.points;
    sweep_.visit(disk_, oracle_, level_, calls_, where_ + " | " + label);
  }
  std::uint64_t calls() const { return calls_; }

  bool active = true;

 private:
  std::string label(SimCall call, const std::string& path) const {
    return "call " + std::to_string(calls_) + " " + std::string(fs::name(call)) + " " + path;
  }
  std::uint64_t live_fingerprint() const {
    return disk_.crash({DataLoss::kEverything, NameLoss::kNone}, 0).fingerprint();
  }
  // A process that is killed in the middle of a write.
  void partial(const std::string& path, std::string_view bytes) {
    SimDisk image = disk_.crash({DataLoss::kKilled, NameLoss::kNone}, 0);
    {
      const auto process = image.process();
      auto file = process->open(path, fs::OpenMode::kAppend);
      if (!file.ok() || !file.value()->append(bytes).ok()) return;
    }
    ++sweep_.tally_.points;
    ++sweep_.tally_.states;
    ++sweep_.tally_.by_policy["killed in a write"];
    sweep_.judge(std::move(image), oracle_, level_, DataLoss::kKilled,
                 where_ + " | killed in " + label(SimCall::kAppend, path) + " after " +
                     std::to_string(bytes.size()) + " bytes");
  }

  Sweep& sweep_;
  SimDisk& disk_;
  const Oracle& oracle_;
  int level_;
  std::string where_;
  std::uint64_t calls_ = 0;
  std::uint64_t last_ = 0;
};

void Sweep::visit(const SimDisk& disk, const Oracle& oracle, int level, std::uint64_t point,
                  const std::string& where) {
  const bool names = disk.unsynced_names();
  const bool data = disk.unsynced_data();
  const std::uint64_t most = level == 1 ? options_.variants : options_.variants_again;
  for (const CrashPolicy& policy : fs::all_crash_policies()) {
    const bool killed = policy.data == DataLoss::kKilled;
    // A line without a seal in a block that shows older bytes of its file looks
    // like a new one: nothing can be promised for such files then.
    if (oracle.unsealed && is_stale(policy.data)) continue;
    if (!killed && ((!names && policy.names != NameLoss::kAll) ||
                    (!data && policy.data != DataLoss::kNothing))) {
      ++tally_.states;
      ++tally_.collapsed;
      ++tally_.by_policy[name(policy)];
      continue;
    }
    const std::uint64_t variants = killed ? 1 : disk.crash_variants(policy);
    const std::uint64_t count = std::min(variants, most);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t seed = mix(mix(options_.seed, point), i);
      SimDisk image = variants <= most ? disk.crash_variant(policy, i) : disk.crash(policy, seed);
      ++tally_.states;
      ++tally_.by_policy[name(policy)];
      judge(std::move(image), oracle, level, policy.data,
            where + " | " + name(policy) + (variants <= most ? " variant " : " seed ") +
                std::to_string(variants <= most ? i : seed));
    }
  }
}

void Sweep::judge(SimDisk image, const Oracle& oracle, int level, DataLoss loss,
                  const std::string& where) {
  const bool killed = loss == DataLoss::kKilled;

  ++tally_.images;
  // After a power cut an index counts only if it was closed; only there do its
  // bytes make a difference. index_damage_test looks at all the others.
  const auto ignored = killed || index_matters_ ? nullptr : is_index;
  std::uint64_t key = mix(mix(image.fingerprint(ignored), oracle.digest()),
                          static_cast<std::uint64_t>(level) * 2 + (killed ? 1 : 0));
  if (killed) {
    key = mix(key, image.crash({DataLoss::kEverything, NameLoss::kNone}, 0).fingerprint());
  }
  // An index belongs to an inode, which no fingerprint shows.
  if (const auto stat = image.process()->stat("sessions/m.jsonl"); stat.ok()) {
    key = mix(key, stat->identity.inode);
  }
  if (!seen_.insert(key).second) return;
  ++tally_.distinct;
  ++tally_.recoveries;
  Oracle expected = oracle;
  if (level == 2) {
    if (kept_ != nullptr) {
      if (const auto wrong = check_kept(image, *kept_)) complain(where, *wrong, is_stale(loss));
    }
    if (const auto wrong = recover_and_judge(image, expected, 2, nullptr))
      complain(where, *wrong, is_stale(loss));
    return;
  }
  if (again_one_in_ > 1 && key % again_one_in_ != 0) {
    if (const auto wrong = recover_and_judge(image, expected, 1, nullptr))
      complain(where, *wrong, is_stale(loss));
    return;
  }
  ++tally_.crashed_again;
  const Keepsakes kept = keep_logs(image, oracle);
  kept_ = &kept;
  Points points(*this, image, expected, 2, where);
  points.point("recovery not begun");
  const auto wrong = recover_and_judge(image, expected, 1, &points);
  points.active = false;
  kept_ = nullptr;
  if (wrong) complain(where, *wrong, is_stale(loss));
}

void Sweep::complain(const std::string& where, const std::string& what, bool stale) {
  if (stale && what.find(kSpliced) != std::string::npos) {
    if (++tally_.spliced <= 3) tally_.notes.push_back(what + " at " + where);
    return;
  }
  ++tally_.violations;
  if (tally_.examples.size() < kExamplesMax)
    tally_.examples.push_back(what + "\n      at " + where);
}

namespace {

// The handles of a workload on its disk.
struct Run {
  explicit Run(Scene which) : scene(which), stage(stage_of(which)) {}

  Complaint begin(CallObserver* observer) {
    for (int i = 0; i < (is_pair(scene) ? 2 : 1); ++i) {
      if (auto wrong = open(i, observer)) return wrong;
      if (!is_pair(scene)) continue;
      // Both have the log open, and an index that the other one changes.
      if (auto wrong = perform(*handles[i], stage.oracle, Op::kAppend1, "w" + std::to_string(i))) {
        return wrong;
      }
    }
    return std::nullopt;
  }
  Complaint open(int which, CallObserver* observer) {
    std::unique_ptr<fs::SimFs> process = stage.disk.process();
    processes[which] = process.get();
    std::unique_ptr<fs::Fs> fs = std::move(process);
    if (observer != nullptr) fs = observed(std::move(fs), *observer);
    handles[which] = std::make_unique<Handle>(static_cast<std::uint64_t>(2 + which));
    const auto opened = handles[which]->open(std::move(fs), scene == Scene::kFresh);
    return opened.ok() ? Complaint() : Complaint("opening: " + opened.error().message());
  }
  int turn(std::size_t number) const { return is_pair(scene) ? static_cast<int>(number % 2) : 0; }
  Complaint step(std::size_t number, Op op, CallObserver* observer) {
    const int which = turn(number);
    if (op != Op::kClose) {
      return perform(*handles[which], stage.oracle, op, std::to_string(number));
    }
    const auto closed = handles[which]->store().close();
    if (!closed.ok()) return "close: " + closed.error().message();
    return open(which, observer);
  }

  Scene scene;
  Stage stage;
  std::unique_ptr<Handle> handles[2];
  fs::SimFs* processes[2] = {};
};

}  // namespace

void Sweep::run(const Workload& workload) {
  ++tally_.workloads;
  const std::string where = name(workload);
  again_one_in_ = options_.again_one_in[workload.ops.size()];
  index_matters_ = !workload.ops.empty() && workload.ops.back() == Op::kClose;
  Run run(workload.scene);
  Points points(*this, run.stage.disk, run.stage.oracle, 1, where);
  // Opening belongs to the shortest workload that does it.
  const std::size_t last = workload.ops.empty() ? 0 : workload.ops.size() - 1;
  points.active = !is_pair(workload.scene) && last == 0;
  Complaint wrong = run.begin(&points);
  for (std::size_t i = 0; i < workload.ops.size() && !wrong; ++i) {
    points.active = i == last;
    wrong = run.step(i, workload.ops[i], &points);
  }
  if (!wrong && points.active) points.point("at the end");
  points.active = false;
  if (wrong) complain(where, *wrong);
  for (auto& handle : run.handles) handle.reset();
}

void Sweep::run_killed_peer(const Workload& workload) {
  if (!is_pair(workload.scene) || workload.ops.empty()) return;
  const std::size_t last = workload.ops.size() - 1;
  bool finished = false;
  for (std::uint64_t call = 0; !finished; ++call) {
    for (const std::size_t bytes : {fs::FaultPlan::kWhole, std::size_t{100}, std::size_t{600}}) {
      const std::string where =
          name(workload) + " | its process killed after call " + std::to_string(call) +
          (bytes == fs::FaultPlan::kWhole ? "" : " of which " + std::to_string(bytes) + " bytes") +
          ", the other goes on";
      Run run(workload.scene);
      Oracle& oracle = run.stage.oracle;
      Points points(*this, run.stage.disk, oracle, 2, where);
      points.active = false;
      Complaint wrong = run.begin(&points);
      for (std::size_t i = 0; i < last && !wrong; ++i) {
        wrong = run.step(i, workload.ops[i], &points);
      }
      if (wrong) return complain(where, *wrong);
      const int victim = run.turn(last);
      run.processes[victim]->set_faults({.crash_after = call, .crash_bytes = bytes});
      fs::SimFs* const process = run.processes[victim];
      wrong = run.step(last, workload.ops[last], nullptr);
      if (workload.ops[last] == Op::kClose || !process->dead()) finished = true;
      if (!wrong) break;
      Handle& other = *run.handles[1 - victim];
      wrong = settle(other.sessions(), oracle);
      oracle.in_flight.reset();
      forget_lost_session(run.stage.disk, oracle);
      points.active = true;
      if (!wrong) {
        wrong = call % 2 == 0 ? perform(other, oracle, Op::kAppend5, "k")
                              : branch_newest(other, oracle, "k");
      }
      if (!wrong) points.point("at the end");
      points.active = false;
      if (wrong) complain(where, *wrong);
    }
  }
}

}  // namespace quipu::fault
