// import, export, sources and usage, as a shell sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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
  EXPECT_THAT(at_home({"sources"}).err, HasSubstr("1 session, "));
  EXPECT_THAT(at_home({"import"}).err, HasSubstr("0 records added from 1 source"));
  EXPECT_THAT(at_home({"show", "pi.s1"}).out, HasSubstr("Which way?"));
}

TEST_F(ImportCommands, LookingMakesNoStore) {
  EXPECT_EQ(at_home({"sources"}).code, 0);
  const Outcome dry = at_home({"--json", "import", "--dry-run", file()});
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr(R"("agent":"pi")"));
  EXPECT_EQ(at_home({"import", "--dry-run", "--watch"}).code, 2);
  EXPECT_EQ(at_home({"list"}).code, 3);
}

TEST_F(ImportCommands, WhatWasNamedAndIsNotThereIsAFailure) {
  const Outcome both = at_home({"import", file(), path("nofile")});
  EXPECT_EQ(both.code, 3);
  EXPECT_THAT(both.err, HasSubstr("nofile"));
  EXPECT_THAT(both.err, HasSubstr("2 records added"));
  EXPECT_EQ(at_home({"import", "pi", file(), "--project", "nope"}).code, 3);
  const Outcome misspelt = at_home({"import", "clude", "--json"});
  EXPECT_EQ(misspelt.code, 3);
  EXPECT_THAT(misspelt.err, HasSubstr("\"not_found\""));
  EXPECT_THAT(misspelt.err, HasSubstr("Did you mean 'claude'?"));
  // Not all of that agent's instead.
  EXPECT_EQ(at_home({"import", "pi", path("nofile")}).code, 3);
}

TEST_F(ImportCommands, AFileOfAnotherAgentIsRefused) {
  const Outcome wrong = at_home({"import", "claude", file()});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("no session of claude, but one of pi"));
  EXPECT_THAT(at_home({"import", "pi", file()}).err, HasSubstr("2 records added"));
}

TEST_F(ImportCommands, ASourceThatLostLinesIsReported) {
  at_home({"import"});
  write_whole(file(), kText.substr(0, kText.find('\n') + 1));
  const Outcome again = at_home({"import"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("lost"));
  EXPECT_THAT(again.err, HasSubstr("what was imported stays"));
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

// A variable may name the agent's place from the current directory on.
TEST_F(ImportCommands, APlaceThatIsNoWholePathGetsItsFiles) {
  at_home({"import"});
  const std::string directory = std::filesystem::relative(path("elsewhere")).string();
  const Outcome outcome =
      run_program({.args = with_store({"export", "pi.s1", "--to", "claude", "--install"}),
                   .environment = {{"HOME", path("home")}, {"CLAUDE_CONFIG_DIR", directory}}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string made = outcome.out.substr(0, outcome.out.find('\n'));
  EXPECT_THAT(made, testing::StartsWith(std::filesystem::canonical(path("elsewhere")).string()));
  EXPECT_THAT(read_whole(made), HasSubstr("Which way?"));
}

TEST_F(ImportCommands, AnIndexOfAllSessionsIsAddedToAndNothingElse) {
  at_home({"import"});
  const std::string index = path("home/.myagents/sessions.json");
  std::filesystem::create_directories(path("home/.myagents"));
  write_whole(index, "[\n  {\"id\": \"x\"}\n]");
  std::filesystem::permissions(index, std::filesystem::perms::owner_read);
  const std::vector<std::string> install{"export", "pi.s1", "--to", "myagents", "--install"};

  // While the program writes it.
  std::filesystem::create_directory(path("home/.myagents/sessions.lock"));
  const Outcome busy = at_home(install);
  EXPECT_NE(busy.code, 0);
  EXPECT_THAT(busy.err, HasSubstr("sessions.lock"));
  EXPECT_TRUE(std::filesystem::is_empty(path("home/.myagents/sessions"))) << "nothing was made";
  std::filesystem::remove(path("home/.myagents/sessions.lock"));

  const Outcome done = at_home(install);
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr(index));
  const std::string text = read_whole(index);
  EXPECT_THAT(text, testing::StartsWith("[\n  {\"id\": \"x\"},\n  {"));
  EXPECT_THAT(text, testing::EndsWith("}\n]"));
  EXPECT_EQ(std::filesystem::status(index).permissions(), std::filesystem::perms::owner_read);
  EXPECT_EQ(at_home(install).code, 0) << "the same";
  EXPECT_EQ(read_whole(index), text);

  write_whole(index, "not a list");
  const Outcome refused = at_home(install);
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("no list of sessions"));
  EXPECT_EQ(read_whole(index), "not a list");
  std::size_t left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("home/.myagents"))) {
    EXPECT_TRUE(entry.path().filename() == "sessions" || entry.path().filename() == "sessions.json")
        << entry.path();
    ++left;
  }
  EXPECT_EQ(left, 2u);
}

