// The phases: whole or not at all, again without effect, and kept in step by triggers.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "adopt_database.h"
#include "exchange/adopt/phases.h"
#include "exchange/adopt/steps.h"

namespace quipu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class AdoptPhases : public AdoptTest {
 protected:
  static void adopt_all(const std::string& path) { adopt(path, kAdoptPhaseLast); }
};

// Every row of every table that was there, by the columns that were there.
QuotedRows old_rows(const std::string& path, const QuotedRows& tables,
                    const std::map<std::string, std::string>& columns) {
  sql::Connection connection = open_as_agent(path);
  QuotedRows rows;
  for (const auto& [table, ignored] : tables) {
    if (table.starts_with("sqlite_")) continue;
    const auto quoted = first_column(connection, "SELECT " + columns.at(table) + " FROM " + table);
    rows[table].insert(quoted.begin(), quoted.end());
  }
  return rows;
}

TEST_F(AdoptPhases, WhatWasThereStaysAsItWas) {
  const std::string path = make_odd();
  const QuotedRows tables = quoted_rows(read_file(path));
  std::map<std::string, std::string> columns;
  {
    sql::Connection connection = open_as_agent(path);
    for (const auto& [table, ignored] : tables) {
      std::string& list = columns[table];
      for (const std::string& column :
           first_column(connection, "SELECT name FROM pragma_table_info('" + table + "')")) {
        list += (list.empty() ? "" : " || ' ' || ") + ("quote(" + column + ")");
      }
    }
  }
  const QuotedRows before = old_rows(path, tables, columns);
  for (int phase = 0; phase <= kAdoptPhaseLast; ++phase) {
    adopt(path, phase);
    EXPECT_EQ(old_rows(path, tables, columns), before) << "phase " << phase;
  }
  sql::Connection connection = open_as_agent(path);
  EXPECT_THAT(first_column(connection, "PRAGMA integrity_check"), ElementsAre("ok"));
  EXPECT_THAT(first_column(connection, "SELECT * FROM pragma_foreign_key_check('message_parts')"),
              IsEmpty());
}

TEST_F(AdoptPhases, ASecondTimeNothingChanges) {
  const std::string path = make_odd();
  for (int phase = 0; phase <= kAdoptPhaseLast; ++phase) {
    const AdoptReport first = adopt(path, phase);
    ASSERT_EQ(first.phases.size(), static_cast<std::size_t>(phase + 1));
    EXPECT_FALSE(first.phases.back().was_done);
    EXPECT_THAT(first.phases.back().changes, Not(IsEmpty()));
    const std::string bytes = read_file(path);
    const auto files = names();
    const AdoptReport second = adopt(path, phase);
    for (const AdoptedPhase& taken : second.phases) {
      EXPECT_TRUE(taken.was_done);
      EXPECT_THAT(taken.changes, IsEmpty());
      EXPECT_EQ(taken.backup, "");
    }
    EXPECT_EQ(read_file(path), bytes);
    EXPECT_EQ(names(), files) << "no backup of what is not changed";
  }
}

TEST_F(AdoptPhases, StoppingAtAnyIsOnTheWayToTheLast) {
  const std::string whole = make_odd("whole.db");
  adopt_all(whole);
  const std::string steps = make_odd("steps.db");
  for (int phase = 0; phase <= kAdoptPhaseLast; ++phase) adopt(steps, phase);
  EXPECT_EQ(adopted_state(steps), adopted_state(whole));
  const AdoptReport back = adopt(steps, 0);
  EXPECT_TRUE(back.phases[0].was_done) << "an earlier one is no way back";
}

