// import, export, sources and usage, as a shell sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "program.h"

namespace quipu::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kText =
    R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data"})"
    "\n"
    R"({"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z",)"
    R"("message":{"role":"user","content":"Which way?"}})"
    "\n";

class ImportCommands : public CliTest {
 protected:
  ImportCommands() {
    std::filesystem::create_directories(path("home/.pi/agent/sessions/--data--"));
    write_whole(file(), kText);
  }

  std::string file() const { return path("home/.pi/agent/sessions/--data--/1_s1.jsonl"); }
  Outcome at_home(std::vector<std::string> args) const {
    return run_program(
        {.args = with_store(std::move(args)), .environment = {{"HOME", path("home")}}});
  }
};

TEST_F(ImportCommands, WithoutArgumentsEverythingOnTheMachine) {
  const Outcome dry = at_home({"import", "--dry-run"});
  EXPECT_THAT(dry.err, HasSubstr("pi: 1 session"));
  EXPECT_THAT(at_home({"sources"}).out, HasSubstr("new"));
  const Outcome first = at_home({"import"});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("2 records added from 1 source"));
  EXPECT_THAT(at_home({"sources"}).out, HasSubstr("imported"));
  EXPECT_THAT(at_home({"import"}).err, HasSubstr("0 records added from 1 source"));
  EXPECT_THAT(at_home({"show", "pi.s1"}).out, HasSubstr("Which way?"));
}

TEST_F(ImportCommands, ASourceThatLostLinesIsReported) {
  at_home({"import"});
  write_whole(file(), kText.substr(0, kText.find('\n') + 1));
  const Outcome again = at_home({"import"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("lost"));
  EXPECT_THAT(at_home({"show", "pi.s1"}).out, HasSubstr("Which way?"));
}

TEST_F(ImportCommands, InstalledOnceAndNeverOverSomethingElse) {
  at_home({"import"});
  const Outcome first = at_home({"export", "pi.s1", "--to", "claude", "--install"});
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string made = first.out.substr(0, first.out.find('\n'));
  EXPECT_THAT(made, testing::StartsWith(path("home/.claude/projects/-data/")));
  const std::string text = read_whole(made);
  EXPECT_EQ(at_home({"export", "pi.s1", "--to", "claude", "--install"}).code, 0) << "the same";
  write_whole(made, "somebody else's");
  const Outcome refused = at_home({"export", "pi.s1", "--to", "claude", "--install"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("it is there already"));
  EXPECT_EQ(read_whole(made), "somebody else's");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("home/.claude"))) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("quipu"))) << "nothing is left";
  }
}

TEST_F(ImportCommands, AgentsThatKeepNoFilesAreSaidTo) {
  at_home({"import"});
  const Outcome outcome = at_home({"export", "pi.s1", "--to", "jsonl", "--install"});
  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.err, HasSubstr("--out"));
}

TEST_F(ImportCommands, AnAgentNobodyKnows) {
  EXPECT_EQ(at_home({"export", "pi.s1", "--to", "nobody"}).code, 3) << "there is no such session";
  at_home({"import"});
  EXPECT_NE(at_home({"export", "pi.s1", "--to", "nobody"}).code, 0);
}

}  // namespace
}  // namespace quipu::cli
