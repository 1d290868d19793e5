// Where a database is adopted: on a copy, in place, for a look; and what cannot be.
#include <gmock/gmock.h>

#include <algorithm>

#include "adopt_database.h"

namespace quipu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Adopt : public AdoptTest {
 protected:
  static Code refused(const std::string& path, const AdoptOptions& options = {}) {
    const auto report = adopt_codepilot(path, options);
    EXPECT_FALSE(report.ok());
    if (report.ok()) return Code::kInternal;
    EXPECT_THAT(report.error().message(), HasSubstr(path.substr(path.rfind('/') + 1)));
    return report.error().code();
  }
};

TEST_F(Adopt, ACopyLeavesTheOriginalAsItWas) {
  const std::string path = make_odd();
  const std::string bytes = read_file(path);
  const AdoptReport report = adopt(path, 3, false);
  EXPECT_EQ(report.adopted, path + ".adopted.db");
  EXPECT_EQ(read_file(path), bytes);
  EXPECT_THAT(names(), ElementsAre("codepilot.db", "codepilot.db.adopted.db"));
  const std::string in_place = make_odd("other.db");
  adopt(in_place, 3);
  EXPECT_EQ(adopted_state(report.adopted), adopted_state(in_place));
  std::ofstream(path + ".adopted.db", std::ios::trunc) << "something else";
  EXPECT_EQ(refused(path), Code::kIdConflict) << "nothing is overwritten";
  const auto there = adopt_codepilot(path, {.phase = 3, .out = directory_ / "b.db"});
  ASSERT_TRUE(there.ok());
  EXPECT_EQ(adopted_state(directory_ / "b.db"), adopted_state(in_place));
}

TEST_F(Adopt, ACopyOfWhatIsAdoptedIsNotMade) {
  const std::string path = make_odd();
  adopt(path, 2);
  const auto files = names();
  EXPECT_EQ(adopt(path, 2, false).adopted, "");
  EXPECT_EQ(names(), files);
}

TEST_F(Adopt, ADryRunSaysWhatWouldBeDone) {
  const std::string path = make_odd();
  const std::string bytes = read_file(path);
  for (const bool in_place : {false, true}) {
    const auto dry = adopt_codepilot(path, {.phase = 3, .in_place = in_place, .dry_run = true});
    ASSERT_TRUE(dry.ok());
    EXPECT_EQ(dry->adopted, "");
    EXPECT_EQ(read_file(path), bytes);
    EXPECT_THAT(names(), ElementsAre("codepilot.db"));
    const std::string again = make_odd("again.db");
    const AdoptReport real = adopt(again, 3);
    ASSERT_EQ(dry->phases.size(), real.phases.size());
    for (std::size_t i = 0; i < real.phases.size(); ++i) {
      ASSERT_EQ(dry->phases[i].changes.size(), real.phases[i].changes.size());
      for (std::size_t k = 0; k < real.phases[i].changes.size(); ++k) {
        EXPECT_EQ(dry->phases[i].changes[k].what, real.phases[i].changes[k].what);
        EXPECT_EQ(dry->phases[i].changes[k].count, real.phases[i].changes[k].count);
      }
    }
    for (const std::string& name : names()) {
      if (name != "codepilot.db") std::filesystem::remove(directory_ / name);
    }
  }
}

