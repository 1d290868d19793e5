// What fs.h promises, asked of every implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "fs/fs.h"
#include "fs/posix_fs.h"
#include "fs/sim_fs.h"
#include "unit/fs/temporary_directory.h"

namespace quipu::fs {
namespace {

/// Storage on which any number of processes can be opened.
class World {
 public:
  virtual ~World() = default;
  virtual std::unique_ptr<Fs> process() = 0;
};

class PosixWorld : public World {
 public:
  explicit PosixWorld(PosixFeatures features) : features_(features) {}
  std::unique_ptr<Fs> process() override {
    return std::move(PosixFs::open(directory_.path(), features_)).value();
  }

 private:
  TemporaryDirectory directory_;
  PosixFeatures features_;
};

class SimWorld : public World {
 public:
  std::unique_ptr<Fs> process() override { return disk_.process(); }

 private:
  SimDisk disk_;
};

struct Implementation {
  const char* name;
  std::function<std::unique_ptr<World>()> make;
};

class FsContract : public testing::TestWithParam<Implementation> {
 protected:
  FsContract() : world_(GetParam().make()), fs_(world_->process()), other_(world_->process()) {
    EXPECT_TRUE(fs_->make_dir("sessions").ok());
  }

  std::unique_ptr<File> open(const std::string& path, OpenMode mode) {
    auto file = fs_->open(path, mode);
    EXPECT_TRUE(file.ok()) << file.error().message();
    return file.ok() ? std::move(file).value() : nullptr;
  }
  void write(const std::string& path, std::string_view bytes) {
    const auto file = open(path, OpenMode::kCreateNew);
    EXPECT_TRUE(append_all(*file, bytes).ok());
  }
  std::string read(Fs& fs, const std::string& path) {
    auto file = fs.open(path, OpenMode::kRead);
    if (!file.ok()) return "(" + std::string(name(file.error().code())) + ")";
    const auto size = (*file)->stat()->size;
    return read_exactly(**file, 0, size).value();
  }
  std::string read(const std::string& path) { return read(*fs_, path); }

