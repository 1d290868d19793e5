// PosixFs against a directory into which somebody else puts things.
#include "fs/posix_fs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "unit/fs/temporary_directory.h"

namespace quipu::fs {
namespace {

constexpr OpenMode kAllModes[] = {OpenMode::kRead, OpenMode::kAppend, OpenMode::kReadWrite,
                                  OpenMode::kCreate, OpenMode::kCreateNew};

class UmaskGuard {
 public:
  explicit UmaskGuard(mode_t mask) : before_(::umask(mask)) {}
  ~UmaskGuard() { ::umask(before_); }
  UmaskGuard(const UmaskGuard&) = delete;
  UmaskGuard& operator=(const UmaskGuard&) = delete;

 private:
  mode_t before_;
};

mode_t mode_of(const std::string& path) {
  struct ::stat raw = {};
  EXPECT_EQ(::lstat(path.c_str(), &raw), 0) << path;
  return raw.st_mode & 07777;
}

// Both ways of resolving paths: with openat2 and without.
class PosixHostile : public testing::TestWithParam<bool> {
 protected:
  PosixHostile() {
    PosixFeatures features;
    features.openat2 = GetParam();
    fs_ = std::move(PosixFs::open(root_.path(), features)).value();
    EXPECT_TRUE(fs_->make_dir("sessions").ok());
    std::ofstream(outside_ / "secret") << "secret";
  }

  void expect_refused(const std::string& path) {
    for (const OpenMode mode : kAllModes) {
      const auto file = fs_->open(path, mode);
      ASSERT_FALSE(file.ok()) << path;
      // An exclusive creation finds the name taken before it sees by what.
      const bool taken = mode == OpenMode::kCreateNew && file.error().code() == Code::kIdConflict;
      EXPECT_TRUE(taken || file.error().code() == Code::kInvalidArgument)
          << path << ": " << file.error().message();
    }
  }

  TemporaryDirectory root_;
  TemporaryDirectory outside_;
  std::unique_ptr<Fs> fs_;
};

TEST_P(PosixHostile, LinksAreNotFollowed) {
  ASSERT_EQ(::symlink((outside_ / "secret").c_str(), (root_ / "sessions/a").c_str()), 0);
  ASSERT_EQ(::symlink("b.target", (root_ / "sessions/b").c_str()), 0);
  ASSERT_EQ(::symlink("/proc/self/exe", (root_ / "sessions/c").c_str()), 0);
  expect_refused("sessions/a");
  expect_refused("sessions/b");
  expect_refused("sessions/c");
  EXPECT_FALSE(std::filesystem::exists(root_ / "sessions/b.target"));
  EXPECT_EQ(fs_->link("sessions/a", "sessions/d").error().code(), Code::kInvalidArgument);
  const auto stat = fs_->stat("sessions/a");
  EXPECT_NE(stat->size, 6u) << "stat followed the link";
}

TEST_P(PosixHostile, LinkedDirectoriesAreNotEntered) {
  ASSERT_EQ(::symlink(outside_.path().c_str(), (root_ / "evil").c_str()), 0);
  ASSERT_EQ(::symlink("..", (root_ / "sessions/up").c_str()), 0);
  expect_refused("evil/secret");
  expect_refused("evil/new");
  expect_refused("sessions/up/sessions/x");
  for (const auto& result :
       {fs_->make_dir("evil/d"), fs_->remove("evil/secret"), fs_->sync_dir("evil"),
        fs_->rename("evil/secret", "mine"), fs_->make_dir("evil")}) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(fs_->list("evil").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(fs_->stat("evil/secret").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(fs_->create_unnamed("evil").error().code(), Code::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::exists(outside_ / "secret"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(outside_.path()), {}), 1);
}

TEST_P(PosixHostile, ADirectoryThatBecomesALinkIsNotEntered) {
  { EXPECT_TRUE(fs_->open("sessions/secret", OpenMode::kCreateNew).ok()); }
  EXPECT_EQ(fs_->stat("sessions/secret")->size, 0u);
  std::filesystem::remove_all(root_ / "sessions");
  ASSERT_EQ(::symlink(outside_.path().c_str(), (root_ / "sessions").c_str()), 0);
  EXPECT_FALSE(fs_->stat("sessions/secret").ok());
  expect_refused("sessions/secret");
}

TEST_P(PosixHostile, AnUnnamedFileIsNamedInTheDirectoryThatIsThereThen) {
  const auto early = fs_->create_unnamed("sessions");
  std::filesystem::rename(root_ / "sessions", root_ / "before");
  ASSERT_TRUE(fs_->make_dir("sessions").ok());
  const auto late = fs_->create_unnamed("sessions");
  ASSERT_TRUE(early.ok() && late.ok());
  EXPECT_TRUE(fs_->link(**early, "sessions/early").ok());
  EXPECT_TRUE(fs_->link(**late, "sessions/late").ok());
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "before"));
  EXPECT_TRUE(std::filesystem::exists(root_ / "sessions/early"));
  EXPECT_TRUE(std::filesystem::exists(root_ / "sessions/late"));
}

TEST_P(PosixHostile, FifosDevicesAndSocketsDoNotHangAndAreRefused) {
  ASSERT_EQ(::mkfifo((root_ / "sessions/fifo").c_str(), 0600), 0);
  expect_refused("sessions/fifo");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = root_ / "sessions/sock";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  expect_refused("sessions/sock");
  ::close(socket);
  expect_refused("sessions");
}

TEST_P(PosixHostile, PermissionsDoNotDependOnTheUmask) {
  int number = 0;
  for (const mode_t mask : {0000, 0022, 0077, 0277, 0777}) {
    const UmaskGuard guard(mask);
    const std::string tag = std::to_string(number++);
    ASSERT_TRUE(fs_->make_dir("d" + tag).ok());
    { ASSERT_TRUE(fs_->open("d" + tag + "/new", OpenMode::kCreateNew).ok()); }
    { ASSERT_TRUE(fs_->open("d" + tag + "/create", OpenMode::kCreate).ok()); }
    const auto unnamed = fs_->create_unnamed("d" + tag);
    ASSERT_TRUE(unnamed.ok());
    ASSERT_TRUE(fs_->link(**unnamed, "d" + tag + "/unnamed").ok());
    ASSERT_TRUE(PosixFs::make_root(root_ / ("r" + tag) + "/a/b").ok());
    for (const char* file : {"/new", "/create", "/unnamed"}) {
      EXPECT_EQ(mode_of(root_ / ("d" + tag) + file), 0600u) << file << " umask " << mask;
    }
    for (const std::string& directory : {"d" + tag, "r" + tag, "r" + tag + "/a/b"}) {
      EXPECT_EQ(mode_of(root_ / directory), 0700u) << directory << " umask " << mask;
    }
  }
}

TEST_P(PosixHostile, PermissionsOfExistingFilesAreLeftAlone) {
  std::ofstream(root_ / "shared") << "x";
  ASSERT_EQ(::chmod((root_ / "shared").c_str(), 0640), 0);
  { ASSERT_TRUE(fs_->open("shared", OpenMode::kCreate).ok()); }
  EXPECT_EQ(mode_of(root_ / "shared"), 0640u);
  ASSERT_EQ(::chmod((root_ / "sessions").c_str(), 0750), 0);
  ASSERT_TRUE(fs_->make_dir("sessions").ok());
  EXPECT_EQ(mode_of(root_ / "sessions"), 0750u);
}

TEST_P(PosixHostile, DescriptorsDoNotLeakIntoChildren) {
  const auto before = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  {
    const auto file = fs_->open("f", OpenMode::kCreateNew);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(fs_->stat("sessions/none").error().code() == Code::kNotFound);
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      const int fd = std::stoi(entry.path().filename());
      const std::string target = std::filesystem::read_symlink(entry.path()).string();
      if (target.rfind(root_.path(), 0) != 0) continue;
      EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC) << target;
    }
  }
  // One more at most: the directory that stat remembers.
  EXPECT_LE(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}), before + 1);
}

