#include "dialect/codepilot/codepilot.h"

#include <map>

#include "base/sha256.h"
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/json_members.h"
#include "dialect/row_reader.h"

namespace quipu::dialect::codepilot {
namespace {

constexpr std::string_view kAgent = "codepilot";
constexpr std::string_view kFile = "codepilot.db";

// Tables whose rows say whose they are, beside the messages.
constexpr const char* kBeside[] = {"session_runtime_state", "session_runtime_locks",
                                   "permission_requests", "tasks"};

bool has_name(std::string_view path) { return path.substr(path.rfind('/') + 1) == kFile; }

Result<void> require(const Database& database, const std::string& path) {
  for (const auto& [table, column] : {std::pair("chat_sessions", "id"),
                                      {"messages", "id"},
                                      {"messages", "session_id"},
                                      {"messages", "role"}}) {
    if (database.has(table, column)) continue;
    return Error(Code::kInvalidArgument, path + ": no database of CodePilot: no " +
                                             std::string(table) + "." + std::string(column));
  }
  return {};
}

// Rows have no time of their last change; what they hold has a length.
Result<void> add_counts(Database& database, const std::string& table, const std::string& content,
                        std::map<std::string, std::string>& states) {
  if (!database.has(table, "session_id")) return {};
  const std::string length =
      database.has(table, content) ? "sum(length(" + content + "))" : std::string("0");
  return database.query("SELECT session_id, count(*), max(rowid), " + length + " FROM " + table +
                            " GROUP BY session_id",
                        {}, [&](const sql::Statement& row) {
                          std::string& state = states[std::string(row.text(0))];
                          state += table;
                          for (int column = 1; column < 4; ++column) {
                            state += ',' + std::to_string(row.integer(column));
                          }
                          state += ';';
                        });
}

void describe(const Fields& fields, const std::string& last, Record& record) {
  record.id = fields.text("id");
  record.timestamp = timestamp_of(fields.text("created_at"));
  if (record.kind == "messages") {
    record.is_fact = false;
    record.leads = Record::Leads::kThere;
    record.leads_to = last;
  } else if (record.kind != "chat_sessions" && record.kind != "message_parts") {
    record.id = record.kind + ":" + record.id;
  }
}

// Each with its parts, if there are such.
Result<std::string> add_messages(RowPlan& plan, const std::string& session) {
  const bool has_parts = plan.database().has("message_parts", "message_id") &&
                         plan.database().has("message_parts", "seq");
  std::string last;
  std::int64_t message = 0;
  Result<void> added;
  const auto take = [&](const sql::Statement& row) -> Result<void> {
    if (last.empty() || row.integer(0) != message) {
      message = row.integer(0);
      last = std::string(row.text(2));
      TRY(plan.add_row("messages", message));
    }
    return row.is_null(1) ? Result<void>() : plan.add_row("message_parts", row.integer(1));
  };
  TRY(plan.database().query(
      has_parts ? "SELECT m.rowid, p.rowid, m.id FROM messages m LEFT JOIN message_parts p "
                  "ON p.message_id = m.id WHERE m.session_id = ?1 ORDER BY m.rowid, p.seq, p.rowid"
                : "SELECT rowid, NULL, id FROM messages WHERE session_id = ?1 ORDER BY rowid",
      {session}, [&](const sql::Statement& row) {
        if (added.ok()) added = take(row);
      }));
  TRY(added);
  return last;
}

}  // namespace

std::string timestamp_of(std::string_view time) {
  std::string text(time);
  if (text.size() > 10 && text[10] == ' ') text[10] = 'T';
  if (!text.ends_with('Z')) text += 'Z';
  return parse_timestamp(text) ? text : std::string();
}

std::vector<std::string> Codepilot::places(const Machine& machine) const {
  std::string data = machine.variable("CLAUDE_GUI_DATA_DIR");
  if (data.empty()) data = machine.home + "/.codepilot";
  return {data + "/" + std::string(kFile)};
}

bool Codepilot::recognises(const std::string& path, std::string_view head) const {
  if (!head.starts_with(kDatabaseMagic)) return head.empty() && has_name(path);
  return has_name(path) || head.find("chat_sessions") != std::string_view::npos;
}

Result<std::vector<Source>> Codepilot::sources(const std::string& path,
                                               fs::HostFiles& files) const {
  TRY_ASSIGN(const auto database, Database::copy_of(path, files));
  TRY(require(*database, path));
  std::map<std::string, std::string> states;
  TRY(add_counts(*database, "messages", "content", states));
  TRY(add_counts(*database, "message_parts", "payload", states));
  for (const char* table : kBeside) TRY(add_counts(*database, table, "status", states));
  std::vector<std::pair<std::string, std::int64_t>> sessions;
  TRY(database->query(
      "SELECT id, rowid FROM chat_sessions ORDER BY rowid", {},
      [&](const sql::Statement& row) { sessions.emplace_back(row.text(0), row.integer(1)); }));
  std::vector<Source> sources;
  std::string row;
  for (const auto& [id, rowid] : sessions) {
    TRY_ASSIGN(const bool found, database->row("chat_sessions", rowid, row));
    if (!found || id.empty()) continue;
    const std::string updated = timestamp_of(text_in(row, "updated_at"));
    sources.push_back({.agent = std::string(kAgent),
                       .path = path,
                       .part = id,
                       .files = {path},
                       .root = {},
                       .database = database,
                       .state = states[id] + sha256_hex(row),
                       .modified_ms = parse_timestamp(updated).value_or(0)});
  }
  return sources;
}

Result<std::unique_ptr<Reader>> Codepilot::open(const Source& source, fs::HostFiles& files,
                                                const ReadPosition&) const {
  std::shared_ptr<Database> database = source.database;
  if (database == nullptr) {
    TRY_ASSIGN(database, Database::copy_of(source.path, files));
    TRY(require(*database, source.path));
  }
  RowPlan plan(database);
  TRY(plan.add("projects", "id",
               database->has("chat_sessions", "project_id")
                   ? "SELECT rowid FROM projects WHERE id = "
                     "(SELECT project_id FROM chat_sessions WHERE id = ?1)"
                   : "SELECT rowid FROM projects WHERE id = ?1 AND 0",
               {source.part}));
  std::int64_t rowid = -1;
  TRY(plan.add("chat_sessions", "id", "SELECT rowid FROM chat_sessions WHERE id = ?1",
               {source.part}, [&](const sql::Statement& row) { rowid = row.integer(0); }));
  std::string session;
  TRY_ASSIGN(const bool found, database->row("chat_sessions", rowid, session));
  if (!found) return Error(Code::kNotFound, source.path + ": no session " + source.part);
  TRY_ASSIGN(std::string last, add_messages(plan, source.part));
  for (const char* table : kBeside) {
    TRY(plan.add(
        table, "session_id",
        "SELECT rowid FROM " + std::string(table) + " WHERE session_id = ?1 ORDER BY rowid",
        {source.part}));
  }
  TRY_ASSIGN(std::string schema,
             database->schema({"projects", "chat_sessions", "messages", "message_parts",
                               "session_runtime_state", "session_runtime_locks",
                               "permission_requests", "tasks"}));
  Outline outline;
  outline.session = source.part;
  outline.cwd = text_in(session, "working_directory");
  if (outline.cwd.empty()) outline.cwd = text_in(session, "sdk_cwd");
  outline.created = timestamp_of(text_in(session, "created_at"));
  return std::unique_ptr<Reader>(
      std::make_unique<RowReader>(std::move(plan), std::move(schema), std::move(outline),
                                  [last = std::move(last)](const Fields& fields, Record& record) {
                                    describe(fields, last, record);
                                  }));
}

bool Codepilot::leads(std::string_view kind) const { return kind == "messages"; }

}  // namespace quipu::dialect::codepilot