  std::unique_ptr<World> world_;
  std::unique_ptr<Fs> fs_;
  std::unique_ptr<Fs> other_;
};

template <class T>
Code code_of(const Result<T>& result) {
  EXPECT_FALSE(result.ok());
  return result.ok() ? Code::kInternal : result.error().code();
}

TEST_P(FsContract, AppendsAndReadsBack) {
  const auto file = open("sessions/a.jsonl", OpenMode::kCreateNew);
  EXPECT_EQ(file->append("hello ").value(), 6u);
  EXPECT_EQ(file->append("world").value(), 5u);
  EXPECT_EQ(file->stat()->size, 11u);
  EXPECT_EQ(read("sessions/a.jsonl"), "hello world");
  EXPECT_TRUE(file->sync().ok());
}

TEST_P(FsContract, SizeAndIdentityWithoutTimes) {
  EXPECT_EQ(code_of(fs_->stat_size("sessions/a")), Code::kNotFound);
  EXPECT_EQ(code_of(fs_->stat_size("../a")), Code::kInvalidArgument);
  write("sessions/a", "0123456789");
  for (int again = 0; again < 2; ++again) {  // the directory is known the second time
    const auto seen = fs_->stat_size("sessions/a");
    EXPECT_EQ(seen->size, 10u);
    EXPECT_EQ(seen->identity, fs_->stat("sessions/a")->identity);
  }
  write("sessions/b", "other");
  ASSERT_TRUE(fs_->rename("sessions/b", "sessions/a").ok());
  EXPECT_EQ(fs_->stat_size("sessions/a")->size, 5u);
  EXPECT_EQ(fs_->stat_size("sessions/a")->identity, fs_->stat("sessions/a")->identity);
}

TEST_P(FsContract, ReadsAreShortAtTheEndOnly) {
  write("f", "0123456789");
  const auto file = open("f", OpenMode::kRead);
  char into[8];
  EXPECT_EQ(file->read_at(into, 0).value(), 8u);
  EXPECT_EQ(file->read_at(into, 6).value(), 4u);
  EXPECT_EQ(std::string_view(into, 4), "6789");
  EXPECT_EQ(file->read_at(into, 10).value(), 0u);
  EXPECT_EQ(file->read_at(into, ~std::uint64_t{0}).value(), 0u);
  EXPECT_EQ(read_exactly(*file, 2, 3).value(), "234");
  EXPECT_EQ(code_of(read_exactly(*file, 8, 3)), Code::kCorrupt);
}

TEST_P(FsContract, TwoAppendersNeverOverwriteEachOther) {
  write("log", "");
  auto first = std::move(fs_->open("log", OpenMode::kAppend)).value();
  auto second = std::move(other_->open("log", OpenMode::kAppend)).value();
  EXPECT_TRUE(append_all(*first, "one,").ok());
  EXPECT_TRUE(append_all(*second, "two,").ok());
  EXPECT_TRUE(append_all(*first, "three").ok());
  EXPECT_EQ(read("log"), "one,two,three");
  // Each knows where its own last one ended.
  EXPECT_EQ(second->append_end().value(), 8u);
  EXPECT_EQ(first->append_end().value(), 13u);
}

TEST_P(FsContract, ModesAllowWhatTheySay) {
  write("f", "abc");
  const auto reader = open("f", OpenMode::kRead);
  EXPECT_EQ(code_of(reader->append("x")), Code::kInvalidArgument);
  EXPECT_EQ(code_of(reader->write_at("x", 0)), Code::kInvalidArgument);
  EXPECT_EQ(code_of(reader->truncate(0)), Code::kInvalidArgument);
  EXPECT_EQ(code_of(reader->allocate(0, 9)), Code::kInvalidArgument);
  EXPECT_EQ(code_of(reader->map(0, 3, MapMode::kShared)), Code::kInvalidArgument);
  EXPECT_EQ(code_of(reader->try_lock(0)), Code::kInvalidArgument);
  const auto appender = open("f", OpenMode::kAppend);
  EXPECT_EQ(code_of(appender->write_at("x", 0)), Code::kInvalidArgument);
  const auto writer = open("f", OpenMode::kReadWrite);
  EXPECT_EQ(code_of(writer->append("x")), Code::kInvalidArgument);
  EXPECT_EQ(writer->write_at("BCD", 1).value(), 3u);
  EXPECT_EQ(read("f"), "aBCD");
}

TEST_P(FsContract, OpenSaysWhatIsMissingOrTaken) {
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kAppend, OpenMode::kReadWrite}) {
    EXPECT_EQ(code_of(fs_->open("sessions/none", mode)), Code::kNotFound);
  }
  EXPECT_EQ(code_of(fs_->open("nowhere/f", OpenMode::kCreate)), Code::kNotFound);
  write("f", "x");
  EXPECT_EQ(code_of(fs_->open("f", OpenMode::kCreateNew)), Code::kIdConflict);
  EXPECT_EQ(read("f"), "x");
  EXPECT_NE(open("f", OpenMode::kCreate), nullptr);
  EXPECT_EQ(read("f"), "x");
  EXPECT_NE(open("g", OpenMode::kCreate), nullptr);
  EXPECT_EQ(read("g"), "");
  const auto missing = fs_->open("sessions/none", OpenMode::kRead);
  EXPECT_NE(missing.error().message().find("open sessions/none: No such file"), std::string::npos)
      << missing.error().message();
}

TEST_P(FsContract, DirectoriesAreNoFiles) {
  for (const OpenMode mode :
       {OpenMode::kRead, OpenMode::kAppend, OpenMode::kReadWrite, OpenMode::kCreate}) {
    EXPECT_EQ(code_of(fs_->open("sessions", mode)), Code::kInvalidArgument);
  }
  write("f", "x");
  EXPECT_EQ(code_of(fs_->open("f/g", OpenMode::kRead)), Code::kInvalidArgument);
  EXPECT_EQ(code_of(fs_->make_dir("f")), Code::kInvalidArgument);
  EXPECT_EQ(code_of(fs_->list("f")), Code::kInvalidArgument);
  EXPECT_EQ(code_of(fs_->remove("sessions")), Code::kInvalidArgument);
  EXPECT_EQ(code_of(fs_->link("sessions", "s")), Code::kInvalidArgument);
  EXPECT_EQ(code_of(fs_->rename("f", "sessions")), Code::kInvalidArgument);
}

