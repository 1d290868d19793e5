// The parts of messages: made from content, kept in step with it, and saying the same.
#include <gmock/gmock.h>

#include <algorithm>

#include "adopt_database.h"
#include "exchange/adopt/parts.h"
#include "support/import_machine.h"

namespace quipu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AdoptParts : public AdoptTest {
 protected:
  static Statements parts_of(sql::Connection& connection, const std::string& message) {
    return first_column(connection,
                        "SELECT part_type || ' ' || payload FROM message_parts WHERE "
                        "message_id = " +
                            sql_text(message) + " ORDER BY seq");
  }
  static Statements all_parts(const std::string& path) {
    sql::Connection connection = open_as_agent(path);
    return first_column(connection,
                        "SELECT quote(id) || quote(message_id) || quote(session_id) || part_type "
                        "|| quote(payload) || seq || created_at FROM message_parts ORDER BY id");
  }
  // A message of each content in an adopted database, and what came of it.
  Statements made_of(const std::string& role, const std::string& content) {
    const std::string path =
        make(old_tables() + Statements{session_row("s1", "/d"), message_row("m", role, content)});
    adopt(path, 1);
    sql::Connection connection = open_as_agent(path);
    Statements made = parts_of(connection, "m");
    std::filesystem::remove(path);
    return made;
  }
};

