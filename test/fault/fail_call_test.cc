// Fails the n-th call to the file system, for every call of every scenario,
// with every errno, once and for ever, with short writes and failed syncs.
//
// Whatever happens: an error means absent (or says that it does not know),
// success means present and durable, and when the trouble is over the session
// works as if nothing had been.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>

#include "fault/crash_judge.h"

namespace quipu::fault {
namespace {

using fs::CrashPolicy;
using fs::DataLoss;
using fs::FaultPlan;
using fs::NameLoss;
using fs::ShortWrite;
using fs::SimCall;
using fs::SimDisk;
using fs::SyncFailure;

constexpr int kErrors[] = {EINTR, ENOSPC, EDQUOT, EFBIG, EIO, EROFS, ESTALE, ENOMEM};

struct Scenario {
  const char* name;
  /// Has a handle that used the session before.
  bool warm;
  std::function<Complaint(Handle&, Oracle&, SimDisk&)> act;
};

Complaint reads(Handle& handle, Oracle& oracle, SimDisk&) {
  for (ModelSession& session : oracle.sessions) {
    const auto found = handle.sessions().load_session_entries(session.id);
    if (!found.ok()) return std::string(name(found.error().code()));
    std::size_t batches = 0;
    if (auto wrong = compare(session, *found, batches)) return "LIE: " + *wrong;
    if (batches != session.batches.size()) return "LIE: a batch is missing";
  }
  return std::nullopt;
}

Complaint closes(Handle& handle, Oracle&, SimDisk&) {
  const auto closed = handle.store().close();
  return closed.ok() ? Complaint() : Complaint(std::string(name(closed.error().code())));
}

Complaint appends_twice(Handle& handle, Oracle& oracle, SimDisk&) {
  if (auto wrong = perform(handle, oracle, Op::kAppend2, "a")) return wrong;
  return perform(handle, oracle, Op::kAppend5, "b");
}

std::function<Complaint(Handle&, Oracle&, SimDisk&)> does(Op op) {
  return
      [op](Handle& handle, Oracle& oracle, SimDisk&) { return perform(handle, oracle, op, "x"); };
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      {"create", false, does(Op::kCreate)},
      {"append", false, does(Op::kAppend1)},
      {"append, log open", true, does(Op::kAppend5)},
      {"append twice, log open", true, appends_twice},
      {"branch", false, does(Op::kBranch)},
      {"migrate", false, does(Op::kMigrate)},
      {"repair", false, does(Op::kRepair)},
      {"read", false, reads},
      {"read, log open", true, reads},
      {"close", true, closes},
  };
  return all;
}

// A session of ours with a torn tail and one of another program.
struct Start {
  SimDisk disk;
  Oracle oracle;
};

const Start& start() {
  static const Start made = [] {
    Start start;
    Handle handle(1);
    if (!handle.open(start.disk.process(), true).ok()) std::abort();
    NewSession ours;
    ours.id = "s";
    if (!handle.sessions().create_session(ours).ok()) std::abort();
    start.oracle.sessions.resize(2);
    start.oracle.sessions[0].id = "s";
    start.oracle.sessions[1].id = "m";
    for (ModelSession& session : start.oracle.sessions) session.reported = true;
    if (perform(handle, start.oracle, Op::kAppend2, "s0")) std::abort();
    const std::string line =
        R"({"id":"old","parentId":null,"type":"message","timestamp":"2025-01-01T00:00:00Z","payload":{"a":1}})";
    start.disk.write_file("sessions/m.jsonl", line + "\n");
    start.oracle.sessions[1].base.push_back({"old", R"({"a":1})"});
    const std::string path = "sessions/s.jsonl";
    start.disk.write_file(path, *start.disk.read_file(path) + R"({"id":"torn)");
    return start;
  }();
  return made;
}

struct Case {
  const Scenario& scenario;
  FaultPlan plan;
  bool is_sync = false;  // the call that fails
};

std::string describe(const Case& c, const std::string& call) {
  std::string text = std::string(c.scenario.name) + ": call " + std::to_string(c.plan.fail_at) +
                     " (" + call + ") " + std::strerror(c.plan.error);
  if (c.plan.persistent) text += ", for ever";
  if (c.plan.short_write != ShortWrite::kNone) {
    text += ", short write " + std::to_string(static_cast<int>(c.plan.short_write));
  }
  if (c.plan.sync_failure == SyncFailure::kReverted) text += ", pages reverted";
  if (c.plan.sync_failure == SyncFailure::kDone) text += ", but done";
  return text;
}

// Runs it with the faults of the plan; `disk` is left as the trouble left it.
Complaint act(const Case& c, SimDisk& disk, Oracle& oracle, bool record = false) {
  Handle handle(2);
  if (c.scenario.warm) {
    if (!handle.open(disk.process()).ok()) std::abort();
    if (auto wrong = perform(handle, oracle, Op::kAppend1, "warm")) return "warming up: " + *wrong;
  }
  disk.record(record);
  disk.set_faults(c.plan);
  Complaint failed;
  if (!c.scenario.warm) {
    const auto opened = handle.open(disk.process());
    if (!opened.ok()) failed = std::string(name(opened.error().code()));
  }
  if (!failed) failed = c.scenario.act(handle, oracle, disk);
  return failed;
}

// Whether the call that failed has left anything that is seen.
bool left_something(const SimDisk& disk, const Oracle& oracle) {
  if (!oracle.in_flight) return false;
  Handle reader(3);
  SimDisk copy(disk);
  if (!reader.open(copy.process()).ok()) return false;
  const InFlight& call = *oracle.in_flight;
  const ModelSession& session = oracle.sessions[call.session];
  if (call.op == Op::kCreate || call.op == Op::kBranch) {
    return copy.read_file("sessions/" + session.id + ".jsonl").has_value();
  }
  if (call.op == Op::kMigrate || call.op == Op::kRepair) return false;
  Oracle seen = oracle;
  const std::size_t before = session.batches.size();
  return !settle(reader.sessions(), seen) && seen.sessions[call.session].batches.size() == before;
}

Complaint judge(const Case& c, bool& fired) {
  SimDisk disk(start().disk);
  Oracle oracle = start().oracle;
  const Complaint failed = act(c, disk, oracle);
  fired = disk.fault_fired();
  if (failed && failed->starts_with("LIE")) return failed;
  const bool unknown = failed && failed->find("durability_unknown") != std::string::npos;
  if (failed && c.plan.error == EINTR && !c.plan.persistent) return "not transparent: " + *failed;
  disk.set_faults({});
  if (failed && !unknown && left_something(disk, oracle)) {
    return "P4: it said '" + *failed + "', and the change is there";
  }
  // A power cut right now.
  {
    SimDisk after = disk.crash({DataLoss::kNothing, NameLoss::kAll}, 1);
    Oracle expected = oracle;
    if (auto wrong = recover_and_judge(after, expected, 1, nullptr)) return "power cut: " + *wrong;
  }
  // Or the trouble passes, somebody else goes on, and then the power goes.
  SimDisk later(disk);
  if (auto wrong = recover_and_judge(later, oracle, 1, nullptr)) return "later: " + *wrong;
  // After a failed sync the kernel takes the pages for clean, and a later sync of
  // the same bytes proves nothing: outside what the store can promise.
  if (c.is_sync) return std::nullopt;
  SimDisk after = later.crash({DataLoss::kNothing, NameLoss::kAll}, 1);
  // What the failed sync left is not promised to anybody; what was reported is.
  if (auto wrong = recover_and_judge(after, oracle, 2, nullptr)) {
    return "later, then power cut: " + *wrong;
  }
  return std::nullopt;
}

struct Table {
  std::map<std::string, std::map<std::string, std::uint64_t>> counts;  // call, errno
  std::uint64_t injections = 0;
  std::uint64_t sites = 0;
  std::uint64_t sites_hit = 0;
  std::map<std::string, std::uint64_t> complaints;
};

std::vector<FaultPlan> plans_for(SimCall call, std::uint64_t number) {
  std::vector<FaultPlan> plans;
  const bool writes = call == SimCall::kAppend || call == SimCall::kWriteAt;
  const bool syncs = call == SimCall::kSync || call == SimCall::kSyncDir;
  for (const int error : kErrors) {
    for (const bool persistent : {false, true}) {
      FaultPlan plan;
      plan.fail_at = number;
      plan.error = error;
      plan.persistent = persistent;
      plans.push_back(plan);
      if (syncs) {
        for (const auto how : {SyncFailure::kReverted, SyncFailure::kDone}) {
          plans.push_back(plan);
          plans.back().sync_failure = how;
        }
      }
      if (!writes) continue;
      for (const auto cut : {ShortWrite::kOneByte, ShortWrite::kHalf, ShortWrite::kAllButOne}) {
        plans.push_back(plan);
        plans.back().short_write = cut;
      }
    }
  }
  for (const auto cut : {ShortWrite::kOneByte, ShortWrite::kHalf, ShortWrite::kAllButOne}) {
    if (!writes) break;
    FaultPlan plan;  // short, and nothing else
    plan.fail_at = number;
    plan.error = 0;
    plan.short_write = cut;
    plans.push_back(plan);
  }
  return plans;
}

void run(const Scenario& scenario, Table& table) {
  SimDisk dry(start().disk);
  Oracle oracle = start().oracle;
  const Complaint healthy = act({scenario, {}}, dry, oracle, true);
  ASSERT_FALSE(healthy) << scenario.name << ": " << *healthy;
  const auto records = dry.records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string call(fs::name(records[i].call));
    bool site_hit = false;
    ++table.sites;
    for (const FaultPlan& plan : plans_for(records[i].call, i + 1)) {
      const Case c{scenario, plan, records[i].call == fs::SimCall::kSync};
      bool fired = false;
      const Complaint wrong = judge(c, fired);
      ++table.injections;
      if (fired) ++table.counts[call][plan.error == 0 ? "short" : strerrorname_np(plan.error)];
      site_hit = site_hit || fired;
      if (!wrong) continue;
      const std::string text = describe(c, call + " " + records[i].path) + "\n    " + *wrong;
      if (++table.complaints[*wrong] <= 3) ADD_FAILURE() << text;
    }
    EXPECT_TRUE(site_hit) << scenario.name << ", call " << i + 1;
    if (site_hit) ++table.sites_hit;
  }
}

