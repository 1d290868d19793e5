#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fs/host_files.h"

namespace quipu::fs {
namespace {

using std::chrono::seconds;

class HostWatchTest : public testing::Test {
 protected:
  HostWatchTest() {
    std::string pattern = testing::TempDir() + "quipu-watch-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    watch_ = HostFiles::system().watch().value();
  }
  ~HostWatchTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name) { std::ofstream(root_ + "/" + name, std::ios::app) << "x"; }

  /// Whether a change of the file is told, sooner or later.
  bool is_told(const std::string& name) {
    for (;;) {
      const auto changes = watch_->wait(seconds(10));
      if (!changes.ok() || changes->files.empty()) return false;
      const auto& files = changes->files;
      if (std::find(files.begin(), files.end(), root_ + "/" + name) != files.end()) return true;
    }
  }

  std::string root_;
  std::unique_ptr<HostWatch> watch_;
};

TEST_F(HostWatchTest, TellsOfFilesThatAreMadeWrittenAndMoved) {
  ASSERT_TRUE(watch_->add(root_).ok());
  write("a");
  EXPECT_TRUE(is_told("a"));
  write("a");
  EXPECT_TRUE(is_told("a"));
  std::filesystem::rename(root_ + "/a", root_ + "/b");
  EXPECT_TRUE(is_told("b"));
}

TEST_F(HostWatchTest, TellsOfDirectoriesThatWereThereAndThatCameLater) {
  std::filesystem::create_directories(root_ + "/old/deep");
  ASSERT_TRUE(watch_->add(root_).ok());
  write("old/deep/a");
  EXPECT_TRUE(is_told("old/deep/a"));
  // Made at once with a file in it: nobody could watch it before.
  std::filesystem::create_directories(root_ + "/new/deep");
  write("new/deep/b");
  EXPECT_TRUE(is_told("new/deep/b"));
  write("new/deep/c");
  EXPECT_TRUE(is_told("new/deep/c"));
}

TEST_F(HostWatchTest, LinksAreNotFollowed) {
  std::filesystem::create_directories(root_ + "/outside");
  std::filesystem::create_directories(root_ + "/inside");
  std::filesystem::create_directory_symlink(root_ + "/outside", root_ + "/inside/link");
  ASSERT_TRUE(watch_->add(root_ + "/inside").ok());
  write("outside/a");
  write("inside/b");
  const auto changes = watch_->wait(seconds(10));
  ASSERT_TRUE(changes.ok());
  for (const std::string& path : changes->files) EXPECT_EQ(root_ + "/inside/b", path);
}

TEST_F(HostWatchTest, ADirectoryThatIsNotThere) {
  EXPECT_EQ(Code::kNotFound, watch_->add(root_ + "/nowhere").error().code());
}

}  // namespace
}  // namespace quipu::fs
