// The simulated disk: what each kind of crash leaves behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "fs/sim_fs.h"

namespace quipu::fs {
namespace {

constexpr CrashPolicy kKeepNames(DataLoss data) { return {data, NameLoss::kNone}; }
constexpr CrashPolicy kLoseAll = {DataLoss::kNothing, NameLoss::kAll};

std::string text(std::size_t size, char first = 'a') {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(first + i % 23);
  return bytes;
}

std::unique_ptr<File> open(Fs& fs, const std::string& path, OpenMode mode) {
  auto file = fs.open(path, mode);
  EXPECT_TRUE(file.ok()) << path;
  return std::move(file).value();
}

std::set<std::string> all_images(const SimDisk& disk, DataLoss loss, const std::string& path) {
  std::set<std::string> images;
  const std::uint64_t count = disk.crash_variants(kKeepNames(loss));
  EXPECT_LT(count, 100'000u);
  for (std::uint64_t i = 0; i < count; ++i) {
    images.insert(*disk.crash_variant(kKeepNames(loss), i).read_file(path));
  }
  return images;
}

/// A disk with one durable file, open for appending.
class SimDiskTest : public testing::Test {
 protected:
  void start(const std::string& durable) {
    disk_.write_file("log", durable);
    fs_ = disk_.process();
    log_ = open(*fs_, "log", OpenMode::kAppend);
  }
  void append(std::string_view bytes) { EXPECT_TRUE(append_all(*log_, bytes).ok()); }
  std::string after(DataLoss loss, std::uint64_t seed = 1) {
    return disk_.crash(kKeepNames(loss), seed).read_file("log").value();
  }

  SimDisk disk_;
  std::unique_ptr<SimFs> fs_;
  std::unique_ptr<File> log_;
};

TEST_F(SimDiskTest, SyncedBytesSurviveEveryPolicy) {
  start("synced before,");
  append("synced now,");
  ASSERT_TRUE(log_->sync().ok());
  append(text(3000));
  for (const CrashPolicy policy : all_crash_policies()) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto bytes = disk_.crash(policy, seed).read_file("log");
      ASSERT_TRUE(bytes.has_value()) << name(policy);
      EXPECT_EQ(bytes->substr(0, 25), "synced before,synced now,") << name(policy) << ' ' << seed;
    }
  }
}

TEST_F(SimDiskTest, NothingAndEverything) {
  start("old,");
  append("one,");
  append("two,");
  EXPECT_TRUE(disk_.unsynced_data());
  EXPECT_EQ(after(DataLoss::kNothing), "old,");
  EXPECT_EQ(after(DataLoss::kEverything), "old,one,two,");
  ASSERT_TRUE(log_->sync().ok());
  EXPECT_FALSE(disk_.unsynced_data());
  EXPECT_EQ(after(DataLoss::kNothing), "old,one,two,");
}

TEST_F(SimDiskTest, KilledKeepsThePageCacheAndTheBootButPromisesNothing) {
  start("old,");
  append("new");
  const SimDisk killed = disk_.crash(kKeepNames(DataLoss::kKilled), 0);
  EXPECT_EQ(killed.read_file("log"), "old,new");
  EXPECT_EQ(killed.crash(kLoseAll, 0).read_file("log"), "old,");
  SimDisk dead = killed.crash(kLoseAll, 0);
  EXPECT_EQ(SimDisk(killed).process()->boot_id(), fs_->boot_id());
  EXPECT_NE(dead.process()->boot_id(), fs_->boot_id());
  dead.set_boot_id(77);
  EXPECT_EQ(dead.process()->boot_id(), 77u);
}

TEST_F(SimDiskTest, PrefixIsEveryPrefixAndNothingElse) {
  start("old,");
  append("abc");
  append("defg");
  std::set<std::string> expected;
  const std::string whole = "old,abcdefg";
  for (std::size_t size = 4; size <= whole.size(); ++size) expected.insert(whole.substr(0, size));
  EXPECT_EQ(all_images(disk_, DataLoss::kPrefix, "log"), expected);
  std::set<std::string> random;
  for (std::uint64_t seed = 0; seed < 200; ++seed) random.insert(after(DataLoss::kPrefix, seed));
  EXPECT_EQ(random, expected);
}

TEST_F(SimDiskTest, PrefixReplaysTruncations) {
  start("old,torn");
  ASSERT_TRUE(log_->truncate(4).ok());
  append("xy");
  EXPECT_EQ(all_images(disk_, DataLoss::kPrefix, "log"),
            (std::set<std::string>{"old,torn", "old,", "old,x", "old,xy"}));
}

TEST_F(SimDiskTest, MissingBlocksAreZeroAndNeverTakeSyncedBytes) {
  start(text(700));
  const std::string added = text(1000, 'A');
  append(added);
  const std::string whole = text(700) + added;
  // Blocks 1, 2 and 3 hold new bytes.
  EXPECT_EQ(disk_.crash_variants(kKeepNames(DataLoss::kBlocks512Zero)), 8u);
  std::set<std::string> expected;
  for (int mask = 0; mask < 8; ++mask) {
    std::string bytes = text(700) + std::string(1000, '\0');
    for (std::size_t at = 700; at < whole.size(); ++at) {
      if (mask >> (at / 512 - 1) & 1) bytes[at] = whole[at];
    }
    expected.insert(bytes);
  }
  EXPECT_EQ(all_images(disk_, DataLoss::kBlocks512Zero, "log"), expected);
  EXPECT_EQ(all_images(disk_, DataLoss::kBlocks4096Zero, "log"),
            (std::set<std::string>{whole, text(700) + std::string(1000, '\0')}));
}

TEST_F(SimDiskTest, WhatWasCutOffUnsyncedIsNotPartOfTheFile) {
  start("keep,torn");
  ASSERT_TRUE(log_->truncate(5).ok());
  append("NEW");
  EXPECT_EQ(all_images(disk_, DataLoss::kBlocks512Zero, "log"),
            (std::set<std::string>{"keep,", "keep,NEW", std::string("keep,\0\0\0", 8)}));
  EXPECT_EQ(all_images(disk_, DataLoss::kBlocks512Stale, "log"),
            (std::set<std::string>{"keep,", "keep,NEW", "keep,tor"}));
}

TEST_F(SimDiskTest, StaleBlocksShowWhatWasCutOff) {
  start("keep,torn and gone");
  ASSERT_TRUE(log_->truncate(5).ok());
  ASSERT_TRUE(log_->sync().ok());
  append("NEW BYTES");
  EXPECT_EQ(all_images(disk_, DataLoss::kBlocks512Stale, "log"),
            (std::set<std::string>{"keep,NEW BYTES", "keep,torn and "}));
}

TEST_F(SimDiskTest, StaleBlocksShowWhatAnEarlierCrashLost) {
  start("keep,");
  append("lost by the first cut");
  SimDisk second = disk_.crash(kKeepNames(DataLoss::kNothing), 0);
  const auto fs = second.process();
  ASSERT_TRUE(append_all(*open(*fs, "log", OpenMode::kAppend), "again").ok());
  EXPECT_EQ(all_images(second, DataLoss::kBlocks4096Stale, "log"),
            (std::set<std::string>{"keep,again", "keep,lost "}));
}

TEST_F(SimDiskTest, StaleBlocksRepeatAnEarlierBlockOtherwise) {
  const std::string first = text(512);
  start(first);
  append(text(512, 'A'));
  EXPECT_EQ(all_images(disk_, DataLoss::kBlocks512Stale, "log"),
            (std::set<std::string>{first + text(512, 'A'), first + first}));
}

TEST_F(SimDiskTest, RandomBlocksAreGarbageInTheNewBytesOnly) {
  start("keep,");
  append(text(600));
  const std::string one =
      disk_.crash_variant(kKeepNames(DataLoss::kBlocks512Random), 0).read_file("log").value();
  ASSERT_EQ(one.size(), 605u);
  EXPECT_EQ(one.substr(0, 5), "keep,");
  EXPECT_NE(one.substr(5), text(600));
  EXPECT_NE(one.substr(5), std::string(600, '\0'));
  EXPECT_EQ(after(DataLoss::kBlocks512Random, 9), after(DataLoss::kBlocks512Random, 9));
  std::set<std::string> images;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    images.insert(after(DataLoss::kBlocks512Random, seed));
  }
  EXPECT_GT(images.size(), 30u);
}

