#include "fs/host_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "temporary_directory.h"

namespace quipu::fs {
namespace {

TEST(HostFiles, ReadsRegularFilesAndNothingElse) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "file") << "0123456789";
  HostFiles& files = HostFiles::system();
  EXPECT_TRUE(files.exists(directory / "file"));
  EXPECT_TRUE(files.exists(directory.path()));
  EXPECT_FALSE(files.exists(directory / "none"));
  EXPECT_FALSE(files.exists(directory / "file/below"));
  EXPECT_EQ("0123456789", files.read(directory / "file", 100).value());
  EXPECT_EQ("0123", files.read(directory / "file", 4).value());
  EXPECT_EQ(Code::kNotFound, files.read(directory / "none", 4).error().code());
  EXPECT_EQ(Code::kInvalidArgument, files.read(directory.path(), 4).error().code());
  ASSERT_EQ(0, ::mkfifo((directory / "fifo").c_str(), 0600));
  EXPECT_EQ(Code::kInvalidArgument, files.read(directory / "fifo", 4).error().code());
}

TEST(HostFiles, KnowsWhereWorkOfAllKindsLies) {
  ASSERT_EQ(0, ::setenv("HOME", "/home/ada", 1));
  ASSERT_EQ(0, ::setenv("TMPDIR", "relative", 1));
  const auto places = HostFiles::system().shared_places();
  EXPECT_EQ((std::vector<std::string>{"/", "/tmp", "/var/tmp", "/home/ada"}), places);
}

}  // namespace
}  // namespace quipu::fs