TEST_F(ImportCommands, WhatIsWrittenIsForItsOwnerAlone) {
  using std::filesystem::perms;
  at_home({"import"});
  const auto mode_of = [&](const std::string& name) {
    return std::filesystem::status(path(name)).permissions();
  };
  std::filesystem::create_directory(path("home/.claude"));
  std::filesystem::permissions(path("home/.claude"), perms{0755});
  const ::mode_t before = ::umask(0);
  const Outcome installed = at_home({"export", "pi.s1", "--to", "claude", "--install"});
  const Outcome out = at_home({"export", "pi.s1", "--to", "jsonl", "--out", path("new/er")});
  ::umask(before);
  ASSERT_EQ(installed.code, 0) << installed.err;
  ASSERT_EQ(out.code, 0) << out.err;
  EXPECT_EQ(mode_of("home/.claude"), perms{0755}) << "it was there";
  for (const char* const name :
       {"home/.claude/projects", "home/.claude/projects/-data", "new", "new/er"}) {
    EXPECT_EQ(mode_of(name), perms{0700}) << name;
  }
  for (const Outcome& outcome : {installed, out}) {
    const std::string made = outcome.out.substr(0, outcome.out.find('\n'));
    EXPECT_EQ(std::filesystem::status(made).permissions(), perms{0600}) << made;
  }
}

TEST_F(ImportCommands, ASessionInWhichNothingWasSaidIsNotExported) {
  write_whole(file(), kText.substr(0, kText.find('\n') + 1));
  at_home({"import"});
  const Outcome outcome = at_home({"export", "pi.s1", "--to", "claude", "--out", path("out")});
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("nothing was said"));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
  EXPECT_EQ(at_home({"export", "pi.s1", "--to", "pi", "--out", path("out")}).code, 0);
}

TEST_F(ImportCommands, AgentsThatKeepNoFilesAreSaidTo) {
  at_home({"import"});
  const Outcome outcome = at_home({"export", "pi.s1", "--to", "jsonl", "--install"});
  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.err, HasSubstr("--out"));
}

// opencode keeps what a message says beside it.
TEST_F(ImportCommands, ATreeShowsWhatIsSaidAndByWhom) {
  at_home({"import"});
  EXPECT_THAT(at_home({"tree", "pi.s1"}).out, HasSubstr("user [head]  Which way?"));
  const std::string storage = path("home/.local/share/opencode/storage/");
  for (const std::string name : {"session/p", "message/ses_x", "part/msg_1"}) {
    std::filesystem::create_directories(storage + name);
  }
  write_whole(storage + "session/p/ses_x.json",
              R"({"id":"ses_x","directory":"/d","title":"T","time":{"created":1,"updated":1}})");
  write_whole(storage + "message/ses_x/msg_1.json",
              R"({"id":"msg_1","sessionID":"ses_x","role":"user","time":{"created":1}})");
  write_whole(
      storage + "part/msg_1/prt_1.json",
      R"({"id":"prt_1","sessionID":"ses_x","messageID":"msg_1","type":"text","text":"By sea?"})");
  at_home({"import", "opencode"});
  EXPECT_THAT(at_home({"tree", "opencode.ses_x"}).out, HasSubstr("user [head]  By sea?"));
}

// A source is one file, however it was named.
TEST_F(ImportCommands, APathFromHereIsTheSameFile) {
  const std::string file = std::filesystem::relative(path("home/.pi/agent/sessions")).string();
  ASSERT_THAT(file, testing::StartsWith(".."));
  EXPECT_EQ(at_home({"import", "pi", file}).code, 0);
  EXPECT_THAT(at_home({"show", "pi.s1"}).out, testing::Not(HasSubstr("../")));
  EXPECT_THAT(at_home({"import", "--json"}).out, HasSubstr("\"added\":0"));
}