TEST_F(SimDiskTest, SizeAndDataMayPartWays) {
  start("old,");
  append("new");
  EXPECT_EQ(after(DataLoss::kSizeWithoutData), std::string("old,\0\0\0", 7));
  EXPECT_EQ(after(DataLoss::kDataWithoutSize), "old,");
  const auto writer = open(*fs_, "log", OpenMode::kReadWrite);
  ASSERT_TRUE(write_all_at(*writer, "O", 0).ok());
  EXPECT_EQ(after(DataLoss::kDataWithoutSize), "Old,");
  EXPECT_EQ(after(DataLoss::kSizeWithoutData), std::string("old,\0\0\0", 7));
}

TEST_F(SimDiskTest, OverwritesAreOldOrNewAndGarbageStaysInside) {
  start(text(1024));
  const auto writer = open(*fs_, "log", OpenMode::kReadWrite);
  ASSERT_TRUE(write_all_at(*writer, "XXXX", 510).ok());
  std::string whole = text(1024);
  whole.replace(510, 4, "XXXX");
  for (const DataLoss loss : {DataLoss::kBlocks512Zero, DataLoss::kBlocks512Stale}) {
    for (const std::string& image : all_images(disk_, loss, "log")) {
      for (std::size_t i = 0; i < 1024; ++i) {
        EXPECT_TRUE(image[i] == whole[i] || image[i] == text(1024)[i]) << i;
      }
    }
    EXPECT_EQ(all_images(disk_, loss, "log").size(), 4u);
  }
  for (const std::string& image : all_images(disk_, DataLoss::kBlocks512Random, "log")) {
    EXPECT_EQ(image.substr(0, 510), whole.substr(0, 510));
    EXPECT_EQ(image.substr(514), whole.substr(514));
  }
}

