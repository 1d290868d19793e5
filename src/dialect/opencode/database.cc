// Sessions in a database of opencode.
#include <map>

#include "base/sha256.h"
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/json_members.h"
#include "dialect/opencode/places.h"
#include "dialect/opencode/shape.h"
#include "dialect/row_reader.h"

namespace quipu::dialect::opencode {
namespace {

Result<void> require(const Database& database, const std::string& path) {
  for (const auto& [table, column] : {std::pair("session", "id"),
                                      {"message", "session_id"},
                                      {"message", "id"},
                                      {"message", "time_created"},
                                      {"message", "data"},
                                      {"part", "message_id"},
                                      {"part", "id"},
                                      {"part", "session_id"},
                                      {"part", "data"}}) {
    if (database.has(table, column)) continue;
    return Error(Code::kInvalidArgument, path + ": no database of opencode: no " +
                                             std::string(table) + "." + std::string(column));
  }
  return {};
}

// How many rows each session has in a table, and when the last of them changed. Rows
// that are changed in place get a new time.
Result<void> add_counts(Database& database, const std::string& table, const std::string& column,
                        std::string_view changed, std::map<std::string, std::string>& states) {
  if (!database.has(table, column)) return {};
  const std::string last = database.has(table, changed) ? std::string(changed) : "rowid";
  return database.query(
      "SELECT " + column + ", count(*), max(" + last + ") FROM " + table + " GROUP BY " + column,
      {}, [&](const sql::Statement& row) {
        std::string& state = states[std::string(row.text(0))];
        state +=
            table + ":" + std::to_string(row.integer(1)) + "," + std::string(row.text(2)) + ";";
      });
}

Result<std::map<std::string, std::string>> states_of(Database& database) {
  std::map<std::string, std::string> states;
  for (const char* table : {"message", "part", "todo", "session_message", "session_share"}) {
    TRY(add_counts(database, table, "session_id", "time_updated", states));
  }
  TRY(add_counts(database, "session_input", "session_id", "promoted_seq", states));
  TRY(add_counts(database, "session_context_epoch", "session_id", "baseline_seq", states));
  TRY(add_counts(database, "event_sequence", "aggregate_id", "seq", states));
  return states;
}

struct Listed {
  std::string id;
  std::int64_t rowid = 0;
  std::int64_t updated = 0;
};

// The numbers of a session's rows, and what is known of it.
class SessionRows {
 public:
  SessionRows(std::shared_ptr<Database> database, const Source& source)
      : plan_(std::move(database)), source_(source) {}

  Result<std::unique_ptr<Reader>> open() {
    TRY(add("project", "id",
            "SELECT rowid FROM project WHERE id = (SELECT project_id FROM session WHERE id = ?1)"));
    TRY(add("workspace", "id",
            "SELECT rowid FROM workspace WHERE id = "
            "(SELECT workspace_id FROM session WHERE id = ?1)"));
    TRY(add_session());
    TRY(add_messages());
    TRY(add("part", "session_id",
            "SELECT rowid FROM part WHERE session_id = ?1 AND message_id NOT IN "
            "(SELECT id FROM message WHERE session_id = ?1) ORDER BY id"));
    TRY(add("todo", "session_id",
            "SELECT rowid FROM todo WHERE session_id = ?1 ORDER BY position"));
    for (const char* table : {"session_share", "session_context_epoch", "session_input"}) {
      TRY(add(table, "session_id",
              "SELECT rowid FROM " + std::string(table) + " WHERE session_id = ?1 ORDER BY rowid"));
    }
    TRY(plan_.add("session_message", "seq",
                  "SELECT rowid, id FROM session_message WHERE session_id = ?1 ORDER BY seq",
                  {source_.part},
                  [&](const sql::Statement& row) { last_next_ = std::string(row.text(1)); }));
    TRY(add("event_sequence", "aggregate_id",
            "SELECT rowid FROM event_sequence WHERE aggregate_id = ?1"));
    TRY(add("event", "seq", "SELECT rowid FROM event WHERE aggregate_id = ?1 ORDER BY seq"));
    TRY_ASSIGN(
        std::string schema,
        plan_.database().schema({"project", "workspace", "session", "message", "part", "todo",
                                 "session_share", "session_context_epoch", "session_input",
                                 "session_message", "event_sequence", "event"}));
    return std::unique_ptr<Reader>(std::make_unique<RowReader>(
        std::move(plan_), std::move(schema), std::move(outline_),
        [last = has_messages_ ? last_ : std::string(), next = has_messages_ ? "" : last_next_](
            const Fields& fields, Record& record) { describe(fields, last, next, record); }));
  }

