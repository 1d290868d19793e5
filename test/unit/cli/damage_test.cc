// What the commands say about damaged and old files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/json_in.h"
#include "cli/utf8.h"
#include "program.h"

namespace quipu::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string first_problem(const std::string& json) {
  const auto sessions = JsonView(json).member("sessions").elements();
  for (const JsonView& session : sessions) {
    const auto problems = session.member("problems").elements();
    if (!problems.empty()) return problems[0].member("kind").string();
  }
  return "";
}

TEST_F(CliTest, TornTailIsReportedAndTheNextAppendMendsIt) {
  make_conversation();
  const std::string sound = read_whole(log_of("s"));
  const std::string entries = quipu({"cat", "s"}).out;
  const std::string torn = R"({"id":"half","type":"mess)";
  write_whole(log_of("s"), sound + torn);

  const Outcome verified = quipu({"verify", "--json"});
  EXPECT_EQ(verified.code, 5);
  EXPECT_EQ(JsonView(verified.out).member("ok").raw(), "false");
  EXPECT_EQ(first_problem(verified.out), "torn_tail");
  EXPECT_THAT(quipu({"verify", "s"}).out,
              HasSubstr("torn_tail at byte " + std::to_string(sound.size())));
  EXPECT_EQ(quipu({"cat", "s"}).out, entries) << "readers see what was committed";
  EXPECT_EQ(read_whole(log_of("s")), sound + torn) << "and write nothing";

  EXPECT_EQ(quipu({"append", "s"}, message("u9", "user", "Go on.")).code, 0);
  EXPECT_EQ(quipu({"verify"}).code, 0);
  std::size_t kept = 0;
  for (const auto& file : std::filesystem::directory_iterator(path("store/quarantine"))) {
    if (read_whole(file.path()).find(torn) != std::string::npos) ++kept;
  }
  EXPECT_EQ(kept, 1u) << "nothing vanishes";
}

TEST_F(CliTest, RepairMendsATornTail) {
  make_conversation();
  const std::string sound = read_whole(log_of("s"));
  write_whole(log_of("s"), sound + "{\"id\":\"half");
  const Outcome repaired = quipu({"repair", "--json"});
  EXPECT_EQ(repaired.code, 0) << repaired.err;
  const JsonView session = JsonView(repaired.out).member("sessions").elements()[0];
  EXPECT_FALSE(session.member("actions").elements().empty());
  EXPECT_EQ(session.member("quarantined").elements().size(), 1u);
  EXPECT_EQ(read_whole(log_of("s")), sound);
  EXPECT_EQ(quipu({"verify"}).code, 0);
  EXPECT_THAT(quipu({"repair"}).out, HasSubstr("sound"));
}

TEST_F(CliTest, DamagedLineIsNeverPassedOverInSilence) {
  make_conversation();
  // A later whole batch: without it the end of the log would count as torn.
  ASSERT_EQ(quipu({"append", "s"}, message("u9", "user", "Go on.")).code, 0);
  std::string log = read_whole(log_of("s"));
  log[log.find("When?")] = 'w';
  write_whole(log_of("s"), log);
  for (const char* round : {"with its index", "without"}) {
    for (const auto& args : std::vector<std::vector<std::string>>{
             {"cat", "s"}, {"show", "s"}, {"list"}, {"tree", "s"}, {"cat", "--sealed", "s"}}) {
      const Outcome outcome = quipu(args);
      EXPECT_THAT(outcome.err, HasSubstr("damaged")) << args[0] << " " << round;
      EXPECT_THAT(outcome.out, Not(HasSubstr("when?"))) << args[0] << " " << round;
    }
    std::filesystem::remove(path("store/sessions/s.idx"));
  }
  EXPECT_EQ(quipu({"verify"}).code, 5);
  EXPECT_THAT(quipu({"dump", "s"}).out, HasSubstr("when?"));
}

// What rotted may be a part that the caller did not give, and must not be taken for stored.
TEST_F(CliTest, ARepeatIsNotComparedWithARottenLine) {
  make_conversation();
  ASSERT_EQ(quipu({"append", "s"}, message("u9", "user", "Go on.")).code, 0);
  std::string log = read_whole(log_of("s"));
  const std::size_t line = log.rfind('\n', log.find(R"("id":"u2")"));
  log[log.find("timestamp\":\"2", line) + 12] = '1';
  write_whole(log_of("s"), log);
  const Outcome again = quipu({"append", "s"}, message("u2", "user", "By whom?"));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(JsonView(again.out).member("appendedCount").raw(), "1") << "it is stored anew";
  EXPECT_THAT(quipu({"append", "s"}, message("u9", "user", "Go on.")).out,
              HasSubstr("\"alreadyPresent\":1"))
      << "what stands behind a rotten line is sound";
}