TEST_P(FsContract, HostilePathsAreRefused) {
  const std::string paths[] = {"/etc/passwd",
                               "..",
                               "../x",
                               "sessions/../../x",
                               "sessions/./x",
                               "sessions//x",
                               "sessions/",
                               ".",
                               std::string("a\0b", 3),
                               std::string(256, 'n'),
                               "sessions/" + std::string(256, 'n')};
  write("ok", "x");
  for (const std::string& path : paths) {
    EXPECT_EQ(code_of(fs_->open(path, OpenMode::kCreate)), Code::kInvalidArgument) << path;
    EXPECT_EQ(code_of(fs_->stat(path)), Code::kInvalidArgument) << path;
    EXPECT_EQ(code_of(fs_->remove(path)), Code::kInvalidArgument) << path;
    EXPECT_EQ(code_of(fs_->make_dir(path)), Code::kInvalidArgument) << path;
    EXPECT_EQ(code_of(fs_->list(path)), Code::kInvalidArgument) << path;
    EXPECT_EQ(code_of(fs_->sync_dir(path)), Code::kInvalidArgument) << path;
    EXPECT_EQ(code_of(fs_->rename("ok", path)), Code::kInvalidArgument) << path;
    EXPECT_EQ(code_of(fs_->rename(path, "ok")), Code::kInvalidArgument) << path;
    EXPECT_EQ(code_of(fs_->link("ok", path)), Code::kInvalidArgument) << path;
    EXPECT_EQ(code_of(fs_->create_unnamed(path)), Code::kInvalidArgument) << path;
  }
  EXPECT_EQ(code_of(fs_->open("", OpenMode::kCreate)), Code::kInvalidArgument);
}

TEST_P(FsContract, TruncateCutsAndGrowsWithZeros) {
  write("f", "abcdef");
  const auto file = open("f", OpenMode::kAppend);
  EXPECT_TRUE(file->truncate(3).ok());
  EXPECT_EQ(read("f"), "abc");
  EXPECT_TRUE(file->truncate(5).ok());
  EXPECT_EQ(read("f"), std::string("abc\0\0", 5));
  EXPECT_TRUE(append_all(*file, "x").ok());
  EXPECT_EQ(read("f"), std::string("abc\0\0x", 6));
}

TEST_P(FsContract, WritingBeyondTheEndLeavesZeros) {
  const auto file = open("f", OpenMode::kCreate);
  EXPECT_TRUE(write_all_at(*file, "xy", 3).ok());
  EXPECT_EQ(read("f"), std::string("\0\0\0xy", 5));
}

TEST_P(FsContract, AllocateGrowsButNeverChangesBytes) {
  const auto file = open("f", OpenMode::kCreate);
  EXPECT_TRUE(write_all_at(*file, "abc", 0).ok());
  EXPECT_TRUE(file->allocate(0, 2).ok());
  EXPECT_EQ(read("f"), "abc");
  EXPECT_TRUE(file->allocate(2, 8190).ok());
  EXPECT_EQ(file->stat()->size, 8192u);
  EXPECT_EQ(read("f"), "abc" + std::string(8189, '\0'));
  EXPECT_TRUE(file->allocate(100, 0).ok());
  EXPECT_FALSE(file->allocate(1, ~std::uint64_t{0}).ok());
  EXPECT_EQ(file->stat()->size, 8192u);
}

