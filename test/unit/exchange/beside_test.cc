// Files beside the first of a session, and lines that are whole only later.
#include <gtest/gtest.h>

#include "support/import_machine.h"

namespace quipu {
namespace {

const std::string kId = "11111111-2222-4333-8444-555555555555";
const std::string kSession = "claude." + kId;
const std::string kLive = "/home/ada/.claude";
const std::string kKept = "/home/ada/kept/.claude";

std::string main_in(const std::string& place) {
  return place + "/projects/-data/" + kId + ".jsonl";
}
std::string beside(const std::string& place, const std::string& name) {
  return place + "/projects/-data/" + kId + "/" + name;
}
std::string title(const std::string& text) { return R"({"customTitle":")" + text + "\"}"; }

std::string line(const std::string& id) {
  return R"({"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":")" +
         id + R"(","timestamp":"2026-01-01T00:00:00.000Z","sessionId":")" + kId + "\"}\n";
}

class Beside : public testing::Test {
 protected:
  std::vector<ImportReport> import(const std::vector<std::string>& places = {kLive}) {
    FindOptions options{.agents = {"claude"}, .paths = places};
    return machine_.import_all(machine_.find(options).sources);
  }
  std::size_t entries() {
    return machine_.store.sessions().load_session_entries(kSession).value().size();
  }

  ImportMachine machine_;
};

TEST_F(Beside, CopiesOfASessionWhoseFilesBesideItDiffer) {
  machine_.host.files = {{main_in(kLive), line("u")},
                         {beside(kLive, "custom-title.json"), title("First")},
                         {main_in(kKept), line("u")},
                         {beside(kKept, "custom-title.json"), title("Second")}};
  import({kLive, kKept});
  import({kLive, kKept});
  const std::size_t before = entries();
  for (int round = 0; round < 4; ++round) {
    for (const ImportReport& report : import({kLive, kKept})) EXPECT_EQ(report.added, 0u);
  }
  EXPECT_EQ(entries(), before);
}

TEST_F(Beside, AreCountedOnceHoweverOftenTheyAreRead) {
  machine_.host.files = {{main_in(kLive), line("u")},
                         {beside(kLive, "tool-results/a.txt"), "a"},
                         {beside(kLive, "tool-results/b.txt"), "b"}};
  EXPECT_EQ(import().at(0).total, 3u);
  machine_.host.files[main_in(kLive)] += line("v");
  EXPECT_EQ(import().at(0).total, 4u);
  machine_.host.files[main_in(kLive)] += line("w");
  EXPECT_EQ(import().at(0).total, 5u);
  EXPECT_EQ(import().at(0).total, 5u);
}

TEST_F(Beside, NamesThatLookLikeVersionsOfOthers) {
  machine_.host.files = {{main_in(kLive), line("u")},
                         {beside(kLive, "tool-results/r.txt"), "one"},
                         {beside(kLive, "tool-results/r.txt~2"), "two"}};
  import();
  machine_.host.files[main_in(kLive)] += line("v");
  EXPECT_EQ(import().at(0).added, 1u);
}

// Somebody who watches sees a first file that is being written; the others are all there.
TEST_F(Beside, AreNotLostWhileALineIsBeingWritten) {
  machine_.host.files = {{main_in(kLive), line("u") + line("v")},
                         {beside(kLive, "custom-title.json"), title("First")}};
  import();
  machine_.host.files[main_in(kLive)] = line("w") + line("u") + line("v").substr(0, 20);
  FindOptions options{.agents = {"claude"}, .paths = {kLive}};
  std::vector<ImportProblem> problems;
  const std::map<std::string, std::string> variables;
  int looks = 0;
  const auto done = Importer(machine_.store, &machine_.host, &variables)
                        .watch(
                            options, {.project_id = {}, .threads = 1},
                            [&](const ImportReport& report) {
                              problems = report.problems;
                              return true;
                            },
                            [&] { return ++looks > 3; });
  ASSERT_TRUE(done.ok()) << done.error().message();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].what, "lost");
  EXPECT_EQ(problems[0].count, 1u) << "the line that is being written, for now";
}

TEST_F(Beside, ALineThatWasReadInPiecesHasLostNothing) {
  const std::string whole = line("u");
  for (const std::size_t size : {std::size_t{100}, std::size_t{120}, std::size_t{140}}) {
    machine_.host.files[main_in(kLive)] = whole.substr(0, size);
    for (const ImportProblem& problem : machine_.import("claude", main_in(kLive)).problems) {
      EXPECT_EQ(problem.what, "torn") << size;
    }
  }
  machine_.host.files[main_in(kLive)] = whole;
  EXPECT_TRUE(machine_.import("claude", main_in(kLive)).problems.empty());
  machine_.host.files[main_in(kLive)] = whole.substr(0, 50);
  const auto cut = machine_.import("claude", main_in(kLive)).problems;
  ASSERT_EQ(cut.size(), 2u) << "torn, and the line is gone";
  machine_.host.files[main_in(kLive)] = line("v");
  EXPECT_TRUE(machine_.import("claude", main_in(kLive)).problems.empty()) << "said once";
}

}  // namespace
}  // namespace quipu