 private:
  static void describe(const Fields& fields, const std::string& last, const std::string& next,
                       Record& record) {
    record.id = fields.text("id");
    if (record.kind == "message") return describe_message(record.bytes, last, record);
    if (record.kind == "session_message") return describe_message(record.bytes, next, record);
    if (record.kind == "part" || record.kind == "session" || record.kind == "event") return;
    // Their ids are those of other rows, or none.
    record.id = record.kind + ":" + record.id;
    if (const json::Member* position = fields.find("position")) record.id += position->value;
  }

  Result<void> add(std::string_view table, std::string_view column, const std::string& sql) {
    return plan_.add(table, column, sql, {source_.part});
  }

  Result<void> add_session() {
    std::int64_t rowid = -1;
    TRY(plan_.add("session", "id", "SELECT rowid FROM session WHERE id = ?1", {source_.part},
                  [&](const sql::Statement& row) { rowid = row.integer(0); }));
    std::string session;
    TRY_ASSIGN(const bool found, plan_.database().row("session", rowid, session));
    if (!found) return Error(Code::kNotFound, source_.path + ": no session " + source_.part);
    revert_ = revert_of(session);
    outline_.session = source_.part;
    outline_.cwd = text_in(session, "directory");
    outline_.spawned_by = text_in(session, "parent_id");
    if (const auto created = number_in(session, "time_created")) {
      outline_.created = format_timestamp(static_cast<std::int64_t>(*created));
    }
    return {};
  }

  // Each with its parts.
  Result<void> add_messages() {
    Result<void> added;
    std::int64_t message = -1;
    const auto take = [&](const sql::Statement& row) -> Result<void> {
      if (!has_messages_ || row.integer(0) != message) {
        message = row.integer(0);
        has_messages_ = true;
        TRY(plan_.add_row("message", message));
        if (!revert_.hides(row.text(2))) last_ = std::string(row.text(2));
      }
      return row.is_null(1) ? Result<void>() : plan_.add_row("part", row.integer(1));
    };
    TRY(plan_.database().query(
        "SELECT m.rowid, p.rowid, m.id FROM message m LEFT JOIN part p ON p.message_id = m.id "
        "WHERE m.session_id = ?1 ORDER BY m.time_created, m.id, p.id",
        {source_.part}, [&](const sql::Statement& row) {
          if (added.ok()) added = take(row);
        }));
    return added;
  }

  RowPlan plan_;
  const Source& source_;
  Outline outline_;
  Revert revert_;
  bool has_messages_ = false;
  std::string last_;       // message that is not taken back
  std::string last_next_;  // of the event-sourced tables
};

}  // namespace

Result<std::vector<Source>> database_sources(const std::string& path, fs::HostFiles& files) {
  TRY_ASSIGN(const auto database, Database::copy_of(path, files));
  TRY(require(*database, path));
  std::vector<Listed> sessions;
  const std::string updated = database->has("session", "time_updated") ? "time_updated" : "0";
  TRY(database->query("SELECT id, rowid, " + updated + " FROM session ORDER BY rowid", {},
                      [&](const sql::Statement& row) {
                        sessions.push_back({.id = std::string(row.text(0)),
                                            .rowid = row.integer(1),
                                            .updated = row.integer(2)});
                      }));
  TRY_ASSIGN(auto states, states_of(*database));
  std::vector<Source> sources;
  std::string row;
  for (const Listed& session : sessions) {
    if (session.id.empty()) continue;
    TRY_ASSIGN(const bool found, database->row("session", session.rowid, row));
    if (!found) continue;
    sources.push_back({.agent = std::string(kAgent),
                       .path = path,
                       .part = session.id,
                       .files = {path},
                       .root = {},
                       .database = database,
                       .state = states[session.id] + sha256_hex(row),
                       .modified_ms = session.updated});
  }
  return sources;
}

Result<std::unique_ptr<Reader>> open_database(const Source& source, fs::HostFiles& files) {
  std::shared_ptr<Database> database = source.database;
  if (database == nullptr) {
    TRY_ASSIGN(database, Database::copy_of(source.path, files));
    TRY(require(*database, source.path));
  }
  return SessionRows(std::move(database), source).open();
}

}  // namespace quipu::dialect::opencode