TEST_P(FsContract, SharedMappingsAndFilesSeeTheSameBytes) {
  const auto file = open("idx", OpenMode::kCreate);
  EXPECT_TRUE(file->truncate(8192).ok());
  const Mapping mine = file->map(0, 8192, MapMode::kShared).value();
  auto second = std::move(other_->open("idx", OpenMode::kReadWrite)).value();
  const Mapping theirs = second->map(4096, 4096, MapMode::kShared).value();
  const Mapping watcher =
      std::move(other_->open("idx", OpenMode::kRead)).value()->map(0, 8192, MapMode::kRead).value();

  mine.data()[5000] = std::byte{'m'};
  EXPECT_EQ(theirs.data()[904], std::byte{'m'});
  EXPECT_EQ(watcher.data()[5000], std::byte{'m'});
  theirs.data()[1] = std::byte{'t'};
  EXPECT_EQ(mine.data()[4097], std::byte{'t'});
  EXPECT_EQ(read_exactly(*file, 4097, 1).value(), "t");
  EXPECT_TRUE(write_all_at(*second, "w", 7).ok());
  EXPECT_EQ(mine.data()[7], std::byte{'w'});
  EXPECT_EQ(watcher.data()[7], std::byte{'w'});
}

TEST_P(FsContract, ReadMappingSeesAppendsAndOutlivesFileAndName) {
  auto file = open("log", OpenMode::kCreateNew);
  EXPECT_TRUE(append_all(*file, "one").ok());
  const Mapping mapping = file->map(0, 4096, MapMode::kRead).value();
  EXPECT_TRUE(append_all(*file, "two").ok());
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(mapping.data()), 6), "onetwo");
  file.reset();
  EXPECT_TRUE(fs_->remove("log").ok());
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(mapping.data()), 6), "onetwo");
  EXPECT_EQ(mapping.size(), 4096u);
}

TEST_P(FsContract, PrivateMappingKeepsItsStoresToItself) {
  write("f", "abc");
  const auto file = open("f", OpenMode::kRead);
  const Mapping mapping = file->map(0, 3, MapMode::kPrivate).value();
  EXPECT_EQ(mapping.data()[1], std::byte{'b'});
  mapping.data()[1] = std::byte{'!'};
  EXPECT_EQ(mapping.data()[1], std::byte{'!'});
  EXPECT_EQ(read("f"), "abc");
}

TEST_P(FsContract, MapChecksItsArguments) {
  write("f", "abc");
  const auto file = open("f", OpenMode::kRead);
  EXPECT_EQ(code_of(file->map(1, 2, MapMode::kRead)), Code::kInvalidArgument);
  EXPECT_EQ(file->map(0, 0, MapMode::kRead)->size(), 0u);
}

TEST_P(FsContract, LocksExcludeOtherFilesAndEndWithTheirFile) {
  auto mine = std::move(fs_->open("store.lck", OpenMode::kCreate)).value();
  auto theirs = std::move(other_->open("store.lck", OpenMode::kReadWrite)).value();
  auto same_process = std::move(fs_->open("store.lck", OpenMode::kReadWrite)).value();
  EXPECT_TRUE(mine->try_lock(7).value());
  EXPECT_TRUE(mine->try_lock(7).value());
  EXPECT_FALSE(theirs->try_lock(7).value());
  EXPECT_FALSE(same_process->try_lock(7).value());
  same_process.reset();
  EXPECT_FALSE(theirs->try_lock(7).value()) << "closing another file of the process freed the lock";
  EXPECT_TRUE(theirs->try_lock(8).value());
  EXPECT_TRUE(theirs->unlock(7).ok());
  EXPECT_FALSE(theirs->try_lock(7).value());
  EXPECT_TRUE(mine->unlock(7).ok());
  EXPECT_TRUE(theirs->try_lock(7).value());
  EXPECT_FALSE(mine->try_lock(8).value());
  theirs.reset();
  EXPECT_TRUE(mine->try_lock(8).value());
  EXPECT_TRUE(mine->try_lock(std::uint64_t{1} << 62).value());
}