TEST_F(AdoptPhases, DirectoriesThatAreTheSameAreOneProject) {
  const std::string path = make_odd();
  adopt(path, 0);
  sql::Connection connection = open_as_agent(path);
  EXPECT_THAT(
      first_column(connection,
                   "SELECT group_concat(s.id, ' ') || ': ' || p.root_path || "
                   "' ' || p.name FROM chat_sessions s JOIN projects p ON "
                   "p.id = s.project_id GROUP BY p.id ORDER BY 1"),
      ElementsAre("s1 s2 s3: /data/app app", "s4:  Default", "s5 s6: / /", "s7: it's here/x x"));
  EXPECT_THAT(first_column(connection, "SELECT sdk_cwd FROM chat_sessions ORDER BY id"),
              ElementsAre("/data/app", "/data/app/", "/data//app//", "", "/", "///", "it's here/x"))
      << "as the agent has them: transcripts are found by them";
}

// The process is killed behind the k-th statement of a phase, with pages written already.
void killed_behind(const std::string& path, int phase, std::size_t statements) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto connection = sql::Connection::open(path);
    bool is_fine = connection.ok() &&
                   connection->execute("PRAGMA cache_size=1; PRAGMA cache_spill=1").ok() &&
                   connection->execute("BEGIN IMMEDIATE").ok();
    const auto schema = adoption::Schema::read(*connection);
    const auto steps = adoption::phase_steps(phase, *schema);
    for (std::size_t i = 0; i < statements; ++i) {
      is_fine = is_fine && connection->execute(steps[i].sql).ok();
    }
    if (is_fine) ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "phase " << phase << ", " << statements << " statements";
}

TEST_F(AdoptPhases, KilledBehindAnyStatementItGoesOn) {
  for (const char* mode : {"delete", "wal"}) {
    Statements statements = Statements{"PRAGMA journal_mode=" + std::string(mode)} + old_tables() +
                            new_columns() + Statements{session_row("s1", "/d")};
    for (int i = 0; i < 20; ++i) {
      statements.push_back(message_row("m" + std::to_string(i), "assistant",
                                       "'[{\"type\":\"x\",\"y\":\"' || hex(zeroblob(1000)) || "
                                       "'\"},{\"type\":\"text\"}]'"));
    }
    const std::string whole = make(statements, std::string("whole-") + mode);
    adopt_all(whole);
    const Statements wanted = adopted_state(whole);
    const std::string start = make(statements, std::string("start-") + mode);
    const std::string path = directory_ / ("killed-" + std::string(mode));
    for (int phase = 0; phase <= kAdoptPhaseLast; ++phase) {
      const std::string before = read_file(start);
      sql::Connection connection = sql::Connection::open(start).value();
      const std::size_t count =
          adoption::phase_steps(phase, adoption::Schema::read(connection).value()).size();
      ASSERT_GT(count, 2u);
      for (std::size_t k = 0; k <= count; ++k) {
        write_file(path, before);
        killed_behind(path, phase, k);
        adopt_all(path);
        EXPECT_EQ(adopted_state(path), wanted) << mode << ", phase " << phase << " after " << k;
        for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
          if (entry.path().filename().string().starts_with("killed-")) {
            std::filesystem::remove(entry.path());
          }
        }
      }
      ASSERT_TRUE(adoption::take_phase(connection, phase).ok());
      // So that `before` of the next phase is all of it.
      ASSERT_TRUE(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").ok());
    }
  }
}

TEST_F(AdoptPhases, AFullDiskTakesThePhaseBack) {
  const std::string path = make_odd();
  sql::Connection connection = sql::Connection::open(path).value();
  for (int phase = 0; phase <= kAdoptPhaseLast; ++phase) {
    const std::int64_t pages = *connection.number("PRAGMA page_count").value();
    const Statements before = first_column(connection, "SELECT sql FROM sqlite_schema");
    bool is_taken = false;
    int refused = 0;
    for (std::int64_t room = 0; !is_taken; ++room) {
      ASSERT_TRUE(connection.execute("PRAGMA max_page_count=" + std::to_string(pages + room)).ok());
      const auto taken = adoption::take_phase(connection, phase);
      is_taken = taken.ok();
      if (is_taken) break;
      ++refused;
      EXPECT_EQ(taken.error().code(), Code::kNoSpace) << taken.error().message();
      EXPECT_EQ(first_column(connection, "SELECT sql FROM sqlite_schema"), before);
      ASSERT_LT(room, 10000);
    }
    EXPECT_GT(refused, 0) << "phase " << phase;
  }
}