TEST_F(ImportCommands, AnExportGoesToOnePlace) {
  at_home({"import"});
  const Outcome outcome =
      at_home({"export", "pi.s1", "--to", "claude", "--install", "--out", path("x")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--install and --out exclude each other"));
}

// A program in the agent's place, which keeps what it is given beside itself.
class HandOverCommands : public ImportCommands {
 protected:
  HandOverCommands() {
    std::filesystem::create_directories(path("bin"));
    std::filesystem::create_directories(path("tmp"));
    at_home({"import"});
  }

  void be_opencode(const std::string& script) const {
    write_whole(path("bin/opencode"), "#!/bin/sh\n" + script);
    std::filesystem::permissions(path("bin/opencode"), std::filesystem::perms{0700});
  }
  Outcome install(std::vector<std::string> more = {}) const {
    std::vector<std::string> args{"export", "pi.s1", "--to", "opencode", "--install"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program({.args = with_store(args),
                        .environment = {{"HOME", path("home")},
                                        {"PATH", path("bin") + ":/usr/bin:/bin"},
                                        {"TMPDIR", path("tmp")}}});
  }
  bool left_nothing() const { return std::filesystem::is_empty(path("tmp")); }
};

TEST_F(HandOverCommands, WhatAnAgentKeepsInADatabaseItsProgramTakesIn) {
  be_opencode("grep -o 'ses_[A-Za-z0-9]*' \"$2\" | head -1; echo \"$1\" > " + path("words") +
              "; stat -c %a \"$2\" \"${2%/*}\" >> " + path("words") + "; cp \"$2\" " +
              path("taken"));
  const Outcome outcome = install();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, testing::StartsWith("ses_"));
  EXPECT_THAT(outcome.err, HasSubstr("opencode has taken it in"));
  EXPECT_EQ(read_whole(path("words")), "import\n600\n700\n");
  EXPECT_THAT(read_whole(path("taken")), HasSubstr("Which way?"));
  EXPECT_TRUE(left_nothing());
  const Outcome json = install({"--json"});
  EXPECT_THAT(json.out, HasSubstr("\"agentSession\":\"ses_"));
  EXPECT_THAT(json.out, HasSubstr("\"files\":[]"));
}

TEST_F(HandOverCommands, WhyItWasNotTakenInIsSaid) {
  be_opencode("echo 'no \033[31mroom'; echo; exit 7");
  const Outcome outcome = install();
  EXPECT_EQ(outcome.code, 11) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("no \\u001b[31mroom"));
  EXPECT_TRUE(left_nothing());
}

TEST_F(HandOverCommands, AProgramThatEndsWellAndNamesNothingHasTakenNothingIn) {
  be_opencode("echo \"File not found: $2\"");
  const Outcome outcome = install();
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("did not take it in: File not found: "));
}

// Whoever ends us ends it too, and nothing stays behind.
TEST_F(HandOverCommands, WhatStopsUsStopsItsProgram) {
  be_opencode("kill -TERM $PPID; sleep 60 & wait $!");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(install().code, 11);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_THAT(install().err, HasSubstr("was interrupted"));
  EXPECT_TRUE(left_nothing());
}

// It runs in the directory of the session, whose own programs are not asked.
TEST_F(HandOverCommands, TheProgramIsTheOneThatIsFoundHere) {
  std::filesystem::create_directories(path("atlas/bin"));
  std::filesystem::create_directories(path("home/.pi/agent/sessions/--a--"));
  write_whole(
      path("home/.pi/agent/sessions/--a--/2_s2.jsonl"),
      R"({"type":"session","version":3,"id":"s2","timestamp":"2026-03-01T09:30:00.000Z","cwd":")" +
          path("atlas") +
          R"("})"
          "\n"
          R"({"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z","message":{"role":"user","content":"Where?"}})"
          "\n");
  at_home({"import"});
  write_whole(path("atlas/bin/opencode"), "#!/bin/sh\necho a stranger\n");
  std::filesystem::permissions(path("atlas/bin/opencode"), std::filesystem::perms{0700});
  be_opencode("grep -o 'ses_[A-Za-z0-9]*' \"$2\" | head -1; pwd > " + path("where") +
              "; echo \"$PWD\" >> " + path("where"));
  const Outcome outcome =
      run_program({.args = with_store({"export", "pi.s2", "--to", "opencode", "--install"}),
                   .environment = {{"HOME", path("home")},
                                   {"PWD", "/"},
                                   {"PATH", "bin:" + path("bin") + ":/usr/bin:/bin"}}});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string there = std::filesystem::canonical(path("atlas")).string();
  EXPECT_EQ(read_whole(path("where")), there + "\n" + there + "\n");
}

TEST_F(HandOverCommands, WhatCannotBeStarted) {
  write_whole(path("bin/opencode"), "no program");
  std::filesystem::permissions(path("bin/opencode"), std::filesystem::perms{0700});
  const Outcome outcome = install();
  EXPECT_EQ(outcome.code, 11) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("`opencode import FILE`"));
  EXPECT_TRUE(left_nothing());
}

TEST_F(HandOverCommands, WithoutItsProgramTheFileCanBeWritten) {
  const Outcome outcome = install();
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("opencode is not on the PATH"));
  EXPECT_THAT(outcome.err, HasSubstr("`opencode import FILE`"));
  EXPECT_TRUE(left_nothing());
}

TEST_F(ImportCommands, AnAgentNobodyKnows) {
  EXPECT_EQ(at_home({"export", "pi.s1", "--to", "nobody"}).code, 2);
  at_home({"import"});
  EXPECT_EQ(at_home({"export", "pi.s1", "--to", "nobody"}).code, 2);
}

}  // namespace
}  // namespace quipu::cli