TEST_F(CliTest, AnIdThatRottedIsNobodys) {
  make_conversation();
  ASSERT_EQ(quipu({"append", "s"}, message("u9", "user", "Go on.")).code, 0);
  std::string log = read_whole(log_of("s"));
  log[log.find(R"("id":"u2")") + 6] = 'x';
  write_whole(log_of("s"), log);
  EXPECT_THAT(quipu({"path", "s", "a2"}).out, HasSubstr("damaged-"));
  EXPECT_THAT(quipu({"tree", "s", "--json"}).out, Not(HasSubstr("\"x2\"")));
}

TEST_F(CliTest, AMigrationSaysWhatItLeavesBehind) {
  ASSERT_EQ(quipu({"init"}).code, 0);
  write_whole(log_of("old"),
              "{\"type\":\"user\",\"content\":\"one\"}\nno JSON\n"
              "{\"type\":\"user\",\"content\":\"two\"}\n{\"type\":\"us");
  const Outcome migrated = quipu({"migrate", "old", "--json"});
  EXPECT_EQ(migrated.code, 0) << migrated.err;
  const auto session = JsonView(migrated.out).member("sessions").elements()[0];
  std::string kept;
  for (const JsonView& file : session.member("quarantined").elements()) {
    kept += read_whole(path("store/" + file.string()));
  }
  EXPECT_THAT(kept, HasSubstr("no JSON"));
  EXPECT_THAT(kept, HasSubstr("{\"type\":\"us"));
}

TEST_F(CliTest, AStoreThatLostItsFileIsMadeWholeByInit) {
  make_conversation();
  std::filesystem::remove(path("store/quipu.json"));
  const Outcome listed = quipu({"list"});
  EXPECT_NE(listed.code, 0) << "not an empty store";
  EXPECT_THAT(listed.err, HasSubstr("quipu init"));
  EXPECT_EQ(quipu({"init"}).code, 0);
  EXPECT_THAT(quipu({"list"}).out, HasSubstr("Knots"));
  write_whole(path("store/quipu.json"), "{");
  const Outcome damaged = quipu({"verify"});
  EXPECT_EQ(damaged.code, 5);
  EXPECT_THAT(damaged.err, HasSubstr("quipu init"));
}

TEST_F(CliTest, LinesOfOtherProgramsAreValidJsonWhereThatIsAskedFor) {
  make_conversation();
  const std::string nested = std::string(900, '[') + std::string(900, ']');
  write_whole(log_of("s"),
              read_whole(log_of("s")) +
                  "{\"id\":\"no-utf8\",\"type\":\"message\",\"payload\":{\"a\":\"\xff\"}}\n"
                  "{\"id\":\"deep\",\"type\":\"message\",\"payload\":{\"a\":" +
                  nested + "}}\n");
  EXPECT_EQ(quipu({"verify", "s"}).code, 0) << "both are whole lines, and adopted";
  for (const auto& args :
       std::vector<std::vector<std::string>>{{"cat", "s", "--json"},
                                             {"show", "s", "--json"},
                                             {"show", "s", "--entry", "no-utf8", "--json"}}) {
    const Outcome outcome = quipu(args);
    EXPECT_TRUE(is_utf8(outcome.out)) << args[0];
    EXPECT_THAT(outcome.out, HasSubstr("\ufffd")) << args[0];
  }
  EXPECT_THAT(quipu({"cat", "s"}).out, HasSubstr("\xff")) << "data is given as it is";
  EXPECT_THAT(quipu({"cat", "s"}).out, HasSubstr(nested));
}

// Of the lines that it is made from: others are not looked at.
TEST_F(CliTest, ARequestWithAHoleIsNotMadeInSilence) {
  make_conversation();
  ASSERT_EQ(quipu({"append", "s"}, message("u9", "user", "Go on.")).code, 0);
  ASSERT_EQ(quipu({"append", "s"}, message("u10", "user", "And on.")).code, 0);
  EXPECT_THAT(quipu({"context", "s"}).err, Not(HasSubstr("damaged")));
  std::string log = read_whole(log_of("s"));
  log[log.find("Go on.")] = 'g';
  write_whole(log_of("s"), log);
  for (const char* round : {"with its index", "without"}) {
    const Outcome outcome = quipu({"context", "s"});
    EXPECT_EQ(outcome.code, 0) << round;
    EXPECT_THAT(outcome.err, HasSubstr("1 damaged line")) << round;
    EXPECT_THAT(outcome.out, HasSubstr("And on.")) << round;
    EXPECT_THAT(outcome.out, Not(HasSubstr("go on."))) << round;
    std::filesystem::remove(path("store/sessions/s.idx"));
  }
}