void print(const Table& table) {
  std::printf("\n%-16s", "call");
  std::vector<std::string> columns;
  for (const int error : kErrors) columns.emplace_back(strerrorname_np(error));
  columns.emplace_back("short");
  for (const auto& column : columns) std::printf("%9s", column.c_str());
  std::printf("\n");
  for (const auto& [call, counts] : table.counts) {
    std::printf("%-16s", call.c_str());
    for (const auto& column : columns) {
      const auto found = counts.find(column);
      const auto count = found == counts.end() ? 0 : found->second;
      std::printf("%9llu", static_cast<unsigned long long>(count));
    }
    std::printf("\n");
  }
  std::printf("%llu injections, %llu of %llu call sites hit\n",
              static_cast<unsigned long long>(table.injections),
              static_cast<unsigned long long>(table.sites_hit),
              static_cast<unsigned long long>(table.sites));
  for (const auto& [what, count] : table.complaints) {
    std::printf("  %6llu x %s\n", static_cast<unsigned long long>(count), what.c_str());
  }
}

TEST(FailCall, EveryCallEveryErrno) {
  Table table;
  for (const Scenario& scenario : scenarios()) {
    ASSERT_NO_FATAL_FAILURE(run(scenario, table));
  }
  print(table);
  EXPECT_EQ(table.sites, table.sites_hit);
}

}  // namespace
}  // namespace quipu::fault
