// The C++ example of README.md does what it seems to do. It is taken out of
// README.md and compiled by CMakeLists.txt, so it cannot differ from the text.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "quipu/quipu.hpp"

namespace quipu::test {
namespace {

class Readme : public ::testing::Test {
 protected:
  Readme() {
    std::string pattern = (std::filesystem::temp_directory_path() / "quipu-readme-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) directory_ = pattern;
  }
  ~Readme() override {
    std::error_code ignored;
    if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  }

  struct Run {
    int status = -1;
    std::string output;
  };

  Run run_example() const {
    const std::string command = "cd '" + directory_ + "' && '" QUIPU_README_EXAMPLE "' 2>&1";
    Run run;
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return run;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      run.output += static_cast<char>(c);
    }
    run.status = ::pclose(pipe);
    return run;
  }

  std::string directory_;
};

TEST_F(Readme, TheExamplePrintsARequest) {
  ASSERT_FALSE(directory_.empty());
  const Run run = run_example();
  ASSERT_TRUE(WIFEXITED(run.status)) << run.output;
  EXPECT_EQ(0, WEXITSTATUS(run.status)) << run.output;
  EXPECT_NE(std::string::npos, run.output.find("\"messages\":[")) << run.output;
  EXPECT_NE(std::string::npos, run.output.find("Ruins?")) << run.output;
}

TEST_F(Readme, TheExampleLeavesASoundSession) {
  ASSERT_FALSE(directory_.empty());
  ASSERT_EQ(0, run_example().status);
  auto store = Store::open("file:" + directory_ + "/notes");
  ASSERT_TRUE(store.ok()) << store.error().message();
  SessionStore& sessions = store->sessions();
  const auto ids = sessions.session_ids();
  ASSERT_TRUE(ids.ok()) << ids.error().message();
  ASSERT_EQ(1U, ids->size());
  const auto report = sessions.verify_session(ids->front());
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_TRUE(report->problems.empty());
  const auto summary = sessions.describe_session(ids->front());
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_EQ("A trip to Cusco", summary->title);
  EXPECT_EQ(2U, summary->entries);
}

}  // namespace
}  // namespace quipu::test
