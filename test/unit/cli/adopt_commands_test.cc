// adopt, as a shell sees it.
#include <gmock/gmock.h>

#include <filesystem>

#include "program.h"
#include "support/agent_database.h"

namespace quipu::cli {
namespace {

using testing::HasSubstr;

class AdoptCommand : public CliTest {
 protected:
  AdoptCommand() {
    write_whole(file(),
                database_image(
                    {"CREATE TABLE chat_sessions (id TEXT PRIMARY KEY, created_at TEXT, updated_at "
                     "TEXT, working_directory TEXT, sdk_session_id TEXT)",
                     "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, "
                     "content TEXT, created_at TEXT)",
                     "INSERT INTO chat_sessions VALUES ('s1', '', '', '/data', '')",
                     "INSERT INTO messages VALUES ('m1', 's1', 'user', 'Which way?', '')"}));
  }
  std::string file() const { return path("codepilot.db"); }
  static Outcome adopt(std::vector<std::string> args) {
    args.insert(args.begin(), {"adopt", "codepilot"});
    return run_program({.args = std::move(args)});
  }
};

TEST_F(AdoptCommand, OnACopyAPhaseAtATime) {
  EXPECT_EQ(adopt({file(), "--phase", "0"}).code, 0);
  const Outcome next = adopt({file(), "--phase", "2"});
  EXPECT_EQ(next.code, 0) << next.err;
  EXPECT_THAT(next.out, HasSubstr("phase 0  done already\nphase 1  done\n"));
  EXPECT_THAT(next.err, HasSubstr("adopted: " + file() + ".adopted.db"));
}

TEST_F(AdoptCommand, OnACopy) {
  const std::string bytes = read_whole(file());
  const Outcome outcome = adopt({file()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("phase 3  done"));
  EXPECT_THAT(outcome.out, HasSubstr("  1  parts made"));
  EXPECT_THAT(outcome.err, HasSubstr("adopted: " + file() + ".adopted.db"));
  EXPECT_THAT(outcome.err, HasSubstr("the original is as it was"));
  EXPECT_EQ(read_whole(file()), bytes);
  const Outcome again = adopt({file()});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("phase 3  done already"));
  const Outcome named = adopt({file(), "--out", file() + ".adopted.db"});
  EXPECT_EQ(named.code, 4);
  EXPECT_THAT(named.err, HasSubstr("is there already"));
  EXPECT_EQ(adopt({file(), "--out", path("b.db"), "--phase", "0"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(path("b.db")));
}

TEST_F(AdoptCommand, InPlaceAPhaseAtATime) {
  const Outcome first = adopt({file(), "--in-place", "--phase", "0", "--json"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out,
              HasSubstr("{\"adopted\":\"" + file() +
                        "\",\"phases\":[{\"phase\":0,\"wasDone\":false,\"backup\":\"" + file() +
                        ".before-phase-0\",\"changes\":[{\"what\":\"table "
                        "projects\",\"count\":1}"));
  const Outcome same = adopt({file(), "--in-place", "--phase", "0"});
  EXPECT_EQ(same.code, 0);
  EXPECT_EQ(same.out, "phase 0  done already\n");
  EXPECT_THAT(same.err, HasSubstr("nothing is changed"));
  const Outcome rest = adopt({file(), "--in-place"});
  EXPECT_THAT(rest.out, HasSubstr("phase 0  done already\nphase 1  done\n"));
  EXPECT_THAT(rest.out, HasSubstr("backup: " + file() + ".before-phase-3"));
  EXPECT_THAT(rest.err, HasSubstr("the way back"));
}

TEST_F(AdoptCommand, ADryRunChangesNothing) {
  const Outcome dry = adopt({file(), "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("phase 0  would be done"));
  EXPECT_THAT(dry.out, HasSubstr("  1  sessions given a project"));
  EXPECT_FALSE(std::filesystem::exists(file() + ".adopted.db"));
}

TEST_F(AdoptCommand, WhatMakesNoSenseIsRefused) {
  EXPECT_EQ(adopt({file(), "--in-place", "--out", path("x.db")}).code, 2);
  EXPECT_EQ(adopt({file(), "--phase", "4"}).code, 2);
  EXPECT_EQ(adopt({}).code, 2);
  EXPECT_EQ(run_program({.args = {"adopt", "nobody", file()}}).code, 2);
  EXPECT_EQ(adopt({path("none.db")}).code, 3);
  write_whole(path("text.db"), "no database");
  const Outcome text = adopt({path("text.db")});
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.err, HasSubstr("no database of SQLite"));
  EXPECT_THAT(adopt({"--help"}).out, HasSubstr("--in-place"));
}

}  // namespace
}  // namespace quipu::cli
