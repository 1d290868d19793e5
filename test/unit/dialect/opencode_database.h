// A database of opencode as a test wants it.
#pragma once

#include <string>
#include <vector>

#include "support/agent_database.h"

namespace quipu {

inline std::string sql_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

class OpencodeDatabase {
 public:
  OpencodeDatabase() {
    statements_ = {
        "CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL, time_updated integer)",
        "CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, "
        "directory text NOT NULL, title text NOT NULL, cost real DEFAULT 0 NOT NULL, revert text, "
        "model text, time_created integer NOT NULL, time_updated integer NOT NULL, "
        "time_archived integer)",
        "CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, "
        "time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)",
        "CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, "
        "session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, "
        "data text NOT NULL)",
        "CREATE INDEX part_message_id_id_idx ON part (message_id, id)",
        "CREATE TABLE todo (session_id text NOT NULL, content text NOT NULL, "
        "position integer NOT NULL, PRIMARY KEY (session_id, position))",
        "CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, "
        "type text NOT NULL, seq integer NOT NULL, time_created integer NOT NULL, "
        "time_updated integer NOT NULL, data text NOT NULL)",
        "CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL)",
        "CREATE TABLE event (id text PRIMARY KEY, aggregate_id text NOT NULL, "
        "seq integer NOT NULL, type text NOT NULL, data text NOT NULL)",
        "CREATE TABLE credential (id text PRIMARY KEY, value text NOT NULL)",
        "INSERT INTO project VALUES ('p1', '/data', 1)",
        "INSERT INTO credential VALUES ('c1', 'secret')"};
  }

  /// A statement as it is.
  OpencodeDatabase& run(const std::string& sql) {
    statements_.push_back(sql);
    return *this;
  }

  OpencodeDatabase& session(const std::string& id, const std::string& title = "a title") {
    return run(
        "INSERT INTO session (id, project_id, directory, title, model, time_created, "
        "time_updated) VALUES ('" +
        id + "', 'p1', '/data/app', " + sql_text(title) +
        R"(, '{"id":"m1","providerID":"acme"}', 1772357400000, )" +
        std::to_string(1772357400000 + ++clock_) + ")");
  }

  OpencodeDatabase& message(const std::string& id, const std::string& data,
                            const std::string& session = "ses_1") {
    session_ = session;
    message_ = id;
    const std::string time = std::to_string(1772357400000 + ++clock_);
    return run("INSERT INTO message VALUES ('" + id + "', '" + session + "', " + time + ", " +
               time + ", " + sql_text(data) + ")");
  }

  /// Of the message that was added last.
  OpencodeDatabase& part(const std::string& id, const std::string& data) {
    const std::string time = std::to_string(1772357400000 + ++clock_);
    return run("INSERT INTO part VALUES ('" + id + "', '" + message_ + "', '" + session_ + "', " +
               time + ", " + time + ", " + sql_text(data) + ")");
  }

  OpencodeDatabase& text(const std::string& text) {
    return part("prt_" + std::to_string(100 + ++parts_),
                R"({"type":"text","text":")" + text + "\"}");
  }

  OpencodeDatabase& user(const std::string& id, const std::string& said) {
    return message(id, R"({"role":"user","time":{"created":1772357400001}})").text(said);
  }

  OpencodeDatabase& answer(const std::string& id, const std::string& said,
                           const std::string& more = {}) {
    message(id, R"({"role":"assistant","modelID":"m1","providerID":"acme","finish":"stop")" + more +
                    "}");
    part("prt_" + std::to_string(100 + ++parts_), R"({"type":"step-start"})");
    return said.empty() ? *this : text(said);
  }

  std::string image() const { return database_image(statements_); }

 private:
  std::vector<std::string> statements_;
  std::string session_;
  std::string message_;
  int parts_ = 0;
  int clock_ = 0;
};

}  // namespace quipu
