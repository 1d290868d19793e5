// A store in a SQLite file on a disk that is full: the errors say so, nothing that was acknowledged
// is lost, and it goes on when there is room.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "quipu/store.h"
#include "support/tiny_disk.h"
#include "unit/fs/temporary_directory.h"

namespace quipu::fault {
namespace {

constexpr std::uint64_t kSmall = 2 << 20;
constexpr std::uint64_t kLarge = 8 << 20;
constexpr int kFailuresMin = 5;

NewEntry entry_of(std::size_t number) {
  NewEntry entry;
  entry.id = "e" + std::to_string(number);
  entry.type = "message";
  entry.payload = "{\"role\":\"user\",\"content\":\"" + std::string(500 + number % 7 * 900, 'x') +
                  std::to_string(number) + "\"}";
  return entry;
}

class SqliteFullDisk : public testing::Test {
 protected:
  SqliteFullDisk() : disk_(directory_.path(), kSmall) {
    store_.emplace(open(true));
    EXPECT_TRUE(store_->sessions().create_session({.id = "s"}).ok());
  }

  Store open(bool create = false) {
    StoreOptions options;
    options.create = create;
    auto store = Store::open("sqlite:" + (directory_ / "store.db"), options);
    if (!store.ok()) throw std::runtime_error(store.error().message());
    return std::move(store).value();
  }

  // One after the other until the disk is full.
  void fill() {
    for (int failures = 0; failures < kFailuresMin;) {
      const NewEntry entry = entry_of(next_++);
      const auto done = store_->sessions().append_session_entries("s", {&entry, 1});
      if (done.ok()) {
        acknowledged_.push_back(entry);
        continue;
      }
      ++failures;
      ASSERT_EQ(Code::kNoSpace, done.error().code())
          << name(done.error().code()) << ": " << done.error().message();
    }
  }

  void expect_whole(Store& store) {
    const auto found = store.sessions().load_session_entries("s");
    ASSERT_TRUE(found.ok()) << found.error().message();
    ASSERT_EQ(acknowledged_.size() + 1, found->size());
    for (std::size_t i = 0; i < acknowledged_.size(); ++i) {
      ASSERT_EQ(acknowledged_[i].id, (*found)[i + 1].id);
      ASSERT_EQ(acknowledged_[i].payload, (*found)[i + 1].payload);
    }
    const auto report = store.sessions().verify_session("s");
    ASSERT_TRUE(report.ok()) << report.error().message();
    EXPECT_TRUE(report->problems.empty()) << report->problems.front().detail;
  }

  fs::TemporaryDirectory directory_;
  test::TinyDisk disk_;
  std::optional<Store> store_;
  std::vector<NewEntry> acknowledged_;
  std::size_t next_ = 0;
};

TEST_F(SqliteFullDisk, TheSameHandleGoesOnWhenThereIsRoom) {
  ASSERT_NO_FATAL_FAILURE(fill());
  std::printf("%zu entries acknowledged on %llu bytes\n", acknowledged_.size(),
              static_cast<unsigned long long>(kSmall));
  EXPECT_GT(acknowledged_.size(), 20u);
  ASSERT_NO_FATAL_FAILURE(expect_whole(*store_));
  disk_.resize(kLarge);
  ASSERT_NO_FATAL_FAILURE(fill());
  ASSERT_NO_FATAL_FAILURE(expect_whole(*store_));
}

TEST_F(SqliteFullDisk, AnotherHandleReadsItAndGoesOnWhenThereIsRoom) {
  ASSERT_NO_FATAL_FAILURE(fill());
  EXPECT_TRUE(store_->close().ok()) << "the log is taken in when there is room";
  store_.reset();
  {
    Store reader = open();
    ASSERT_NO_FATAL_FAILURE(expect_whole(reader));
  }
  disk_.resize(kLarge);
  store_.emplace(open());
  ASSERT_NO_FATAL_FAILURE(expect_whole(*store_));
  ASSERT_NO_FATAL_FAILURE(fill());
  ASSERT_NO_FATAL_FAILURE(expect_whole(*store_));
}

TEST_F(SqliteFullDisk, WhenOthersTookTheLastByteOpeningSaysSo) {
  const NewEntry entry = entry_of(next_++);
  ASSERT_TRUE(store_->sessions().append_session_entries("s", {&entry, 1}).ok());
  acknowledged_.push_back(entry);
  store_.reset();
  std::filesystem::remove(directory_ / "store.db-shm");
  {
    std::ofstream other(directory_ / "other");
    while (other << std::string(4096, 'o') << std::flush) continue;
  }
  auto opened = Store::open("sqlite:" + (directory_ / "store.db"));
  if (opened.ok()) {
    ASSERT_NO_FATAL_FAILURE(expect_whole(*opened));
  } else {
    EXPECT_EQ(Code::kNoSpace, opened.error().code())
        << name(opened.error().code()) << ": " << opened.error().message();
  }
  disk_.resize(kLarge);
  store_.emplace(open());
  ASSERT_NO_FATAL_FAILURE(expect_whole(*store_));
}

}  // namespace
}  // namespace quipu::fault
