#include "exchange/adopt/steps.h"

#include "exchange/adopt/parts.h"

namespace quipu::adoption {
namespace {

// Collects the steps of a phase: those that the database lacks.
class Steps {
 public:
  explicit Steps(const Schema& schema) : schema_(schema) {}

  Steps& table(const std::string& name, const std::string& columns) {
    if (!schema_.has(name)) {
      steps_.push_back({"table " + name, "CREATE TABLE " + name + " (" + columns + ")"});
    }
    return *this;
  }

  Steps& column(const std::string& table, const std::string& name, const std::string& type) {
    if (!schema_.has(table, name)) {
      steps_.push_back({"column " + table + "." + name,
                        "ALTER TABLE " + table + " ADD COLUMN " + name + " " + type});
    }
    return *this;
  }

  Steps& index(const std::string& name, const std::string& on) {
    if (schema_.statement(name).empty()) {
      steps_.push_back({"index " + name, "CREATE INDEX " + name + " ON " + on});
    }
    return *this;
  }

  // One that reads otherwise is of another version, and makes room.
  Steps& trigger(const std::string& name, const std::string& when, const std::string& body) {
    const std::string sql = "CREATE TRIGGER " + name + " " + when + " BEGIN " + body + "; END";
    const std::string_view there = schema_.statement(name);
    if (there == sql) return *this;
    if (!there.empty()) steps_.push_back({"old trigger " + name, "DROP TRIGGER " + name});
    steps_.push_back({"trigger " + name, sql});
    return *this;
  }

  Steps& fill(const std::string& what, const std::string& sql) {
    steps_.push_back({what, sql, true});
    return *this;
  }

  std::vector<Step> take() { return std::move(steps_); }

