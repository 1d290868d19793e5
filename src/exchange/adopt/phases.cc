#include "exchange/adopt/phases.h"

#include "base/try.h"
#include "exchange/adopt/parts.h"
#include "exchange/adopt/steps.h"
#include "quipu/version.h"

namespace quipu::adoption {
namespace {

Result<bool> is_recorded(sql::Connection& connection, int phase) {
  TRY_ASSIGN(const Schema schema, Schema::read(connection));
  if (!schema.has("quipu_adoption")) return false;
  TRY_ASSIGN(const auto found, connection.number("SELECT 1 FROM quipu_adoption WHERE phase = " +
                                                 std::to_string(phase)));
  return found.has_value();
}

Result<void> record(sql::Connection& connection, int phase) {
  TRY(connection.execute(
      "CREATE TABLE IF NOT EXISTS quipu_adoption (phase INTEGER PRIMARY KEY, "
      "adopted_at TEXT NOT NULL DEFAULT (datetime('now')), version TEXT NOT NULL)"));
  return connection.execute("INSERT OR REPLACE INTO quipu_adoption (phase, version) VALUES (" +
                            std::to_string(phase) + ", '" + std::string(kVersion) + "')");
}

// In a transaction of the caller's.
Result<std::vector<AdoptChange>> run_steps(sql::Connection& connection, int phase) {
  TRY_ASSIGN(const Schema schema, Schema::read(connection));
  std::vector<AdoptChange> changes;
  for (const Step& step : phase_steps(phase, schema)) {
    if (auto done = connection.execute(step.sql); !done.ok()) {
      return std::move(done).error().in(step.what);
    }
    std::uint64_t count = 1;
    if (step.fills_rows) {
      TRY_ASSIGN(const auto rows, connection.number("SELECT changes()"));
      count = static_cast<std::uint64_t>(rows.value_or(0));
    }
    if (count != 0) changes.push_back({.what = step.what, .count = count});
  }
  return changes;
}

Error unlike(const std::string& what) {
  return Error(Code::kCorrupt, what)
      .with_hint("the phase was taken back, the file is as it was before it");
}

// Parts against content, message by message. Those that somebody else wrote are none of ours.
Result<void> check_parts(sql::Connection& connection) {
  TRY_ASSIGN(
      sql::Statement rows,
      connection.prepare("SELECT m.rowid, m.id, m.content, p.payload, "
                         "p.id IS p.seq || ':' || m.id FROM messages m CROSS JOIN message_parts p "
                         "ON p.message_id = m.id ORDER BY m.rowid, p.seq, p.rowid"));
  std::int64_t message = 0;
  std::string id;
  std::string content;
  std::vector<std::string> payloads;
  bool are_ours = true;
  const auto check = [&]() -> Result<void> {
    if (payloads.empty() || !are_ours || parts_say(content, payloads)) return {};
    return unlike("the parts of message " + id + " do not say what it says");
  };
  for (;;) {
    TRY_ASSIGN(const bool found, rows.step());
    if (!found) return check();
    if (payloads.empty() || rows.integer(0) != message) {
      TRY(check());
      message = rows.integer(0);
      id = rows.text(1);
      content = rows.text(2);
      payloads.clear();
      are_ours = true;
    }
    payloads.emplace_back(rows.text(3));
    are_ours = are_ours && rows.integer(4) != 0;
  }
}

// How many rows there are that no phase may add to or take from.
Result<std::vector<std::int64_t>> counts(sql::Connection& connection) {
  std::vector<std::int64_t> counts;
  for (const char* table : {"chat_sessions", "messages"}) {
    TRY_ASSIGN(const auto rows, connection.number("SELECT count(*) FROM " + std::string(table)));
    counts.push_back(rows.value_or(0));
  }
  return counts;
}

Result<void> check_phase(sql::Connection& connection, int phase) {
  TRY_ASSIGN(const Schema schema, Schema::read(connection));
  for (const Step& fault : phase_faults(phase, schema)) {
    TRY_ASSIGN(const auto rows, connection.number(fault.sql));
    if (rows.value_or(0) == 0) continue;
    return unlike(std::to_string(*rows) + " " + fault.what);
  }
  return phase == 1 ? check_parts(connection) : Result<void>();
}

}  // namespace

Result<void> require_adoptable(sql::Connection& connection) {
  TRY_ASSIGN(const Schema schema, Schema::read(connection));
  TRY(require_codepilot(schema));
  if (!schema.has("quipu_adoption")) return {};
  TRY_ASSIGN(const auto last, connection.number("SELECT max(phase) FROM quipu_adoption"));
  if (last.value_or(0) <= kAdoptPhaseLast) return {};
  return Error(Code::kUnsupported, "it has taken phase " + std::to_string(*last) +
                                       ", this version knows up to " +
                                       std::to_string(kAdoptPhaseLast));
}

Result<bool> is_due(sql::Connection& connection, int phase) {
  TRY_ASSIGN(const bool was_taken, is_recorded(connection, phase));
  if (!was_taken) return true;
  // What was taken may have been undone since, say by a program that made a table anew.
  TRY_ASSIGN(const sql::Transaction never_committed, sql::Transaction::begin(connection));
  TRY_ASSIGN(const auto changes, run_steps(connection, phase));
  return !changes.empty();
}

Result<std::vector<AdoptChange>> take_phase(sql::Connection& connection, int phase) {
  TRY_ASSIGN(sql::Transaction transaction, sql::Transaction::begin(connection));
  TRY_ASSIGN(const auto before, counts(connection));
  TRY_ASSIGN(auto changes, run_steps(connection, phase));
  TRY(check_phase(connection, phase));
  TRY_ASSIGN(const auto after, counts(connection));
  if (before != after) return unlike("sessions or messages were lost or added");
  TRY(record(connection, phase));
  TRY(transaction.commit());
  return changes;
}

}  // namespace quipu::adoption
