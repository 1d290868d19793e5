#include "fs/host_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <optional>

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

/// A variable of the environment, for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~Variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// Such a file says that it is empty, and gives its text in pieces.
TEST(HostFiles, AFileThatDoesNotKnowHowLongItIs) {
  const auto file = HostFiles::system().open("/proc/self/smaps").value();
  std::string text(std::size_t{1} << 20, '\0');
  EXPECT_EQ(file->stat().size, 0u);
  EXPECT_GT(file->read_at(std::span(text), 0).value(), 8192u);
}

TEST(HostFiles, KnowsWhereWorkOfAllKindsLies) {
  const Variable home("HOME", "/home/ada");
  const Variable temporary("TMPDIR", "relative");
  const auto places = HostFiles::system().shared_places();
  EXPECT_EQ((std::vector<std::string>{"/", "/tmp", "/var/tmp", "/home/ada"}), places);
}

}  // namespace
}  // namespace quipu::fs
