// Databases as CodePilot leaves them, to be adopted.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "quipu/adopt.h"
#include "support/agent_database.h"

namespace quipu {

using Statements = std::vector<std::string>;

inline std::string sql_text(const std::string& said) {
  std::string quoted = "'";
  for (const char c : said) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

/// As the first versions made it: none of the columns of the design.
inline Statements old_tables() {
  return {
      "CREATE TABLE chat_sessions (id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT 'New Chat', "
      "created_at TEXT NOT NULL DEFAULT '2026-03-01 09:30:00', updated_at TEXT NOT NULL DEFAULT "
      "'2026-03-01 09:30:00', model TEXT NOT NULL DEFAULT '', system_prompt TEXT NOT NULL DEFAULT "
      "'', working_directory TEXT NOT NULL DEFAULT '', sdk_session_id TEXT NOT NULL DEFAULT '')",
      "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, "
      "content TEXT, created_at TEXT NOT NULL DEFAULT '2026-03-01 09:30:01', token_usage TEXT, "
      "FOREIGN KEY (session_id) REFERENCES chat_sessions(id) ON DELETE CASCADE)",
      "CREATE TABLE settings (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, "
      "value TEXT NOT NULL)",
      "INSERT INTO settings (key, value) VALUES ('theme', 'dark')",
      "CREATE INDEX idx_messages_session_id ON messages(session_id)"};
}

/// What later versions add, and rows in it that a phase has to carry over.
inline Statements new_columns() {
  Statements statements;
  for (const char* column :
       {"project_name TEXT NOT NULL DEFAULT ''", "status TEXT NOT NULL DEFAULT 'active'",
        "sdk_cwd TEXT NOT NULL DEFAULT ''", "runtime_status TEXT NOT NULL DEFAULT 'idle'",
        "context_summary TEXT NOT NULL DEFAULT ''",
        "context_summary_updated_at TEXT NOT NULL DEFAULT ''"}) {
    statements.push_back("ALTER TABLE chat_sessions ADD COLUMN " + std::string(column));
  }
  statements.emplace_back(
      "CREATE TABLE permission_requests (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, tool_name "
      "TEXT NOT NULL, tool_input TEXT NOT NULL, status TEXT NOT NULL, FOREIGN KEY (session_id) "
      "REFERENCES chat_sessions(id) ON DELETE CASCADE)");
  return statements;
}

inline std::string session_row(const std::string& id, const std::string& directory) {
  return "INSERT INTO chat_sessions (id, working_directory) VALUES (" + sql_text(id) + ", " +
         sql_text(directory) + ")";
}

inline std::string message_row(const std::string& id, const std::string& role,
                               const std::string& content, const std::string& session = "s1") {
  return "INSERT INTO messages (id, session_id, role, content) VALUES (" + sql_text(id) + ", " +
         sql_text(session) + ", " + sql_text(role) + ", " + content + ")";
}

inline Statements operator+(Statements one, const Statements& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

/// What messages say, as SQL: of every kind that CodePilot writes, and of every other.
inline Statements contents() {
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  return {
      sql_text("hello"),
      sql_text(""),
      sql_text("it's \"quoted\" \\ and\nmore\t\x01"),
      sql_text(R"([{"type":"thinking","thinking":"hm"},{"type":"text","text":"looking"},)"
               R"({"type":"tool_use","id":"c1","name":"Read","input":{"p":1.50e3}},)"
               R"({"type":"tool_result","tool_use_id":"c1","content":"the file","is_error":true},)"
               R"({"type":"code","language":"c","code":"int a;"},{"type":"unheard","of":[1]}])"),
      sql_text(R"( [{"type":"text","text":"behind a blank"}])"),
      sql_text("[ {\"type\" : \"text\" ,\n\"text\": \"a b \\u0041 \\\" c\"} ]"),
      sql_text(R"([{"type":"text","text":"\ud800 alone"}])"),
      sql_text(R"([{"type":"text","text":"x","deep":)" + deep + "}]"),
      sql_text(R"([{"text":"no type"}])"),
      sql_text(R"([{"type":1}])"),
      sql_text(R"([{"type":"text","text":"a"}, 7])"),
      sql_text("[]"),
      sql_text("[1, 2]"),
      sql_text("[not json"),
      sql_text(R"({"type":"text","text":"an object"})"),
      sql_text(R"(<!--files:[{"name":"a.png","type":"image/png","filePath":"/x/a.png"}]-->look)"),
      sql_text(R"(<!--files:[ {"name":"a b"}, {"name":"c"} ]-->)"),
      sql_text("<!--files:[]-->none"),
      sql_text("<!--files:[1]-->no object"),
      sql_text("<!--files:[broken-->text"),
      sql_text("<!--files:{\"a\":1}-->no list"),
      sql_text("<!--files:[{\"name\":\"a\"}] never closed"),
      "NULL",
      "x'6162'",
      "x''",
      "42",
      "'nul' || char(0) || 'byte'",
      "'[{\"type\":\"text\",\"text\":\"a\"}]' || char(0) || 'behind'",
      "CAST(x'66ff6f' AS TEXT)",
      R"('[{"type":"text","text":"' || CAST(x'ff' AS TEXT) || '"}]')",
      "'" + std::string(300000, 'x') + "'",
  };
}

/// Two roles and every content; rows of no session; directories that are the same.
inline Statements odd_rows() {
  Statements statements = {session_row("s1", "/data/app"),
                           session_row("s2", "/data/app/"),
                           session_row("s3", "/data//app//"),
                           session_row("s4", ""),
                           session_row("s5", "/"),
                           session_row("s6", "///"),
                           session_row("s7", "it's here/x")};
  int number = 0;
  for (const std::string& content : contents()) {
    const std::string id = "m" + std::to_string(number++);
    statements.push_back(message_row(id + "u", "user", content));
    statements.push_back(message_row(id + "a", "assistant", content));
  }
  statements.push_back(message_row("orphan", "user", "'of nobody'", "gone"));
  return statements;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline void run_all(sql::Connection& connection, const Statements& statements) {
  for (const std::string& statement : statements) {
    const auto done = connection.execute(statement);
    ASSERT_TRUE(done.ok()) << statement.substr(0, 200) << ": " << done.error().message();
  }
}

/// As CodePilot opens it.
inline sql::Connection open_as_agent(const std::string& path) {
  auto connection = sql::Connection::open(path);
  EXPECT_TRUE(connection.ok());
  EXPECT_TRUE(connection->execute("PRAGMA foreign_keys=ON; PRAGMA trusted_schema=ON").ok());
  return std::move(connection).value();
}

/// What an adopted database says, without what is never the same: times, made ids.
inline Statements adopted_state(const std::string& path) {
  sql::Connection connection = open_as_agent(path);
  Statements state;
  const auto add = [&](const std::string& sql) {
    for (std::string& text : first_column(connection, sql)) state.push_back(std::move(text));
  };
  add("SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1");
  add("SELECT s.id || ' ' || s.working_directory || ' in ' || p.root_path || ' called ' || p.name "
      "|| ' cwd ' || s.sdk_cwd || ' archived ' || is_archived || ' summary ' || summary "
      "FROM chat_sessions s JOIN projects p ON p.id = s.project_id ORDER BY s.id");
  add("SELECT count(*) FROM projects");
  add("SELECT quote(id) || quote(session_id) || quote(role) || quote(content) || is_summary "
      "FROM messages ORDER BY rowid");
  add("SELECT quote(id) || quote(message_id) || quote(session_id) || part_type || quote(payload) "
      "|| seq || created_at FROM message_parts ORDER BY id");
  add("SELECT session_id || is_processing || processing_generation || queued_messages || "
      "pending_permissions FROM session_runtime_state ORDER BY 1");
  add("SELECT phase FROM quipu_adoption ORDER BY 1");
  return state;
}

class AdoptTest : public testing::Test {
 protected:
  std::string make(const Statements& statements, const std::string& name = "codepilot.db") const {
    const std::string path = directory_ / name;
    sql::Connection connection = sql::Connection::open(path).value();
    run_all(connection, Statements{"PRAGMA synchronous=OFF"} + statements);
    return path;
  }
  std::string make_odd(const std::string& name = "codepilot.db") const {
    return make(old_tables() + odd_rows(), name);
  }
  /// That it goes well.
  static AdoptReport adopt(const std::string& path, int phase, bool in_place = true) {
    auto report = adopt_codepilot(path, {.phase = phase, .in_place = in_place});
    EXPECT_TRUE(report.ok()) << report.error().message();
    return report.ok() ? *report : AdoptReport();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const fs::TemporaryDirectory directory_;
};

}  // namespace quipu