TEST_F(SimDiskTest, SeveralAppendsMayHaveAnyOfTheirSizes) {
  start("");
  append("one,");
  append("two,");
  std::set<std::size_t> sizes;
  for (const std::string& image : all_images(disk_, DataLoss::kBlocks512Zero, "log")) {
    sizes.insert(image.size());
  }
  EXPECT_EQ(sizes, (std::set<std::size_t>{4, 8}));
}

TEST_F(SimDiskTest, StoresThroughMappingsAreUnsyncedWrites) {
  start("");
  disk_.write_file("idx", std::string(1024, '.'));
  const auto index = open(*fs_, "idx", OpenMode::kReadWrite);
  const Mapping mapping = index->map(0, 1024, MapMode::kShared).value();
  EXPECT_FALSE(disk_.unsynced_data());
  mapping.data()[3] = std::byte{'a'};
  mapping.data()[600] = std::byte{'b'};
  EXPECT_TRUE(disk_.unsynced_data());
  EXPECT_EQ(disk_.crash(kLoseAll, 0).read_file("idx"), std::string(1024, '.'));
  EXPECT_EQ(all_images(disk_, DataLoss::kBlocks512Zero, "idx").size(), 4u);
  ASSERT_TRUE(index->sync().ok());
  EXPECT_FALSE(disk_.unsynced_data());
  mapping.data()[3] = std::byte{'z'};
  const std::string image = disk_.crash(kLoseAll, 0).read_file("idx").value();
  EXPECT_EQ(image[3], 'a');
  EXPECT_EQ(image[600], 'b');
  EXPECT_EQ(disk_.crash(kKeepNames(DataLoss::kEverything), 0).read_file("idx")->at(3), 'z');
}

TEST_F(SimDiskTest, CopiesAndImagesLiveTheirOwnLives) {
  start("old,");
  const Mapping mapped = log_->map(0, 4096, MapMode::kRead).value();
  append("new,");
  SimDisk copy = disk_;
  SimDisk image = disk_.crash(kKeepNames(DataLoss::kNothing), 0);
  append("mine");
  ASSERT_TRUE(append_all(*open(*copy.process(), "log", OpenMode::kAppend), "copy").ok());
  ASSERT_TRUE(append_all(*open(*image.process(), "log", OpenMode::kAppend), "image").ok());
  EXPECT_EQ(disk_.read_file("log"), "old,new,mine");
  EXPECT_EQ(copy.read_file("log"), "old,new,copy");
  EXPECT_EQ(copy.crash(kLoseAll, 0).read_file("log"), "old,");
  EXPECT_EQ(image.read_file("log"), "old,image");
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(mapped.data()), 12), "old,new,mine");
}

