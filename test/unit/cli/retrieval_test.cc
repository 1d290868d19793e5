// The script that measures how well things are found, on the project's own collection: on SQLite
// and PostgreSQL, above its bars and close to each other.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "support/fresh_store.h"

namespace quipu {
namespace {

struct Outcome {
  int code = -1;
  std::string output;
};

Outcome run(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) outcome.output += buffer;
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  return outcome;
}

class RetrievalTest : public testing::TestWithParam<const char*> {
 protected:
  std::string command(const std::string& more) const {
    const std::string folder = QUIPU_SOURCE_DIR "/bench/retrieval";
    return "XDG_CACHE_HOME='" + scratch_.path() + "' python3 '" + folder + "/quality.py' '" +
           folder + "/collection' --quipu '" QUIPU_CLI_PATH "' --mode " + GetParam() + " " + more;
  }

  test::ScratchDir scratch_;
};

TEST_P(RetrievalTest, BarsHoldOnSqliteAndPostgres) {
  const test::FreshStore sqlite(test::Engine::kSqlite);
  const test::FreshStore postgres(test::Engine::kPostgres);
  const Outcome outcome = run(command("--store '" + sqlite.url() + "' --store '" + postgres.url() +
                                      "' --bar R@5=0.98 --bar nDCG@10=0.97 --close 0.01"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("64 documents, 50 questions"), std::string::npos) << outcome.output;
}

TEST_P(RetrievalTest, BarsHoldInFilesAndCanFail) {
  const test::FreshStore store(test::Engine::kFile);
  const std::string at_store = "--store '" + store.url() + "' ";
  Outcome outcome = run(command(at_store + "--bar R@5=0.98 --bar nDCG@10=0.97"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  // All of them are there already: the same answers.
  if (std::string(GetParam()) == "sessions") return;
  outcome = run(command(at_store + "--bar R@5=0.98 --bar MAP=1.5"));
  EXPECT_EQ(outcome.code, 1) << outcome.output;
  EXPECT_NE(outcome.output.find("is less than 1.5"), std::string::npos) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(Modes, RetrievalTest, testing::Values("memory", "knowledge", "sessions"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
}  // namespace quipu