TEST_P(FsContract, UnnamedFilesAppearWholeOrNotAtAll) {
  auto file = std::move(fs_->create_unnamed("sessions")).value();
  EXPECT_TRUE(append_all(*file, "header\n").ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_EQ(code_of(fs_->stat("sessions/a")), Code::kNotFound);
  EXPECT_TRUE(fs_->link(*file, "sessions/a").ok());
  EXPECT_EQ(read(*other_, "sessions/a"), "header\n");
  EXPECT_EQ(fs_->stat("sessions/a")->identity, file->stat()->identity);
  EXPECT_TRUE(append_all(*file, "more\n").ok());
  EXPECT_EQ(read("sessions/a"), "header\nmore\n");
  EXPECT_EQ(fs_->list("sessions").value(), std::vector<std::string>{"a"});
}

TEST_P(FsContract, LinkNeverReplaces) {
  write("sessions/a", "old");
  {
    auto file = std::move(fs_->create_unnamed("sessions")).value();
    EXPECT_TRUE(append_all(*file, "new").ok());
    EXPECT_EQ(code_of(fs_->link(*file, "sessions/a")), Code::kIdConflict);
    EXPECT_EQ(read("sessions/a"), "old");
    EXPECT_TRUE(fs_->link(*file, "sessions/b").ok());
    EXPECT_EQ(read("sessions/b"), "new");
  }
  EXPECT_EQ(code_of(fs_->link("sessions/a", "sessions/b")), Code::kIdConflict);
  EXPECT_EQ(code_of(fs_->link("sessions/none", "sessions/c")), Code::kNotFound);
  EXPECT_EQ(fs_->list("sessions")->size(), 2u);
}

TEST_P(FsContract, SeveralFilesAreNamedAtOnceAndThoseWhoseNamesAreTakenAreTold) {
  write("sessions/b", "old");
  std::vector<std::unique_ptr<File>> files;
  std::vector<Fs::Naming> names;
  for (const std::string name : {"a", "b", "c"}) {
    files.push_back(std::move(fs_->create_unnamed("sessions")).value());
    EXPECT_TRUE(append_all(*files.back(), "new " + name).ok());
    names.push_back({.file = files.back().get(), .name = name});
  }
  EXPECT_EQ(fs_->link_all("sessions", names).value(), std::vector<std::size_t>{1});
  EXPECT_EQ(read("sessions/a"), "new a");
  EXPECT_EQ(read("sessions/b"), "old");
  EXPECT_EQ(read("sessions/c"), "new c");
  const auto more = std::move(fs_->create_unnamed("sessions")).value();
  const std::vector<Fs::Naming> outside{{.file = more.get(), .name = "../d"}};
  EXPECT_FALSE(fs_->link_all("sessions", outside).ok());
  EXPECT_EQ(code_of(fs_->stat("d")), Code::kNotFound);
  const std::vector<Fs::Naming> named{{.file = more.get(), .name = "d"}};
  EXPECT_EQ(code_of(fs_->link_all("nowhere", named)), Code::kNotFound);
}

TEST_P(FsContract, AnUnnamedFileThatIsDroppedLeavesNothing) {
  { EXPECT_TRUE(fs_->create_unnamed("sessions").ok()); }
  EXPECT_TRUE(fs_->list("sessions")->empty());
  EXPECT_EQ(code_of(fs_->create_unnamed("nowhere")), Code::kNotFound);
  EXPECT_TRUE(fs_->create_unnamed("").ok());
}

TEST_P(FsContract, HardLinksAreTheSameFile) {
  write("a", "x");
  EXPECT_TRUE(fs_->link("a", "sessions/b").ok());
  EXPECT_EQ(fs_->stat("a")->identity, fs_->stat("sessions/b")->identity);
  EXPECT_TRUE(append_all(*open("sessions/b", OpenMode::kAppend), "y").ok());
  EXPECT_EQ(read("a"), "xy");
  EXPECT_TRUE(fs_->remove("a").ok());
  EXPECT_EQ(read("sessions/b"), "xy");
}

TEST_P(FsContract, RenameReplacesAndKeepsOpenFiles) {
  write("sessions/new", "new");
  write("sessions/a", "old");
  const auto old = open("sessions/a", OpenMode::kRead);
  const Identity moved = fs_->stat("sessions/new")->identity;
  EXPECT_TRUE(fs_->rename("sessions/new", "sessions/a").ok());
  EXPECT_EQ(read("sessions/a"), "new");
  EXPECT_EQ(code_of(fs_->stat("sessions/new")), Code::kNotFound);
  EXPECT_EQ(other_->stat("sessions/a")->identity, moved);
  EXPECT_FALSE(old->stat()->identity == moved);
  EXPECT_EQ(read_exactly(*old, 0, 3).value(), "old");
  EXPECT_EQ(code_of(fs_->rename("sessions/none", "x")), Code::kNotFound);
  EXPECT_TRUE(fs_->rename("sessions/a", "top").ok());
  EXPECT_EQ(read("top"), "new");
}

TEST_P(FsContract, RemoveTakesTheNameOnly) {
  write("f", "abc");
  const auto file = open("f", OpenMode::kAppend);
  EXPECT_TRUE(fs_->remove("f").ok());
  EXPECT_EQ(code_of(fs_->remove("f")), Code::kNotFound);
  EXPECT_EQ(code_of(fs_->stat("f")), Code::kNotFound);
  EXPECT_TRUE(append_all(*file, "d").ok());
  EXPECT_EQ(read_exactly(*file, 0, 4).value(), "abcd");
}

TEST_P(FsContract, DirectoriesAreMadeListedAndSynced) {
  EXPECT_TRUE(fs_->make_dir("sessions").ok());
  EXPECT_TRUE(fs_->make_dir("sessions/deep").ok());
  EXPECT_EQ(code_of(fs_->make_dir("a/b")), Code::kNotFound);
  write("sessions/x", "");
  write("sessions/deep/y", "yy");
  auto names = fs_->list("sessions").value();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"deep", "x"}));
  EXPECT_EQ(fs_->list("").value(), std::vector<std::string>{"sessions"});
  EXPECT_EQ(read(*other_, "sessions/deep/y"), "yy");
  EXPECT_EQ(other_->stat("sessions/deep/y")->size, 2u);
  EXPECT_TRUE(fs_->stat("sessions").ok());
  EXPECT_TRUE(fs_->stat("").ok());
  for (const char* path : {"", "sessions", "sessions/deep"}) EXPECT_TRUE(fs_->sync_dir(path).ok());
  EXPECT_EQ(code_of(fs_->sync_dir("none")), Code::kNotFound);
  EXPECT_EQ(code_of(fs_->list("none")), Code::kNotFound);
}