INSTANTIATE_TEST_SUITE_P(Resolving, PosixHostile, testing::Bool(),
                         [](const auto& test) { return test.param ? "Openat2" : "ByComponent"; });

TEST(PosixFs, OpenWantsADirectory) {
  const TemporaryDirectory directory;
  EXPECT_EQ(PosixFs::open(directory / "none").error().code(), Code::kNotFound);
  std::ofstream(directory / "file") << "x";
  EXPECT_EQ(PosixFs::open(directory / "file").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(PosixFs::open("").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(PosixFs::open(std::string("/tmp\0x", 6)).error().code(), Code::kInvalidArgument);
}

TEST(PosixFs, MakeRootMakesParentsAndMayBeRepeated) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(PosixFs::make_root(directory / "a/b/c/").ok());
    EXPECT_TRUE(PosixFs::open(directory / "a/b/c").ok());
  }
  EXPECT_TRUE(PosixFs::make_root("/").ok());
  std::ofstream(directory / "file") << "x";
  EXPECT_EQ(PosixFs::make_root(directory / "file").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(PosixFs::make_root(directory / "file/below").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(PosixFs::make_root("").error().code(), Code::kInvalidArgument);
}

TEST(ErrorFromErrno, SaysWhatAndWhy) {
  EXPECT_EQ(error_from_errno(ENOSPC, "write sessions/a.jsonl").message(),
            "write sessions/a.jsonl: No space left on device");
}

TEST(ErrorFromErrno, GivesTheCodesOfTheContract) {
  const std::pair<int, Code> expected[] = {
      {ENOSPC, Code::kNoSpace},    {EDQUOT, Code::kNoSpace},     {EFBIG, Code::kNoSpace},
      {EROFS, Code::kStorageGone}, {ESTALE, Code::kStorageGone}, {ENODEV, Code::kStorageGone},
      {ENXIO, Code::kStorageGone}, {EACCES, Code::kNotAllowed},  {EPERM, Code::kNotAllowed},
      {ENOENT, Code::kNotFound},   {EEXIST, Code::kIdConflict},  {ENOMEM, Code::kNoMemory},
      {EIO, Code::kIoError},       {EMFILE, Code::kIoError}};
  for (const auto& [number, code] : expected) {
    EXPECT_EQ(error_from_errno(number, "x").code(), code) << number;
  }
}

}  // namespace
}  // namespace quipu::fs