 private:
  const Schema& schema_;
  std::vector<Step> steps_;
};

// ----- phase 0: projects and sdk_cwd

// A directory as projects are told apart by: no slash at its end, none doubled.
const std::string kRoot = [] {
  std::string path = "coalesce(CAST(chat_sessions.working_directory AS TEXT), '')";
  const std::string slashes = "rtrim(" + path + ", '/') = '' AND " + path + " <> ''";
  for (int i = 0; i < 3; ++i) path = "replace(" + path + ", '//', '/')";
  return "CASE WHEN " + slashes + " THEN '/' ELSE rtrim(" + path + ", '/') END";
}();

const std::string kNoProject =
    "NOT EXISTS (SELECT 1 FROM projects WHERE projects.id = chat_sessions.project_id)";
const std::string kNoCwd =
    "coalesce(chat_sessions.sdk_cwd, '') = '' "
    "AND coalesce(chat_sessions.working_directory, '') <> ''";

// Sessions without a directory share the project whose root is empty.
std::string insert_projects(const std::string& of_sessions) {
  return "INSERT INTO projects (id, root_path, name, created_at, updated_at) "
         "SELECT lower(hex(randomblob(16))), d.root, CASE d.root WHEN '' THEN 'Default' WHEN '/' "
         "THEN '/' ELSE substr(d.root, length(rtrim(d.root, replace(d.root, '/', ''))) + 1) END, "
         "datetime('now'), datetime('now') FROM (SELECT DISTINCT " +
         kRoot + " AS root FROM chat_sessions WHERE " + of_sessions +
         ") d WHERE NOT EXISTS (SELECT 1 FROM projects WHERE projects.root_path = d.root)";
}

std::string set_projects(const std::string& of_sessions) {
  return "UPDATE chat_sessions SET project_id = (SELECT projects.id FROM projects "
         "WHERE projects.root_path = " +
         kRoot + ") WHERE " + of_sessions;
}

std::string set_cwd(const std::string& of_sessions) {
  return "UPDATE chat_sessions SET sdk_cwd = working_directory WHERE " + of_sessions;
}

std::vector<Step> projects_steps(const Schema& schema) {
  const std::string is_new = "chat_sessions.id = NEW.id AND ";
  const std::string stays = is_new + "chat_sessions.project_id IS OLD.project_id";
  // The model's transcript is found by sdk_cwd: it moves only while there is none.
  const std::string can_move =
      is_new + "chat_sessions.sdk_cwd IS OLD.sdk_cwd AND (" + kNoCwd +
      " OR (coalesce(chat_sessions.sdk_session_id, '') = '' AND NOT EXISTS "
      "(SELECT 1 FROM messages WHERE messages.session_id = chat_sessions.id)))";
  return Steps(schema)
      .table("projects",
             "id TEXT PRIMARY KEY, root_path TEXT NOT NULL UNIQUE, name TEXT NOT NULL DEFAULT '', "
             "created_at TEXT NOT NULL, updated_at TEXT NOT NULL")
      .column("chat_sessions", "project_id", "TEXT NOT NULL DEFAULT ''")
      .column("chat_sessions", "sdk_cwd", "TEXT NOT NULL DEFAULT ''")
      .index("idx_chat_sessions_project", "chat_sessions(project_id, updated_at)")
      .trigger("quipu_session_new", "AFTER INSERT ON chat_sessions",
               insert_projects(is_new + kNoProject) + "; " + set_projects(is_new + kNoProject) +
                   "; " + set_cwd(is_new + kNoCwd))
      .trigger("quipu_session_moved",
               "AFTER UPDATE OF working_directory ON chat_sessions "
               "WHEN NEW.working_directory IS NOT OLD.working_directory",
               insert_projects(stays) + "; " + set_projects(stays) + "; " + set_cwd(can_move))
      .fill("projects made", insert_projects(kNoProject))
      .fill("sessions given a project", set_projects(kNoProject))
      .fill("sessions given an sdk_cwd", set_cwd(kNoCwd))
      .take();
}

// ----- phase 1: message_parts

std::vector<Step> parts_steps(const Schema& schema) {
  return Steps(schema)
      .table("message_parts",
             "id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, "
             "part_type TEXT NOT NULL, payload TEXT NOT NULL, seq INTEGER NOT NULL, "
             "created_at TEXT NOT NULL DEFAULT (datetime('now')), "
             "FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE, "
             "FOREIGN KEY (session_id) REFERENCES chat_sessions(id) ON DELETE CASCADE")
      .index("idx_message_parts_message_seq", "message_parts(message_id, seq)")
      .index("idx_message_parts_session_created", "message_parts(session_id, created_at)")
      .trigger(
          "quipu_message_new", "AFTER INSERT ON messages",
          "DELETE FROM message_parts WHERE message_id = NEW.id; " + insert_parts("m.id = NEW.id"))
      .trigger("quipu_message_changed",
               "AFTER UPDATE OF id, session_id, role, content ON messages "
               "WHEN NEW.id IS NOT OLD.id OR NEW.session_id IS NOT OLD.session_id "
               "OR NEW.role IS NOT OLD.role OR NEW.content IS NOT OLD.content",
               "DELETE FROM message_parts WHERE message_id IN (OLD.id, NEW.id); " +
                   insert_parts("m.id = NEW.id"))
      .trigger("quipu_message_gone", "AFTER DELETE ON messages",
               "DELETE FROM message_parts WHERE message_id = OLD.id")
      // A program that writes parts itself: its own take the place of those that were made for it.
      .trigger("quipu_part_new",
               "AFTER INSERT ON message_parts WHEN NEW.id IS NOT NEW.seq || ':' || NEW.message_id",
               "DELETE FROM message_parts WHERE message_id = NEW.message_id "
               "AND id = seq || ':' || message_id")
      .fill("parts made", insert_parts("1"))
      .take();
}

// ----- phase 2: session_runtime_state

const std::string kIsWorking = "runtime_status IN ('running', 'waiting_permission')";

// The open questions of a session as a JSON array, a row each; `session` is its id in SQL.
std::string open_permissions(const Schema& schema, const std::string& session) {
  std::string members;
  for (const std::string& column : schema.tables.find("permission_requests")->second) {
    std::string name;
    for (const char c : column) name += c == '\'' ? "''" : std::string(1, c);
    std::string quoted;
    for (const char c : column) quoted += c == '"' ? "\"\"" : std::string(1, c);
    quoted = "r.\"" + quoted + "\"";
    // JSON has no bytes.
    members += (members.empty() ? "'" : ", '") + name + "', CASE typeof(" + quoted +
               ") WHEN 'blob' THEN hex(" + quoted + ") ELSE " + quoted + " END";
  }
  return "(SELECT json_group_array(json_object(" + members +
         ")) FROM permission_requests r WHERE r.session_id = " + session +
         " AND r.status = 'pending')";
}

std::string insert_states(const Schema& schema, bool has_permissions, const std::string& where) {
  const std::string working =
      schema.has("chat_sessions", "runtime_status") ? "coalesce(s." + kIsWorking + ", 0)" : "0";
  return "INSERT INTO session_runtime_state (session_id, is_processing, processing_generation, "
         "queued_messages, pending_permissions, updated_at) SELECT s.id, " +
         working + ", 0, '[]', " +
         (has_permissions ? open_permissions(schema, "s.id") : std::string("'[]'")) +
         ", datetime('now') FROM chat_sessions s WHERE " + where +
         " AND s.id IS NOT NULL AND NOT EXISTS "
         "(SELECT 1 FROM session_runtime_state t WHERE t.session_id = s.id)";
}

std::vector<Step> runtime_steps(const Schema& schema) {
  const bool has_permissions = schema.has("permission_requests", "id") &&
                               schema.has("permission_requests", "session_id") &&
                               schema.has("permission_requests", "status");
  Steps steps(schema);
  steps
      .table("session_runtime_state",
             "session_id TEXT PRIMARY KEY, is_processing INTEGER NOT NULL DEFAULT 0, "
             "processing_generation INTEGER NOT NULL DEFAULT 0, "
             "queued_messages TEXT NOT NULL DEFAULT '[]', "
             "pending_permissions TEXT NOT NULL DEFAULT '[]', "
             "updated_at TEXT NOT NULL DEFAULT (datetime('now')), "
             "FOREIGN KEY (session_id) REFERENCES chat_sessions(id) ON DELETE CASCADE")
      .trigger("quipu_state_new", "AFTER INSERT ON chat_sessions",
               insert_states(schema, false, "s.id = NEW.id"));
  if (schema.has("chat_sessions", "runtime_status")) {
    steps.trigger("quipu_state_changed",
                  "AFTER UPDATE OF runtime_status ON chat_sessions "
                  "WHEN (NEW." +
                      kIsWorking + ") IS NOT (OLD." + kIsWorking + ")",
                  "UPDATE session_runtime_state SET is_processing = coalesce(NEW." + kIsWorking +
                      ", 0), processing_generation = processing_generation + coalesce(NEW." +
                      kIsWorking + ", 0), updated_at = datetime('now') WHERE session_id = NEW.id");
  }
  if (has_permissions) {
    for (const auto& [name, event, row] :
         {std::tuple("quipu_permission_new", "AFTER INSERT ON permission_requests", "NEW"),
          {"quipu_permission_changed", "AFTER UPDATE ON permission_requests", "NEW"},
          {"quipu_permission_gone", "AFTER DELETE ON permission_requests", "OLD"}}) {
      const std::string session = row + std::string(".session_id");
      steps.trigger(name, event,
                    "UPDATE session_runtime_state SET pending_permissions = " +
                        open_permissions(schema, session) +
                        ", updated_at = datetime('now') WHERE session_id = " + session);
    }
  }
  return steps.fill("sessions given a runtime state", insert_states(schema, has_permissions, "1"))
      .take();
}

// ----- phase 3: archive, parents, summaries

std::vector<Step> archive_steps(const Schema& schema) {
  Steps steps(schema);
  steps.column("chat_sessions", "is_archived", "INTEGER NOT NULL DEFAULT 0")
      .column("chat_sessions", "parent_session_id", "TEXT")
      .column("chat_sessions", "summary", "TEXT NOT NULL DEFAULT ''")
      .column("chat_sessions", "summary_updated_at", "TEXT")
      .column("messages", "is_summary", "INTEGER NOT NULL DEFAULT 0")
      .index("idx_chat_sessions_archived", "chat_sessions(is_archived, updated_at)")
      .index("idx_chat_sessions_parent", "chat_sessions(parent_session_id)");
  if (schema.has("chat_sessions", "status")) {
    steps
        .trigger("quipu_session_archived",
                 "AFTER UPDATE OF status ON chat_sessions WHEN NEW.status IS NOT OLD.status",
                 "UPDATE chat_sessions SET is_archived = NEW.status IS 'archived' "
                 "WHERE id = NEW.id")
        .fill("sessions marked as archived",
              "UPDATE chat_sessions SET is_archived = 1 "
              "WHERE status = 'archived' AND is_archived = 0");
  }
  if (schema.has("chat_sessions", "context_summary") &&
      schema.has("chat_sessions", "context_summary_updated_at")) {
    steps
        .trigger("quipu_session_summarised",
                 "AFTER UPDATE OF context_summary, context_summary_updated_at ON chat_sessions",
                 "UPDATE chat_sessions SET summary = coalesce(NEW.context_summary, ''), "
                 "summary_updated_at = nullif(NEW.context_summary_updated_at, '') "
                 "WHERE id = NEW.id")
        .fill("summaries taken over",
              "UPDATE chat_sessions SET summary = context_summary, "
              "summary_updated_at = nullif(context_summary_updated_at, '') "
              "WHERE coalesce(summary, '') = '' AND coalesce(context_summary, '') <> ''");
  }
  return steps.take();
}

}  // namespace

std::vector<Step> phase_steps(int phase, const Schema& schema) {
  switch (phase) {
    case 0:
      return projects_steps(schema);
    case 1:
      return parts_steps(schema);
    case 2:
      return runtime_steps(schema);
    default:
      return archive_steps(schema);
  }
}

std::vector<Step> phase_faults(int phase, const Schema& schema) {
  const auto count = [](const std::string& from) { return "SELECT count(*) FROM " + from; };
  switch (phase) {
    case 0:
      return {{"sessions without a project", count("chat_sessions WHERE " + kNoProject)},
              {"sessions without an sdk_cwd", count("chat_sessions WHERE " + kNoCwd)}};
    case 1:
      return {{"messages without parts",
               count("messages m WHERE " + can_have_parts() +
                     " AND NOT EXISTS (SELECT 1 FROM message_parts p WHERE p.message_id = m.id)")}};
    case 2:
      return {{"sessions without a runtime state",
               count("chat_sessions s WHERE s.id IS NOT NULL AND NOT EXISTS "
                     "(SELECT 1 FROM session_runtime_state t WHERE t.session_id = s.id)")}};
    default:
      if (!schema.has("chat_sessions", "status")) return {};
      return {{"archived sessions that are not marked",
               count("chat_sessions WHERE status = 'archived' AND is_archived = 0")}};
  }
}

}  // namespace quipu::adoption