TEST_P(FsContract, StatFollowsADirectoryThatWasReplaced) {
  EXPECT_TRUE(fs_->make_dir("trash").ok());
  write("trash/f", "old");
  EXPECT_EQ(fs_->stat("trash/f")->size, 3u);
  EXPECT_TRUE(other_->rename("trash", "old").ok());
  EXPECT_TRUE(other_->make_dir("trash").ok());
  { EXPECT_TRUE(other_->open("trash/g", OpenMode::kCreateNew).ok()); }
  EXPECT_EQ(fs_->stat("trash/g")->size, 0u);
  EXPECT_EQ(code_of(fs_->stat("trash/f")), Code::kNotFound);
}

TEST_P(FsContract, BootIdIsTheSameForAll) {
  EXPECT_EQ(fs_->boot_id(), other_->boot_id());
  EXPECT_NE(fs_->boot_id(), 0u);
}

TEST_P(FsContract, FilesOfAnotherFileSystemAreRefused) {
  SimDisk elsewhere;
  auto file = std::move(elsewhere.process()->create_unnamed("")).value();
  EXPECT_EQ(code_of(fs_->link(*file, "f")), Code::kInvalidArgument);
}

template <class W, class... Arguments>
Implementation implementation(const char* name, Arguments... arguments) {
  return {name, [=]() -> std::unique_ptr<World> { return std::make_unique<W>(arguments...); }};
}

INSTANTIATE_TEST_SUITE_P(
    All, FsContract,
    testing::Values(implementation<PosixWorld>("Posix", PosixFeatures{}),
                    implementation<PosixWorld>("OldKernel", PosixFeatures{false, false, true}),
                    implementation<PosixWorld>("OlderKernel", PosixFeatures{false, false, false}),
                    implementation<SimWorld>("Sim")),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace quipu::fs