// Somebody's trigger changes what the phase writes: it is noticed, and all of it taken back.
TEST_F(AdoptPhases, WhatIsNotTheSameTakesThePhaseBack) {
  const std::string path = make(
      old_tables() +
      Statements{session_row("s1", "/d"), message_row("m", "user", "'hi'"),
                 "CREATE TABLE message_parts (id TEXT PRIMARY KEY, message_id TEXT, session_id "
                 "TEXT, part_type TEXT, payload TEXT, seq INTEGER, created_at TEXT)",
                 "CREATE TRIGGER theirs AFTER INSERT ON message_parts BEGIN UPDATE message_parts "
                 "SET payload = '{\"text\":\"ho\"}' WHERE id = NEW.id; END"});
  adopt(path, 0);
  const std::string bytes = read_file(path);
  const auto refused = adopt_codepilot(path, {.phase = 3, .in_place = true});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kCorrupt);
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("message m"));
  EXPECT_EQ(quoted_rows(read_file(path)), quoted_rows(bytes));
}

TEST_F(AdoptPhases, WhatIsLostTakesThePhaseBack) {
  const std::string path =
      make(old_tables() + Statements{session_row("s1", "/d"), message_row("m", "user", "'hi'"),
                                     "CREATE TRIGGER theirs AFTER UPDATE ON chat_sessions BEGIN "
                                     "DELETE FROM messages; END"});
  const auto refused = adopt_codepilot(path, {.phase = 0, .in_place = true});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kCorrupt);
  EXPECT_EQ(quoted_rows(read_file(path)).at("messages").size(), 1u);
}

TEST_F(AdoptPhases, OldWritersFindNothingChanged) {
  const std::string path = make(old_tables() + new_columns() + Statements{session_row("s0", "/d")});
  adopt_all(path);
  sql::Connection agent = open_as_agent(path);
  const auto one = [&](const std::string& sql) {
    const Statements rows = first_column(agent, sql);
    return rows.size() == 1 ? rows[0] : "(" + std::to_string(rows.size()) + " rows)";
  };
  const std::string root =
      "SELECT p.root_path || ' ' || s.sdk_cwd FROM chat_sessions s JOIN projects p ON p.id = "
      "s.project_id WHERE s.id = 's1'";
  run_all(agent, {session_row("s1", "/new/")});
  EXPECT_EQ(one(root), "/new /new/");
  EXPECT_EQ(one("SELECT queued_messages || pending_permissions || is_processing FROM "
                "session_runtime_state WHERE session_id = 's1'"),
            "[][]0");
  // Nothing was said yet: the model's directory moves along. Then it does not.
  run_all(agent, {"UPDATE chat_sessions SET working_directory = '/d' WHERE id = 's1'"});
  EXPECT_EQ(one(root), "/d /d");
  run_all(agent, {message_row("m1", "user", "'hi'"),
                  "UPDATE chat_sessions SET working_directory = '/e' WHERE id = 's1'"});
  EXPECT_EQ(one(root), "/e /d");
  EXPECT_EQ(one("SELECT count(*) FROM projects"), "3") << "/d is there once";
  run_all(agent, {"UPDATE chat_sessions SET runtime_status = 'running' WHERE id = 's1'",
                  "INSERT INTO permission_requests VALUES ('p', 's1', 'Bash', '{}', 'pending')"});
  EXPECT_EQ(one("SELECT is_processing || processing_generation || pending_permissions FROM "
                "session_runtime_state WHERE session_id = 's1'"),
            R"(11[{"id":"p","session_id":"s1","tool_name":"Bash","tool_input":"{}",)"
            R"("status":"pending"}])");
  run_all(agent, {"UPDATE permission_requests SET status = 'allow'",
                  "UPDATE chat_sessions SET runtime_status = 'idle' WHERE id = 's1'"});
  EXPECT_EQ(one("SELECT is_processing || processing_generation || pending_permissions FROM "
                "session_runtime_state WHERE session_id = 's1'"),
            "01[]");
  run_all(agent, {"UPDATE chat_sessions SET status = 'archived', context_summary = 'short', "
                  "context_summary_updated_at = 'then' WHERE id = 's1'"});
  EXPECT_EQ(one("SELECT is_archived || summary || summary_updated_at FROM chat_sessions WHERE id = "
                "'s1'"),
            "1shortthen");
  run_all(agent, {"UPDATE chat_sessions SET status = 'active' WHERE id = 's1'"});
  EXPECT_EQ(one("SELECT is_archived FROM chat_sessions WHERE id = 's1'"), "0");
  run_all(agent, {"DELETE FROM chat_sessions WHERE id = 's1'"});
  for (const char* table : {"messages", "message_parts", "permission_requests"}) {
    EXPECT_EQ(one("SELECT count(*) FROM " + std::string(table)), "0") << table;
  }
  EXPECT_EQ(one("SELECT count(*) FROM session_runtime_state"), "1");
}