TEST_F(SimDiskTest, AnImageThatSharedMemoryShowsZerosBehindItsEnd) {
  start("old,");
  append("lost");
  SimDisk image = disk_.crash(kKeepNames(DataLoss::kNothing), 0);
  log_.reset();
  disk_ = SimDisk();
  fs_.reset();
  const auto fs = image.process();
  const auto file = open(*fs, "log", OpenMode::kAppend);
  EXPECT_EQ(file->map(0, 4096, MapMode::kRead)->data()[4], std::byte{0});
  ASSERT_TRUE(file->truncate(8).ok());
  EXPECT_EQ(image.read_file("log"), std::string("old,\0\0\0\0", 8));
}

TEST(SimNames, AFileSyncDoesNotMakeItsNameDurable) {
  SimDisk disk;
  const auto fs = disk.process();
  const auto file = open(*fs, "f", OpenMode::kCreateNew);
  ASSERT_TRUE(append_all(*file, "x").ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_FALSE(disk.crash({DataLoss::kEverything, NameLoss::kAll}, 0).read_file("f").has_value());
  EXPECT_EQ(disk.crash({DataLoss::kNothing, NameLoss::kNone}, 0).read_file("f"), "x");
  ASSERT_TRUE(fs->sync_dir("").ok());
  EXPECT_FALSE(disk.unsynced_names());
  EXPECT_EQ(disk.crash(kLoseAll, 0).read_file("f"), "x");
}

TEST(SimNames, ADirectorySyncDoesNotMakeDataDurable) {
  SimDisk disk;
  const auto fs = disk.process();
  ASSERT_TRUE(append_all(*open(*fs, "f", OpenMode::kCreateNew), "x").ok());
  ASSERT_TRUE(fs->sync_dir("").ok());
  EXPECT_EQ(disk.crash(kLoseAll, 0).read_file("f"), "");
}

TEST(SimNames, ANewDirectoryIsANameOfItsParent) {
  SimDisk disk;
  const auto fs = disk.process();
  ASSERT_TRUE(fs->make_dir("d").ok());
  { open(*fs, "d/f", OpenMode::kCreateNew); }
  ASSERT_TRUE(fs->sync_dir("d").ok());
  EXPECT_TRUE(disk.crash(kLoseAll, 0).files().empty());
  ASSERT_TRUE(fs->sync_dir("").ok());
  EXPECT_EQ(disk.crash(kLoseAll, 0).files(), std::vector<std::string>{"d/f"});
}

TEST(SimNames, UnnamedFilesEndWithTheCrash) {
  SimDisk disk;
  const auto fs = disk.process();
  auto file = std::move(fs->create_unnamed("")).value();
  ASSERT_TRUE(append_all(*file, "x").ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_TRUE(disk.crash(kKeepNames(DataLoss::kEverything), 0).files().empty());
  ASSERT_TRUE(fs->link(*file, "f").ok());
  EXPECT_TRUE(disk.crash(kLoseAll, 0).files().empty());
  EXPECT_EQ(disk.crash(kKeepNames(DataLoss::kNothing), 0).read_file("f"), "x");
}

TEST(SimNames, RenameIsOldOrNewNeverNeither) {
  SimDisk disk;
  disk.write_file("a/x", "new");
  disk.write_file("b/x", "old");
  const auto fs = disk.process();
  ASSERT_TRUE(fs->rename("a/x", "b/x").ok());
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < disk.crash_variants({DataLoss::kNothing, NameLoss::kSome}); ++i) {
    const SimDisk image = disk.crash_variant({DataLoss::kNothing, NameLoss::kSome}, i);
    seen.insert(image.read_file("a/x").value_or("-") + '|' + image.read_file("b/x").value_or("-"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"new|old", "-|new"}));
  ASSERT_TRUE(fs->sync_dir("a").ok());
  EXPECT_EQ(disk.crash(kLoseAll, 0).read_file("b/x"), "new");
  EXPECT_EQ(disk.crash(kLoseAll, 0).files(), std::vector<std::string>{"b/x"});
}

TEST(SimNames, SomeRespectsTheOrderPerNameOnly) {
  SimDisk disk;
  disk.write_file("f", "0");
  const auto fs = disk.process();
  ASSERT_TRUE(fs->remove("f").ok());
  { open(*fs, "f", OpenMode::kCreateNew); }
  { open(*fs, "g", OpenMode::kCreateNew); }
  std::set<std::vector<std::string>> seen;
  std::set<std::string> contents;
  const CrashPolicy policy = {DataLoss::kEverything, NameLoss::kSome};
  for (std::uint64_t i = 0; i < 8; ++i) {
    const SimDisk image = disk.crash_variant(policy, i);
    seen.insert(image.files());
    contents.insert(image.read_file("f").value_or("-"));
  }
  EXPECT_EQ(disk.crash_variants(policy), 8u);
  EXPECT_EQ(seen, (std::set<std::vector<std::string>>{{}, {"f"}, {"g"}, {"f", "g"}}));
  EXPECT_EQ(contents, (std::set<std::string>{"0", "-", ""}));
}

TEST(SimNames, VariantsAreCountedAlsoForFilesWhoseNamesAreLost) {
  SimDisk disk;
  const auto fs = disk.process();
  ASSERT_TRUE(append_all(*open(*fs, "f", OpenMode::kCreateNew), "abc").ok());
  const CrashPolicy policy = {DataLoss::kPrefix, NameLoss::kSome};
  EXPECT_EQ(disk.crash_variants(policy), 2u * 4u);
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < 8; ++i) {
    seen.insert(disk.crash_variant(policy, i).read_file("f").value_or("-"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"-", "", "a", "ab", "abc"}));
}

