// Fails the n-th call of a store in a SQLite file to the file system, for every call of every
// scenario, once and for ever, with short writes and failed syncs.
//
// Whatever happens: an error means absent (or says that it does not know) and names the trouble,
// success means present and durable, and when the trouble is over the store goes on: in the
// same handle, or, when nothing was certain any more, in a new one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "fault/sqlite_judge.h"

namespace quipu::fault {
namespace {

using fs::DataLoss;
using fs::FaultPlan;
using fs::NameLoss;
using fs::ShortWrite;
using fs::SimCall;
using fs::SimDisk;
using fs::SyncFailure;

constexpr int kErrors[] = {EINTR, ENOSPC, EIO};

using Act = std::function<Result<void>(SqliteProcess&, Oracle&)>;

struct Scenario {
  const char* name;
  bool fresh;  // an empty disk
  bool warm;   // the process has the session open
  Act act;
};

// Judges look at what is wrong, and this test at the code: "append of x failed: no_space: …".
Result<void> as_result(const Complaint& wrong) {
  if (!wrong) return {};
  for (const Code code : {Code::kNoSpace, Code::kIoError, Code::kDurabilityUnknown,
                          Code::kStorageGone, Code::kBusy, Code::kNoMemory}) {
    const std::string failed = std::string(name(code)) + ": ";
    if (wrong->find("failed: " + failed) != std::string::npos) return Error(code, *wrong);
  }
  return Error(Code::kInternal, *wrong);
}

Act does(Op op) {
  return [op](SqliteProcess& process, Oracle& oracle) {
    return as_result(perform(process.handle(), oracle, op, "x"));
  };
}

Result<void> appends_twice(SqliteProcess& process, Oracle& oracle) {
  auto first = as_result(perform(process.handle(), oracle, Op::kAppend2, "a"));
  if (!first.ok()) return first;
  return as_result(perform(process.handle(), oracle, Op::kAppend5, "b"));
}

Result<void> reads(SqliteProcess& process, Oracle& oracle) {
  for (ModelSession& session : oracle.sessions) {
    const auto found = process.handle().sessions().load_session_entries(session.id);
    if (!found.ok()) return found.error();
    std::size_t batches = 0;
    if (auto wrong = compare(session, *found, batches)) return Error(Code::kInternal, *wrong);
    if (batches != session.batches.size()) return Error(Code::kInternal, "a batch is missing");
  }
  return {};
}

Result<void> opens(SqliteProcess&, Oracle&) { return {}; }

Result<void> tidies(SqliteProcess& process, Oracle&) { return process.tidy(); }

Result<void> appends_relaxed(SqliteProcess& process, Oracle& oracle) {
  ModelSession& session = oracle.sessions[oracle.target];
  session.batches.push_back({.key = "lax", .size = 2, .reported = false});
  const auto entries = entries_of(session.batches.back());
  const auto done = process.handle().sessions().append_session_entries(
      session.id, entries, {.durability = Durability::kRelaxed});
  if (done.ok()) return {};
  if (done.error().code() != Code::kDurabilityUnknown) session.batches.pop_back();
  return done.error();
}

// What did not wait for the disk is durable when the store was closed, and not before.
Result<void> closes_relaxed(SqliteProcess& process, Oracle& oracle) {
  if (auto done = appends_relaxed(process, oracle); !done.ok()) return done;
  auto closed = process.tidy();
  if (closed.ok()) oracle.sessions[oracle.target].batches.back().reported = true;
  return closed;
}

// A commit after one that did not wait takes it along: the log has no holes.
Result<void> appends_after_relaxed(SqliteProcess& process, Oracle& oracle) {
  if (auto done = appends_relaxed(process, oracle); !done.ok()) return done;
  auto closed = process.tidy();
  auto done = as_result(perform(process.handle(), oracle, Op::kAppend2, "x"));
  return closed.ok() ? done : closed;
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      {"make the store and a session", true, false, does(Op::kCreate)},
      {"open", false, false, opens},
      {"create", false, false, does(Op::kCreate)},
      {"create, store open", false, true, does(Op::kCreate)},
      {"append", false, false, does(Op::kAppend1)},
      {"append, log open", false, true, does(Op::kAppend5)},
      {"append twice, log open", false, true, appends_twice},
      {"branch", false, true, does(Op::kBranch)},
      {"read", false, false, reads},
      {"take the log in", false, true, tidies},
      {"close after relaxed", false, true, closes_relaxed},
      {"append after relaxed", false, true, appends_after_relaxed},
  };
  return all;
}

struct Start {
  SimDisk disk{kDatabaseBytesMax};
  Oracle oracle;
};

const Start& start() {
  static const Start made = [] {
    Start start;
    SqliteProcess process(start.disk.process(), 1);
    if (!process.open(true).ok()) std::abort();
    if (perform(process.handle(), start.oracle, Op::kCreate, "s")) std::abort();
    if (perform(process.handle(), start.oracle, Op::kAppend2, "s0")) std::abort();
    return start;
  }();
  return made;
}

struct Case {
  const Scenario& scenario;
  FaultPlan plan;
  SimCall call{};
  std::string path{};
};

// A process on its disk that ran into the trouble of a plan.
struct Run {
  explicit Run(const Case& c, bool record = false) : process(nullptr) {
    if (!c.scenario.fresh) {
      disk = start().disk;
      oracle = start().oracle;
    }
    process = std::make_unique<SqliteProcess>(disk.process(), 2);
    if (c.scenario.warm) {
      if (!process->open().ok()) std::abort();
      if (perform(process->handle(), oracle, Op::kAppend1, "warm")) std::abort();
    }
    disk.record(record);
    disk.set_faults(c.plan);
    if (!c.scenario.warm) failed = process->open(c.scenario.fresh);
    if (failed.ok()) failed = c.scenario.act(*process, oracle);
    fired = disk.fault_fired();
    disk.set_faults({});
  }