TEST_F(AdoptPhases, WhatALaterVersionHasIsCarriedOver) {
  const std::string path = make(
      old_tables() + new_columns() +
      Statements{session_row("s1", "/d"), session_row("s2", "/d"),
                 "UPDATE chat_sessions SET status = 'archived', context_summary = 'short', "
                 "context_summary_updated_at = 'then', sdk_cwd = '/elsewhere', runtime_status = "
                 "'running' WHERE id = 's1'",
                 "INSERT INTO permission_requests VALUES ('p', 's1', 'Bash', '{}', 'pending')",
                 "INSERT INTO permission_requests VALUES ('q', 's1', 'Bash', '{}', 'deny')",
                 "CREATE TABLE projects (id TEXT PRIMARY KEY, root_path TEXT NOT NULL UNIQUE, name "
                 "TEXT, created_at TEXT, updated_at TEXT)",
                 "INSERT INTO projects VALUES ('theirs', '/d', 'D', '', '')"});
  adopt_all(path);
  sql::Connection connection = open_as_agent(path);
  EXPECT_THAT(first_column(
                  connection,
                  "SELECT s.id || ' ' || project_id || ' ' || sdk_cwd || ' ' || is_archived || ' ' "
                  "|| summary || ' ' || coalesce(summary_updated_at, '-') || ' ' || is_processing "
                  "|| pending_permissions FROM chat_sessions s JOIN session_runtime_state t ON "
                  "t.session_id = s.id ORDER BY s.id"),
              ElementsAre(R"(s1 theirs /elsewhere 1 short then 1[{"id":"p","session_id":"s1",)"
                          R"("tool_name":"Bash","tool_input":"{}","status":"pending"}])",
                          "s2 theirs /d 0  - 0[]"));
}

TEST_F(AdoptPhases, WhatWasUndoneIsDoneAgain) {
  const std::string path = make_odd();
  adopt_all(path);
  const Statements wanted = adopted_state(path);
  {
    sql::Connection somebody = open_as_agent(path);
    run_all(somebody, {"DROP TRIGGER quipu_message_new", "DELETE FROM message_parts",
                       "DROP TRIGGER quipu_state_new",
                       "CREATE TRIGGER quipu_state_new AFTER INSERT ON chat_sessions BEGIN SELECT "
                       "1; END"});
  }
  const AdoptReport again = adopt(path, 3);
  EXPECT_TRUE(again.phases[0].was_done);
  EXPECT_FALSE(again.phases[1].was_done);
  EXPECT_FALSE(again.phases[2].was_done);
  EXPECT_TRUE(again.phases[3].was_done);
  EXPECT_EQ(again.phases[1].backup, path + ".before-phase-1.1") << "the older one stays";
  EXPECT_EQ(adopted_state(path), wanted);
}

}  // namespace
}  // namespace quipu