TEST_F(CliTest, ALogWithoutItsBeginningIsNotSound) {
  make_conversation();
  const std::string log = read_whole(log_of("s"));
  write_whole(log_of("s"), "");
  for (const char* round : {"with its index", "without"}) {
    EXPECT_EQ(quipu({"verify"}).code, 5) << round;
    EXPECT_THAT(quipu({"verify"}).out, HasSubstr("missing_header")) << round;
    std::filesystem::remove(path("store/sessions/s.idx"));
  }
  ASSERT_EQ(quipu({"append", "s"}, message("u9", "user", "Go on.")).code, 0);
  EXPECT_EQ(first_problem(quipu({"verify", "--json"}).out), "missing_header");
  write_whole(log_of("s"), R"({"type":"user","content":"of another program"})"
                           "\n");
  std::filesystem::remove(path("store/sessions/s.idx"));
  EXPECT_EQ(quipu({"verify"}).code, 0);
}

// An index that was made for other bytes is to blame for what a list says, and is mended.
TEST_F(CliTest, AListForgetsWhatARepairMended) {
  make_conversation();
  ASSERT_EQ(quipu({"append", "s"}, message("u9", "user", "Go on.")).code, 0);
  const std::string log = read_whole(log_of("s"));
  // Sealed lines of another order: the index does not fit, but for its end.
  std::string other = log;
  other[other.find("When?")] = 'w';
  write_whole(log_of("s"), other);
  EXPECT_THAT(quipu({"list"}).err, HasSubstr("damaged"));
  const auto time = std::filesystem::last_write_time(log_of("s"));
  write_whole(log_of("s"), log);
  std::filesystem::last_write_time(log_of("s"), time);
  std::filesystem::remove(path("store/sessions/s.idx"));
  write_whole(path("store/sessions/s.idx"), "no index");
  ASSERT_EQ(quipu({"repair"}).code, 0);
  EXPECT_THAT(quipu({"list"}).err, Not(HasSubstr("damaged")));
}

// Nothing is wrong with it: it is for another program.
TEST_F(CliTest, ASessionOfANewerVersionIsNotDamaged) {
  ASSERT_EQ(quipu({"init"}).code, 0);
  std::filesystem::create_directories(path("store/sessions"));
  write_whole(log_of("new"), R"({"id":"h","type":"session_header","payload":{"version":9}})"
                             "\n");
  const Outcome verified = quipu({"verify", "--json"});
  EXPECT_EQ(verified.code, 6);
  EXPECT_EQ(first_problem(verified.out), "newer_version");
  EXPECT_THAT(quipu({"verify", "new"}).out, Not(HasSubstr("damaged")));
  write_whole(log_of("new"), read_whole(log_of("new")) + R"({"id":"half)");
  EXPECT_EQ(quipu({"verify"}).code, 5) << "damage weighs more";
}

// The index knows the batch, and what the log says of it is that it is torn.
TEST_F(CliTest, RepairSaysWhatItTookAway) {
  make_conversation();
  std::string log = read_whole(log_of("s"));
  log[log.find("When?")] = 'w';
  write_whole(log_of("s"), log);
  const Outcome repaired = quipu({"repair", "--json"});
  const JsonView session = JsonView(repaired.out).member("sessions").elements()[0];
  EXPECT_EQ(session.member("quarantined").elements().size(), 1u) << repaired.out;
  EXPECT_THAT(repaired.out, HasSubstr("moved the torn tail to quarantine/"));
  EXPECT_EQ(quipu({"verify"}).code, 0);
}

TEST_F(CliTest, MigrateKeepsTheOldFile) {
  ASSERT_EQ(quipu({"init"}).code, 0);
  std::filesystem::create_directories(path("store/sessions"));
  const std::string old = R"({"type":"user","content":"hello"})"
                          "\n"
                          R"({"type":"assistant","content":"world"})"
                          "\n";
  write_whole(log_of("old"), old);
  EXPECT_THAT(quipu({"show", "old"}).out, HasSubstr("hello"));
  const Outcome migrated = quipu({"migrate", "old", "--json"});
  ASSERT_EQ(migrated.code, 0) << migrated.err << migrated.out;
  const JsonView session = JsonView(migrated.out).member("sessions").elements()[0];
  EXPECT_EQ(session.member("fromVersion").raw(), "0");
  EXPECT_EQ(session.member("toVersion").raw(), "1");
  EXPECT_EQ(read_whole(store() + "/" + session.member("keptAs").string()), old);
  EXPECT_THAT(quipu({"migrate"}).out, HasSubstr("current"));
  EXPECT_EQ(quipu({"verify"}).code, 0);
  EXPECT_THAT(quipu({"show", "old"}).out, HasSubstr("world"));
}

}  // namespace
}  // namespace quipu::cli