  SimDisk disk{kDatabaseBytesMax};
  Oracle oracle;
  std::unique_ptr<SqliteProcess> process;
  Result<void> failed;
  bool fired = false;
};

bool writes(SimCall call) { return call == SimCall::kWriteAt || call == SimCall::kAppend; }

// The code says what is the matter.
Complaint judge_code(const Case& c, Code code) {
  if (code == Code::kDurabilityUnknown) return std::nullopt;
  const bool full = c.plan.error == ENOSPC;
  if (full && writes(c.call) && code != Code::kNoSpace) return "a full disk is no_space";
  if (code == Code::kIoError || (full && code == Code::kNoSpace)) return std::nullopt;
  return "unexpected";
}

// Whether the call that failed has left anything that the next process sees.
bool left_something(const SimDisk& disk, const Oracle& oracle) {
  if (!oracle.in_flight) return false;
  SimDisk copy(disk);
  SqliteProcess reader(copy.process(), 3);
  if (!reader.open().ok()) return false;
  const ModelSession& session = oracle.sessions[oracle.in_flight->session];
  const auto found = reader.handle().sessions().load_session_entries(session.id);
  if (!found.ok()) return false;
  ModelSession seen = session;
  std::size_t batches = 0;
  if (compare(seen, *found, batches)) return true;
  return session.batches.empty() || batches == session.batches.size();
}

// Half a page may be all that a commit changes, where an older log had the same page: then it is
// whole although its write failed. Without room a disk refuses to let a file grow, and behind the
// end of a file there is no older log; only one that copies what is overwritten comes here.
bool may_be_whole(const Case& c) {
  return c.plan.error == ENOSPC && c.plan.short_write == ShortWrite::kHalf &&
         c.path.ends_with("-wal");
}

Complaint power_cut(const SimDisk& disk, const Oracle& oracle, int level) {
  SimDisk after = disk.crash({DataLoss::kNothing, NameLoss::kAll}, 1);
  Oracle expected = oracle;
  return recover_database(after, expected, level, nullptr);
}

Complaint judge(const Case& c, bool& fired) {
  Run run(c);
  fired = run.fired;
  bool unknown = false;
  if (!run.failed.ok()) {
    const Error& error = run.failed.error();
    const std::string said = std::string(name(error.code())) + ": " + error.message();
    if (c.plan.error == EINTR) return "not transparent: " + said;
    if (auto wrong = judge_code(c, error.code())) return *wrong + ": " + said;
    unknown = error.code() == Code::kDurabilityUnknown;
    if (!unknown && !may_be_whole(c) && left_something(run.disk, run.oracle)) {
      return "the change is there: " + said;
    }
  }
  if (auto wrong = power_cut(run.disk, run.oracle, 1)) return "power cut: " + *wrong;
  // After a failed sync pages that are lost count as clean, and a later sync of the same bytes
  // proves nothing: what somebody else makes of them is outside what a store can promise.
  const bool is_sync = c.call == SimCall::kSync && c.plan.sync_failure == SyncFailure::kKept;
  // The trouble passes, and the same process goes on. One that could not have the lock of writers
  // is a reader.
  const bool goes_on = !run.failed.ok() && !unknown && run.process->handle().is_open() &&
                       c.call != SimCall::kSync && !c.path.ends_with(".lck");
  if (goes_on) {
    Oracle oracle = run.oracle;
    Complaint wrong = settle(run.process->handle().sessions(), oracle);
    oracle.in_flight.reset();
    oracle.target = 0;
    std::erase_if(oracle.sessions, [](const ModelSession& session) { return !session.reported; });
    const Op next = oracle.sessions.empty() ? Op::kCreate : Op::kAppend1;
    if (!wrong) wrong = perform(run.process->handle(), oracle, next, "on");
    if (wrong) return "going on: " + *wrong;
    return power_cut(run.disk, oracle, 1);
  }
  // Or another one does.
  run.process.reset();
  if (auto wrong = recover_database(run.disk, run.oracle, 1, nullptr)) return "later: " + *wrong;
  if (is_sync) return std::nullopt;
  if (auto wrong = power_cut(run.disk, run.oracle, 2)) return "later, then power cut: " + *wrong;
  return std::nullopt;
}

std::vector<FaultPlan> plans_for(SimCall call, std::uint64_t number) {
  std::vector<FaultPlan> plans;
  for (const int error : kErrors) {
    for (const bool persistent : {false, true}) {
      FaultPlan plan;
      plan.fail_at = number;
      plan.error = error;
      plan.persistent = persistent;
      // An interruption that never ends is a process that stands still.
      if (error == EINTR && persistent) continue;
      plans.push_back(plan);
      if (call == SimCall::kSync) {
        for (const auto how : {SyncFailure::kReverted, SyncFailure::kDone}) {
          plans.push_back(plan);
          plans.back().sync_failure = how;
        }
      }
      if (!writes(call) || error == EINTR) continue;
      plans.push_back(plan);
      plans.back().short_write = ShortWrite::kHalf;
    }
  }
  if (writes(call)) {
    FaultPlan plan;  // short, and nothing else
    plan.fail_at = number;
    plan.error = 0;
    plan.short_write = ShortWrite::kHalf;
    plans.push_back(plan);
  }
  return plans;
}

std::string describe(const Case& c, const fs::CallRecord& record) {
  std::string text = std::string(c.scenario.name) + ": call " + std::to_string(c.plan.fail_at) +
                     " (" + std::string(fs::name(record.call)) + " " + record.path + ") " +
                     std::strerror(c.plan.error);
  if (c.plan.persistent) text += ", for ever";
  if (c.plan.short_write != ShortWrite::kNone) text += ", after half of it";
  if (c.plan.sync_failure == SyncFailure::kReverted) text += ", pages reverted";
  if (c.plan.sync_failure == SyncFailure::kDone) text += ", but done";
  return text;
}

struct Table {
  std::map<std::string, std::map<std::string, std::uint64_t>> counts;  // call, errno
  std::uint64_t injections = 0;
  std::uint64_t sites = 0;
  std::map<std::string, std::uint64_t> complaints;
};

void run(const Scenario& scenario, Table& table) {
  const Run dry({scenario, {}}, true);
  ASSERT_TRUE(dry.failed.ok()) << scenario.name << ": " << dry.failed.error().message();
  const auto records = dry.disk.records();
  const auto step = static_cast<std::uint64_t>(std::max(1.0, std::round(1 / test_scale())));
  std::uint64_t number = 0;
  ASSERT_FALSE(records.empty()) << scenario.name;
  for (std::size_t i = 0; i < records.size(); ++i) {
    ++table.sites;
    for (const FaultPlan& plan : plans_for(records[i].call, i + 1)) {
      if (number++ % step != 0) continue;
      const Case c{scenario, plan, records[i].call, records[i].path};
      bool fired = false;
      const Complaint wrong = judge(c, fired);
      ++table.injections;
      EXPECT_TRUE(fired) << describe(c, records[i]);
      ++table.counts[std::string(fs::name(records[i].call))]
                    [plan.error == 0 ? "short" : strerrorname_np(plan.error)];
      if (!wrong) continue;
      if (++table.complaints[*wrong] <= 3) {
        ADD_FAILURE() << describe(c, records[i]) << "\n    " << *wrong;
      }
    }
  }
}

void print(const Table& table) {
  std::set<std::string> columns{"short"};
  for (const int error : kErrors) columns.insert(strerrorname_np(error));
  std::printf("\n%-16s", "call");
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
  std::printf("%llu injections at %llu call sites\n",
              static_cast<unsigned long long>(table.injections),
              static_cast<unsigned long long>(table.sites));
  for (const auto& [what, count] : table.complaints) {
    std::printf("  %6llu x %s\n", static_cast<unsigned long long>(count), what.c_str());
  }
}

TEST(SqliteFail, EveryCallEveryErrno) {
  Table table;
  for (const Scenario& scenario : scenarios()) {
    ASSERT_NO_FATAL_FAILURE(run(scenario, table));
  }
  print(table);
}

}  // namespace
}  // namespace quipu::fault