TEST(SimNames, ANameIsNotReusedBeforeItsFileHasMoved) {
  SimDisk disk;
  disk.write_file("a", "old");
  const auto fs = disk.process();
  ASSERT_TRUE(fs->rename("a", "b").ok());
  { open(*fs, "a", OpenMode::kCreateNew); }
  for (std::uint64_t i = 0; i < 8; ++i) {
    const SimDisk image = disk.crash_variant({DataLoss::kEverything, NameLoss::kSome}, i);
    EXPECT_TRUE(image.read_file("a") == "old" || image.read_file("b") == "old") << i;
  }
}

TEST(SimNames, ARemovedFileMayComeBack) {
  SimDisk disk;
  disk.write_file("f", "x");
  const auto fs = disk.process();
  ASSERT_TRUE(fs->remove("f").ok());
  EXPECT_EQ(disk.read_file("f"), std::nullopt);
  EXPECT_EQ(disk.crash(kLoseAll, 0).read_file("f"), "x");
  ASSERT_TRUE(fs->sync_dir("").ok());
  EXPECT_EQ(disk.crash(kLoseAll, 0).read_file("f"), std::nullopt);
}

TEST(SimNames, SyncingARenamesTargetNeedsWhatCameBefore) {
  SimDisk disk;
  const auto fs = disk.process();
  ASSERT_TRUE(fs->make_dir("b").ok());
  ASSERT_TRUE(fs->sync_dir("").ok());
  { open(*fs, "x", OpenMode::kCreateNew); }
  ASSERT_TRUE(fs->rename("x", "b/y").ok());
  ASSERT_TRUE(fs->sync_dir("b").ok());
  EXPECT_FALSE(disk.unsynced_names());
  EXPECT_EQ(disk.crash(kLoseAll, 0).files(), std::vector<std::string>{"b/y"});
}

TEST(SimDisk, FingerprintIsOfNamesAndBytes) {
  SimDisk one;
  one.write_file("a/x", "1");
  one.write_file("a/y.idx", "2");
  SimDisk two;
  two.write_file("a/y.idx", "2");
  two.write_file("a/x", "1");
  EXPECT_EQ(one.fingerprint(), two.fingerprint());
  const auto is_index = [](std::string_view name) { return name.ends_with(".idx"); };
  ASSERT_TRUE(two.flip("a/y.idx", 0, 1));
  EXPECT_FALSE(two.flip("a/y.idx", 1, 1));
  EXPECT_NE(one.fingerprint(), two.fingerprint());
  EXPECT_EQ(one.fingerprint(is_index), two.fingerprint(is_index));
  two.remove_file("a/x");
  EXPECT_NE(one.fingerprint(is_index), two.fingerprint(is_index));
  SimDisk three;
  three.write_file("a/z", "1");
  SimDisk four;
  four.write_file("b/z", "1");
  EXPECT_NE(three.fingerprint(), four.fingerprint());
}