TEST_F(AdoptParts, EachContentHasItsOwn) {
  EXPECT_THAT(made_of("user", "'hi'"), ElementsAre(R"(text {"text":"hi"})"));
  EXPECT_THAT(made_of("assistant", "''"), ElementsAre(R"(text {"text":""})"));
  EXPECT_THAT(
      made_of("assistant",
              sql_text(R"([ {"type":"text","text":"a"}, {"type":"thinking","thinking":"b"},)"
                       R"({"type":"tool_use","id":"c","name":"Read","input":{"p": 1}},)"
                       R"({"type":"tool_result","tool_use_id":"c","content":"d"}])")),
      ElementsAre(R"(text {"type":"text","text":"a"})",
                  R"(status {"type":"thinking","thinking":"b"})",
                  R"(tool_use {"type":"tool_use","id":"c","name":"Read","input":{"p":1}})",
                  R"(tool_result {"type":"tool_result","tool_use_id":"c","content":"d"})"));
  EXPECT_THAT(made_of("user", sql_text(R"([{"type":"text","text":"a"}])")),
              ElementsAre(R"(text {"text":"[{\"type\":\"text\",\"text\":\"a\"}]"})"))
      << "what a person typed is text";
  EXPECT_THAT(made_of("user", sql_text(R"(<!--files:[{"name":"a.png","type":"image/png"}]-->see)")),
              ElementsAre(R"(attachment {"file":{"name":"a.png","type":"image/png"}})",
                          R"(text {"text":"see"})"));
  EXPECT_THAT(made_of("assistant", "'[broken'"), ElementsAre(R"(text {"text":"[broken"})"));
  EXPECT_THAT(made_of("user", "hex(zeroblob(1 << 23)) || 'x'"), IsEmpty()) << "too long";
  EXPECT_THAT(made_of("user", "NULL"), IsEmpty());
  EXPECT_THAT(made_of("user", "x'00ff'"), IsEmpty());
  EXPECT_THAT(made_of("user", "'a' || char(0) || 'b'"), IsEmpty());
}

TEST_F(AdoptParts, OldWritersGetTheSameAsOldRows) {
  const std::string before = make_odd("before.db");
  adopt(before, 1);
  const std::string after = make(old_tables(), "after.db");
  adopt(after, 1);
  {
    sql::Connection agent = open_as_agent(after);
    ASSERT_TRUE(agent.execute("PRAGMA foreign_keys=OFF").ok()) << "for the message of no session";
    run_all(agent, odd_rows());
  }
  EXPECT_EQ(all_parts(after), all_parts(before));
  EXPECT_GT(all_parts(after).size(), 50u);
  // And by a change of what was there.
  const std::string changed = make(old_tables(), "changed.db");
  adopt(changed, 1);
  {
    sql::Connection agent = open_as_agent(changed);
    run_all(agent, {"PRAGMA foreign_keys=OFF", "ATTACH " + sql_text(before) + " AS other",
                    "INSERT INTO chat_sessions (id) SELECT id FROM other.chat_sessions",
                    "INSERT INTO messages (id, session_id, role, content) SELECT id, session_id, "
                    "'user', 'draft' FROM other.messages",
                    "UPDATE messages SET (role, content) = (SELECT o.role, o.content FROM "
                    "other.messages o WHERE o.id = messages.id)"});
  }
  EXPECT_EQ(all_parts(changed), all_parts(before));
}

TEST_F(AdoptParts, TheyFollowTheirMessage) {
  const std::string path = make(old_tables() + Statements{session_row("s1", "/d")});
  adopt(path, 1);
  sql::Connection agent = open_as_agent(path);
  run_all(agent, {message_row("m", "user", "'one'")});
  EXPECT_THAT(parts_of(agent, "m"), ElementsAre(R"(text {"text":"one"})"));
  run_all(agent, {"UPDATE messages SET content = 'two' WHERE id = 'm'"});
  EXPECT_THAT(parts_of(agent, "m"), ElementsAre(R"(text {"text":"two"})"));
  run_all(agent, {"INSERT OR REPLACE INTO messages (id, session_id, role, content) VALUES ('m', "
                  "'s1', 'user', 'three')"});
  EXPECT_THAT(parts_of(agent, "m"), ElementsAre(R"(text {"text":"three"})"));
  run_all(agent, {"UPDATE messages SET id = 'n' WHERE id = 'm'"});
  EXPECT_THAT(parts_of(agent, "m"), IsEmpty());
  EXPECT_THAT(parts_of(agent, "n"), ElementsAre(R"(text {"text":"three"})"));
  run_all(agent, {"UPDATE messages SET token_usage = '{}' WHERE id = 'n'"});
  EXPECT_THAT(parts_of(agent, "n"), ElementsAre(R"(text {"text":"three"})"));
  run_all(agent, {"PRAGMA foreign_keys=OFF",
                  "INSERT OR REPLACE INTO messages (id, session_id, role, content) VALUES ('n', "
                  "'s1', 'user', 'four')"});
  EXPECT_THAT(parts_of(agent, "n"), ElementsAre(R"(text {"text":"four"})"));
  run_all(agent, {"DELETE FROM messages WHERE id = 'n'"});
  EXPECT_THAT(parts_of(agent, "n"), IsEmpty());
}

// One that knows the design writes content and parts: they do not stand there twice.
TEST_F(AdoptParts, ThoseOfAnotherProgramTakeTheirPlace) {
  const std::string path = make(old_tables() + Statements{session_row("s1", "/d")});
  adopt(path, 1);
  {
    sql::Connection agent = open_as_agent(path);
    run_all(agent, {message_row("m", "assistant", "'in short'"),
                    "INSERT INTO message_parts (id, message_id, session_id, part_type, payload, "
                    "seq) VALUES ('p1', 'm', 's1', 'text', '{\"text\":\"one\"}', 0)",
                    "INSERT INTO message_parts (id, message_id, session_id, part_type, payload, "
                    "seq) VALUES ('p2', 'm', 's1', 'text', '{\"text\":\"two\"}', 1)"});
    EXPECT_THAT(parts_of(agent, "m"),
                ElementsAre(R"(text {"text":"one"})", R"(text {"text":"two"})"));
  }
  const AdoptReport again = adopt(path, 1);
  EXPECT_TRUE(again.phases[1].was_done) << "theirs are left alone";
}

TEST_F(AdoptParts, WhatIsNotTheContentIsSeen) {
  using adoption::parts_say;
  const auto say = [](std::string_view content, std::vector<std::string> payloads) {
    return parts_say(content, payloads);
  };
  EXPECT_TRUE(say("a", {R"({"text":"a"})"}));
  EXPECT_FALSE(say("a", {R"({"text":"b"})"}));
  EXPECT_FALSE(say("a", {}));
  EXPECT_FALSE(say("a", {R"({"other":"a"})"}));
  EXPECT_TRUE(say(R"([ {"type": "x y"} ,{"type":"z"}])", {R"({"type":"x y"})", R"({"type":"z"})"}));
  EXPECT_FALSE(say(R"([{"type":"x y"}])", {R"({"type":"xy"})"}));
  EXPECT_FALSE(say(R"([{"type":"x"},{"type":"z"}])", {R"({"type":"x"})"}));
  EXPECT_TRUE(say(R"([{"type":"\" "}])", {R"({"type":"\" "})"}));
  EXPECT_FALSE(say(R"([{"type":"\" "}])", {R"({"type":"\""})"}));
  const std::string files = R"(<!--files:[{"name":"a"}]-->b)";
  EXPECT_TRUE(say(files, {R"({"file":{"name":"a"}})", R"({"text":"b"})"}));
  EXPECT_FALSE(say(files, {R"({"file":{"name":"b"}})", R"({"text":"b"})"}));
  EXPECT_FALSE(say(files, {R"({"file":{"name":"a"}})", R"({"text":"c"})"}));
  EXPECT_FALSE(say("b", {R"({"file":{"name":"a"}})", R"({"text":"b"})"}));
}

std::vector<std::string> said_in(const std::string& image, std::vector<ImportReport>* reports) {
  ImportMachine machine;
  const std::string path = "/home/ada/.codepilot/codepilot.db";
  machine.host.files[path] = image;
  *reports =
      machine.import_all(machine.find({.agents = {}, .paths = {path}, .since_ms = 0}).sources);
  std::vector<std::string> lines;
  for (const ImportReport& report : *reports) {
    EXPECT_FALSE(report.error) << report.error->message();
    auto conversation = read_conversation(machine.store, report.session_id, {});
    EXPECT_TRUE(conversation.ok()) << conversation.error().message();
    for (const Utterance& utterance : *conversation) {
      std::string line = report.session_id + " " + std::string(name(utterance.message.role));
      for (const Part& part : utterance.message.parts) {
        line += " | " + std::to_string(static_cast<int>(part.type)) + part.text + part.name +
                part.input + part.tool_use_id + part.path + part.media_type +
                (part.is_error ? "!" : "");
        for (const Part& inner : part.content) line += " = " + inner.text;
      }
      lines.push_back(line);
    }
  }
  return lines;
}

TEST_F(AdoptParts, AnImportSaysTheSameAfterEveryPhase) {
  std::vector<ImportReport> reports;
  const std::string path = make(old_tables() + new_columns() + odd_rows());
  const auto before = said_in(read_file(path), &reports);
  ASSERT_GT(before.size(), 40u);
  for (int phase = 0; phase <= kAdoptPhaseLast; ++phase) {
    adopt(path, phase);
    EXPECT_EQ(said_in(read_file(path), &reports), before) << "phase " << phase;
    EXPECT_EQ(reports.size(), 7u);
  }
}

}  // namespace
}  // namespace quipu