TEST_F(Adopt, BeforeEachPhaseTheFileIsSaved) {
  const std::string path = make_odd();
  const QuotedRows before = quoted_rows(read_file(path));
  write_file(path + ".before-phase-0", "an older one");
  const AdoptReport report = adopt(path, 1);
  EXPECT_EQ(read_file(path + ".before-phase-0"), "an older one");
  EXPECT_EQ(report.phases[0].backup, path + ".before-phase-0.1");
  EXPECT_EQ(report.phases[1].backup, path + ".before-phase-1");
  EXPECT_EQ(quoted_rows(read_file(report.phases[0].backup)), before);
  const QuotedRows between = quoted_rows(read_file(report.phases[1].backup));
  EXPECT_TRUE(between.contains("projects"));
  EXPECT_FALSE(between.contains("message_parts"));
  EXPECT_EQ(std::filesystem::status(report.phases[0].backup).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

// CodePilot runs: what it committed is in its log, and nothing of its files is touched.
TEST_F(Adopt, WhatAnAgentHasOpenIsCopiedOnly) {
  const std::string path = make(Statements{"PRAGMA journal_mode=WAL"} + old_tables());
  sql::Connection agent = open_as_agent(path);
  run_all(agent, {session_row("s1", "/d"), message_row("m1", "user", "'hi'")});
  const std::string bytes = read_file(path);
  const std::string log = read_file(path + "-wal");
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(refused(path, {.phase = 3, .in_place = true}), Code::kBusy);
  const AdoptReport report = adopt(path, 3, false);
  EXPECT_EQ(read_file(path), bytes);
  EXPECT_EQ(read_file(path + "-wal"), log);
  EXPECT_EQ(quoted_rows(read_file(report.adopted)).at("message_parts").size(), 1u);
  EXPECT_THAT(names(), ElementsAre("codepilot.db", "codepilot.db-shm", "codepilot.db-wal",
                                   "codepilot.db.adopted.db"));
}

TEST_F(Adopt, WhatAnAgentIsWritingIsBusy) {
  const std::string path = make_odd();
  const std::string bytes = read_file(path);
  {
    sql::Connection agent = open_as_agent(path);
    run_all(agent, {"BEGIN IMMEDIATE"});
    EXPECT_EQ(refused(path, {.phase = 3, .in_place = true}), Code::kBusy);
  }
  EXPECT_EQ(read_file(path), bytes);
  EXPECT_THAT(names(), ElementsAre("codepilot.db"));
  adopt(path, 3);
}

TEST_F(Adopt, WhatIsNoDatabaseOfCodepilotIsSaidToBeNone) {
  for (const bool in_place : {false, true}) {
    const AdoptOptions options{.phase = 3, .in_place = in_place};
    EXPECT_EQ(refused(directory_ / "none.db", options), Code::kNotFound);
    write_file(directory_ / "text.db", "some text that is long enough to be looked at");
    EXPECT_EQ(refused(directory_ / "text.db", options), Code::kInvalidArgument);
    write_file(directory_ / "empty.db", "");
    EXPECT_EQ(refused(directory_ / "empty.db", options), Code::kInvalidArgument);
    write_file(directory_ / "else.db", database_image({"CREATE TABLE messages (id TEXT)"}));
    EXPECT_EQ(refused(directory_ / "else.db", options), Code::kInvalidArgument);
    write_file(directory_ / "early.db",
               database_image({"CREATE TABLE chat_sessions (id TEXT PRIMARY KEY)",
                               "CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, "
                               "content TEXT)"}));
    EXPECT_EQ(refused(directory_ / "early.db", options), Code::kUnsupported);
    write_file(directory_ / "shape.db",
               database_image(old_tables() + Statements{"CREATE TABLE projects (id TEXT)"}));
    EXPECT_EQ(refused(directory_ / "shape.db", options), Code::kUnsupported);
    write_file(directory_ / "newer.db",
               database_image(old_tables() +
                              Statements{"CREATE TABLE quipu_adoption (phase INTEGER PRIMARY KEY, "
                                         "adopted_at TEXT, version TEXT)",
                                         "INSERT INTO quipu_adoption VALUES (4, '', '')"}));
    EXPECT_EQ(refused(directory_ / "newer.db", options), Code::kUnsupported);
  }
  for (const std::string& name : names()) {
    EXPECT_THAT(name, testing::EndsWith(".db")) << "no backup, no copy";
    EXPECT_THAT(name, testing::Not(HasSubstr("adopted")));
  }
}

TEST_F(Adopt, PhasesThatThereAreNotAreRefused) {
  const std::string path = make_odd();
  for (const int phase : {-1, 4}) {
    const auto report = adopt_codepilot(path, {.phase = phase});
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.error().code(), Code::kInvalidArgument);
  }
  EXPECT_FALSE(adopt_codepilot(path, {.phase = 3, .out = "x", .in_place = true}).ok());
}

// Every page in turn is overwritten: it is adopted where nothing of it was needed, or refused;
// the file is never changed where it was refused.
TEST_F(Adopt, ADamagedFileIsSaidToBeDamaged) {
  const std::string path = make_odd();
  const std::string good = read_file(path);
  constexpr std::size_t kPage = 4096;
  std::size_t corrupt = 0;
  for (std::size_t at = kPage; at < good.size(); at += kPage * 7) {
    std::string bad = good;
    std::fill_n(bad.begin() + static_cast<std::ptrdiff_t>(at), kPage, '\xee');
    for (const bool in_place : {false, true}) {
      write_file(path, bad);
      const auto report = adopt_codepilot(path, {.phase = 3, .in_place = in_place});
      if (report.ok()) continue;
      ++corrupt;
      EXPECT_EQ(report.error().code(), Code::kCorrupt) << report.error().message();
      EXPECT_EQ(read_file(path), bad);
      EXPECT_THAT(names(), ElementsAre("codepilot.db")) << "nothing half done is left";
    }
    for (const std::string& name : names()) std::filesystem::remove(directory_ / name);
  }
  EXPECT_GT(corrupt, 4u);
}

}  // namespace
}  // namespace quipu