TEST(SimDisk, FullDisksTakeWhatFitsAndThenNothing) {
  SimDisk disk;
  disk.write_file("other", text(90));
  disk.set_capacity_bytes(100);
  const auto fs = disk.process();
  const auto file = open(*fs, "f", OpenMode::kCreateNew);
  EXPECT_EQ(file->append(text(20)).value(), 10u);
  const auto full = file->append("x");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code(), Code::kNoSpace);
  EXPECT_EQ(file->allocate(0, 11).error().code(), Code::kNoSpace);
  EXPECT_EQ(disk.read_file("f"), text(10));
  ASSERT_TRUE(fs->remove("other").ok());
  ASSERT_TRUE(fs->sync_dir("").ok());
  EXPECT_TRUE(append_all(*file, text(90)).ok());
}

TEST(SimDisk, FilesHaveACapacity) {
  SimDisk disk(8192);
  const auto fs = disk.process();
  const auto file = open(*fs, "f", OpenMode::kCreateNew);
  EXPECT_EQ(file->append(text(10'000)).value(), 8192u);
  EXPECT_EQ(file->append("x").error().code(), Code::kNoSpace);
  EXPECT_EQ(file->truncate(8193).error().code(), Code::kNoSpace);
  EXPECT_EQ(file->allocate(0, 8193).error().code(), Code::kNoSpace);
}

TEST(SimDisk, PoliciesHaveDifferentNames) {
  std::set<std::string> names;
  for (const CrashPolicy policy : all_crash_policies()) names.insert(name(policy));
  EXPECT_EQ(names.size(), all_crash_policies().size());
  EXPECT_EQ(names.size(), 34u);
}

// Random operations on one file, with a plain model of page cache and medium.
TEST(SimDisk, RandomHistoriesAgreeWithAPlainModel) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    SimDisk disk(8192);
    disk.write_file("f", "");
    const auto fs = disk.process();
    const auto appender = open(*fs, "f", OpenMode::kAppend);
    const auto writer = open(*fs, "f", OpenMode::kReadWrite);
    std::string cache;
    std::string medium;
    std::size_t safe = 0;  // bytes below are neither cut nor overwritten since the sync
    for (int step = 0; step < 40; ++step) {
      const std::string bytes = text(random() % 300 + 1, static_cast<char>('A' + random() % 30));
      switch (random() % 6) {
        case 0:
          ASSERT_TRUE(writer->sync().ok());
          medium = cache;
          safe = medium.size();
          break;
        case 1: {
          const std::size_t size = random() % (cache.size() + 50);
          ASSERT_TRUE(appender->truncate(size).ok());
          cache.resize(size);
          safe = std::min(safe, size);
          break;
        }
        case 2: {
          const std::size_t offset = random() % (cache.size() + 50);
          const std::string part = bytes.substr(0, 8000 - std::min<std::size_t>(offset, 7999));
          ASSERT_TRUE(write_all_at(*writer, part, offset).ok());
          if (cache.size() < offset + part.size()) cache.resize(offset + part.size());
          cache.replace(offset, part.size(), part);
          safe = std::min(safe, offset);
          break;
        }
        default:
          if (cache.size() > 7000) break;
          ASSERT_TRUE(append_all(*appender, bytes).ok());
          cache += bytes;
      }
      ASSERT_EQ(disk.read_file("f"), cache);
      ASSERT_EQ(disk.read_durable("f"), medium);
      ASSERT_EQ(disk.crash(kLoseAll, 0).read_file("f"), medium);
      ASSERT_EQ(disk.crash(kKeepNames(DataLoss::kEverything), 0).read_file("f"), cache);
      const CrashPolicy policy = all_crash_policies()[random() % all_crash_policies().size()];
      const std::uint64_t crash_seed = random();
      const SimDisk image = disk.crash(policy, crash_seed);
      ASSERT_EQ(image.read_file("f")->substr(0, safe), medium.substr(0, safe)) << name(policy);
      ASSERT_EQ(image.fingerprint(), disk.crash(policy, crash_seed).fingerprint());
      if (!disk.unsynced_data()) {
        ASSERT_EQ(medium, cache);
        ASSERT_EQ(image.read_file("f"), medium) << name(policy);
      }
    }
  }
}

}  // namespace
}  // namespace quipu::fs
