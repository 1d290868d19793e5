#include "fault/sqlite_judge.h"

#include <sqlite3.h>

#include <algorithm>

#include "backend/sql/sql_stores.h"
#include "base/try.h"
#include "sql/sqlite_engine.h"

namespace quipu::fault {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWait{100};

std::string said(const Error& error) {
  return std::string(name(error.code())) + ": " + error.message();
}

struct Rule {
  const char* what;
  sql::Text count;  // of what breaks it
};

constexpr Rule kRules[] = {
    {"a message without its entry, or an entry without its message",
     "SELECT abs((SELECT count(*) FROM messages) - (SELECT count(*) FROM entries"
     " WHERE type = 'message'))"},
    {"a part without its message, or a message without its part",
     "SELECT abs((SELECT count(*) FROM messages) - (SELECT count(*) FROM message_parts))"},
    {"a message that is not its entry's",
     "SELECT count(*) FROM entries e LEFT JOIN messages m ON m.session_id = e.session_id"
     " AND m.id = e.id AND m.seq = e.ordinal AND m.created_at = e.created_at"
     " LEFT JOIN message_parts p ON p.session_id = e.session_id AND p.message_id = e.id"
     " WHERE e.type = 'message' AND (m.role IS NOT 'user' OR json_extract(p.payload, '$.text')"
     " IS NOT json_extract(e.line, '$.payload.content'))"},
    {"a session without its log, or a log without its session",
     "SELECT abs((SELECT count(*) FROM sessions) - (SELECT count(*) FROM heads"
     " WHERE session_id NOT LIKE 'system/%'))"},
    {"a fork without its parent",
     "SELECT count(*) FROM sessions s LEFT JOIN lineage l ON l.session_id = s.id"
     " WHERE l.parent_session_id IS NOT s.parent_session_id"},
};

}  // namespace

Result<void> SqliteProcess::open(bool create) {
  return handle_.open_with(
      [&](Clock& clock, Random& random) -> Result<std::shared_ptr<sqlstore::SqlBackend>> {
        const sqlstore::SqliteFile file{
            .fs = fs_, .name = kDatabase, .path = kDatabase, .vfs = vfs_.name()};
        TRY_ASSIGN(auto primary, sqlstore::connections(file, create, clock, kWait));
        return sqlstore::SqlBackend::open(std::move(primary), {}, clock, random,
                                          {.create = create, .wait = kWait});
      });
}

Complaint SqliteProcess::check_tables() {
  sql::SqliteOptions options;
  options.read_only = true;
  options.vfs = vfs_.name();
  const auto engine = sql::open_sqlite(kDatabase, options);
  if (!engine.ok()) return "opening to look: " + said(engine.error());
  const auto sound = (*engine)->word("PRAGMA integrity_check");
  if (!sound.ok()) return "integrity_check: " + said(sound.error());
  if (*sound != "ok") return "integrity_check: " + sound->value_or("nothing");
  for (const Rule& rule : kRules) {
    const auto broken = (*engine)->number(rule.count);
    if (!broken.ok()) return "looking for " + std::string(rule.what) + ": " + said(broken.error());
    if (*broken != 0) return std::string(rule.what);
  }
  return std::nullopt;
}

Complaint recover_database(fs::SimDisk& disk, Oracle& oracle, int level, CallObserver* observer) {
  std::unique_ptr<fs::Fs> fs = disk.process();
  if (observer != nullptr) fs = observed(std::move(fs), *observer);
  SqliteProcess process(std::move(fs), static_cast<std::uint64_t>(10 + level));
  if (const auto opened = process.open(oracle.sessions.empty()); !opened.ok()) {
    return "opening: " + said(opened.error());
  }
  Handle& handle = process.handle();
  if (auto wrong = settle(handle.sessions(), oracle)) return wrong;
  if (oracle.in_flight) {
    const std::string& id = oracle.sessions[oracle.in_flight->session].id;
    const auto there = handle.sessions().describe_session(id);
    if (auto wrong = repeat(handle, oracle, there.ok())) return wrong;
  }
  const std::string key = "r" + std::to_string(level);
  if (oracle.sessions.empty()) {
    if (auto wrong = perform(handle, oracle, Op::kCreate, key)) return wrong;
  }
  if (auto wrong = perform(handle, oracle, Op::kAppend2, key)) return "afterwards: " + *wrong;
  const std::uint64_t before = oracle.digest();
  if (auto wrong = settle(handle.sessions(), oracle)) return "afterwards: " + *wrong;
  if (oracle.digest() != before) return "afterwards: a batch is missing";
  for (const ModelSession& session : oracle.sessions) {
    const auto report = handle.sessions().verify_session(session.id);
    if (!report.ok()) return "verify: " + said(report.error());
    if (report->problems.empty()) continue;
    return "verify: " + session.id + ": " + report->problems.front().detail;
  }
  return process.check_tables();
}

void seed_sqlite(int seed) {
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, seed, static_cast<sqlite3*>(nullptr));
}

}  // namespace quipu::fault
