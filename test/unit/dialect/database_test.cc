// Copies of databases that somebody else has open.
#include "dialect/database.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "support/agent_database.h"
#include "support/memory_host.h"

namespace quipu::dialect {
namespace {

using Snapshot = std::map<std::string, std::string>;

std::string whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Snapshot snapshot(const std::string& directory) {
  Snapshot files;
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    if (file.is_regular_file()) files[file.path()] = whole(file.path());
  }
  return files;
}

std::int64_t sum(Database& database) {
  std::int64_t sum = -1;
  const auto done = database.query("SELECT sum(n) FROM t", {},
                                   [&](const sql::Statement& row) { sum = row.integer(0); });
  EXPECT_TRUE(done.ok()) << done.error().message();
  return sum;
}

// TMPDIR is the test's own, so that what is left there can be seen.
class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", scratch_.path().c_str(), 1);
  }
  ~DatabaseTest() override {
    before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
  }

  Result<std::shared_ptr<Database>> copy() {
    return Database::copy_of(path_, fs::HostFiles::system());
  }

  std::string before_;
  fs::TemporaryDirectory directory_;
  fs::TemporaryDirectory scratch_;
  const std::string path_ = directory_ / "agent.db";
};

TEST_F(DatabaseTest, WhatIsOnlyInTheLogIsSeen) {
  auto agent = sql::Connection::open(path_).value();
  ASSERT_TRUE(agent
                  .execute("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; "
                           "CREATE TABLE t (n); INSERT INTO t VALUES (1), (2)")
                  .ok());
  ASSERT_TRUE(std::filesystem::exists(path_ + "-wal"));
  const Snapshot before = snapshot(directory_.path());
  const auto database = copy();
  ASSERT_TRUE(database.ok()) << database.error().message();
  EXPECT_EQ(sum(**database), 3);
  EXPECT_EQ(snapshot(directory_.path()), before);
  // What the agent adds belongs to the next copy.
  ASSERT_TRUE(agent.execute("INSERT INTO t VALUES (10)").ok());
  EXPECT_EQ(sum(**database), 3);
  EXPECT_EQ(sum(*copy().value()), 13);
}

TEST_F(DatabaseTest, ALockOfTheAgentDoesNotMatter) {
  auto agent = sql::Connection::open(path_).value();
  ASSERT_TRUE(agent
                  .execute("PRAGMA locking_mode=EXCLUSIVE; CREATE TABLE t (n); "
                           "INSERT INTO t VALUES (1); BEGIN EXCLUSIVE; INSERT INTO t VALUES (5)")
                  .ok());
  auto other = sql::Connection::open(path_).value();
  ASSERT_EQ(other.execute("SELECT * FROM t").error().code(), Code::kBusy);
  const auto database = copy();
  ASSERT_TRUE(database.ok()) << database.error().message();
  EXPECT_EQ(sum(**database), 1) << "what is not committed is not there";
}

// Pages that a transaction has written already are taken back, by the journal beside them.
TEST_F(DatabaseTest, AnUnfinishedTransactionIsRolledBackInTheCopy) {
  auto agent = sql::Connection::open(path_).value();
  // More pages than the cache takes: the first ones are in the file before the end.
  ASSERT_TRUE(agent
                  .execute("PRAGMA journal_mode=DELETE; CREATE TABLE t (n, fill); "
                           "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c "
                           "WHERE i < 1000) INSERT INTO t SELECT 1, zeroblob(1000) FROM c; "
                           "PRAGMA cache_size=2; BEGIN; UPDATE t SET n = 7")
                  .ok());
  ASSERT_TRUE(std::filesystem::exists(path_ + "-journal"));
  const Snapshot before = snapshot(directory_.path());
  const auto database = copy();
  ASSERT_TRUE(database.ok()) << database.error().message();
  EXPECT_EQ(sum(**database), 1000);
  EXPECT_TRUE(snapshot(directory_.path()) == before);
}

TEST_F(DatabaseTest, NothingHasANameWhileItIsOpen) {
  auto agent = sql::Connection::open(path_).value();
  ASSERT_TRUE(
      agent.execute("PRAGMA journal_mode=WAL; CREATE TABLE t (n); INSERT INTO t VALUES (1)").ok());
  const auto database = copy();
  ASSERT_TRUE(database.ok());
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
  EXPECT_EQ(sum(**database), 1);
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

// Files that change while they are read, `times` times.
class Restless final : public MemoryHost {
 public:
  int times = 0;
  int opened = 0;
  Result<std::unique_ptr<fs::HostFile>> open(const std::string& path) override {
    ++opened;
    auto file = MemoryHost::open(path);
    if (times-- > 0) files[path] += '\0';
    return file;
  }
};

TEST_F(DatabaseTest, WhatChangesIsCopiedAgain) {
  Restless host;
  host.files["/a.db"] = database_image({"CREATE TABLE t (n)", "INSERT INTO t VALUES (4)"});
  host.times = 2;
  const auto database = Database::copy_of("/a.db", host);
  ASSERT_TRUE(database.ok()) << database.error().message();
  EXPECT_EQ(sum(**database), 4);
  EXPECT_EQ(host.opened, 3);
}

TEST_F(DatabaseTest, WhatNeverRestsIsBusy) {
  Restless host;
  host.files["/a.db"] = database_image({"CREATE TABLE t (n)"});
  host.times = 1000;
  const auto database = Database::copy_of("/a.db", host);
  ASSERT_FALSE(database.ok());
  EXPECT_EQ(database.error().code(), Code::kBusy);
  EXPECT_FALSE(database.error().hint().empty());
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

TEST_F(DatabaseTest, NoDatabaseIsAnError) {
  MemoryHost host;
  EXPECT_EQ(Database::copy_of("/a.db", host).error().code(), Code::kNotFound);
  host.files["/a.db"] =
      "no database at all, but long enough to be looked at, as it were, by SQLite "
      "which wants a hundred bytes of header";
  EXPECT_EQ(Database::copy_of("/a.db", host).error().code(), Code::kCorrupt);
  host.files["/a.db"] = "";
  const auto empty = Database::copy_of("/a.db", host);
  ASSERT_TRUE(empty.ok());
  EXPECT_FALSE((*empty)->has("t", "n"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

TEST_F(DatabaseTest, AViewIsNoTable) {
  MemoryHost host;
  host.files["/a.db"] = database_image({"CREATE TABLE t (n)", "CREATE VIEW v AS SELECT n FROM t"});
  const auto database = Database::copy_of("/a.db", host).value();
  EXPECT_TRUE(database->has("t", "n"));
  EXPECT_FALSE(database->has("t", "m"));
  EXPECT_FALSE(database->has("v", "n"));
}

TEST_F(DatabaseTest, DamageIsAnErrorAndNoCrash) {
  std::vector<std::string> statements{"CREATE TABLE t (n, s)", "CREATE INDEX i ON t(s)"};
  for (int i = 0; i < 200; ++i) {
    statements.push_back("INSERT INTO t VALUES (" + std::to_string(i) + ", hex(zeroblob(200)))");
  }
  const std::string image = database_image(statements);
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    MemoryHost host;
    std::string& damaged = host.files["/a.db"] = image;
    for (int i = 0; i < 20; ++i)
      damaged[100 + random() % (image.size() - 100)] = static_cast<char>(random());
    const auto database = Database::copy_of("/a.db", host);
    if (!database.ok()) continue;
    std::string row;
    for (std::int64_t rowid = 1; rowid <= 200; ++rowid) {
      if (!(*database)->row("t", rowid, row).ok()) break;
    }
  }
}

}  // namespace
}  // namespace quipu::dialect
