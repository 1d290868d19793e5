// The database of indexes: tables come and go with their versions, a damaged file is emptied.
#include "search/index_database.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "search/rank.h"
#include "sql/sqlite_engine.h"
#include "unit/fs/temporary_directory.h"

namespace quipu::search {
namespace {

IndexTables tables(std::string version) {
  return {.name = "things",
          .version = std::move(version),
          .create = {"CREATE TABLE @things (id BIGINT PRIMARY KEY)"},
          .drop = {"DROP TABLE IF EXISTS @things"},
          .text_indexes = {"things_text"}};
}

class IndexDatabaseTest : public testing::Test {
 protected:
  IndexDatabase open() {
    const std::string file = this->file();
    const sql::SqliteOptions options{.create = true, .tokenizer = tokenizer()};
    auto pool = std::make_shared<sql::Pool>([=] { return sql::open_sqlite(file, options); },
                                            Clock::system(), std::chrono::seconds(5));
    return {std::move(pool), [=] { return sql::empty_sqlite(file, options); }};
  }
  std::string file() const { return directory_.path() + "/index.db"; }

  static std::int64_t count(IndexDatabase& database) {
    const auto engine = database.lease();
    const auto counted = (*engine)->number("SELECT count(*) FROM @things");
    return counted.ok() ? counted->value_or(-1) : -1;
  }
  static void insert(IndexDatabase& database, std::int64_t id) {
    const auto engine = database.lease();
    const sql::Command command{.text = "INSERT INTO @things VALUES ($1)", .params = {id}};
    EXPECT_TRUE((*engine)->commit({&command, 1}, sql::Sync::kLater).ok());
  }

  fs::TemporaryDirectory directory_;
};

TEST_F(IndexDatabaseTest, TablesAreMadeOnceAndAnewForAnotherVersion) {
  IndexDatabase database = open();
  EXPECT_TRUE(database.prepare(tables("1")).value());
  insert(database, 1);
  EXPECT_FALSE(database.prepare(tables("1")).value());
  EXPECT_EQ(count(database), 1);
  IndexDatabase again = open();
  EXPECT_FALSE(again.prepare(tables("1")).value());
  EXPECT_TRUE(again.prepare(tables("2")).value());
  EXPECT_EQ(count(database), 0);
  EXPECT_TRUE(database.drop(tables("2")).ok());
  EXPECT_EQ(count(again), -1);
  EXPECT_TRUE(again.prepare(tables("2")).value());
}

TEST_F(IndexDatabaseTest, WhoComesSecondDropsNothing) {
  IndexDatabase first = open();
  IndexDatabase second = open();
  for (const char* version : {"1", "2"}) {
    const auto meanwhile = [&] {
      EXPECT_TRUE(first.prepare(tables(version)).value());
      insert(first, 1);
      return std::vector<sql::Command>();
    };
    const auto made = second.prepare(tables(version), meanwhile);
    EXPECT_TRUE(made.ok()) << made.error().message();
    EXPECT_EQ(count(second), 1) << version;
  }
}

TEST_F(IndexDatabaseTest, AFileThatIsNoDatabaseIsEmptied) {
  std::ofstream(file()) << std::string(20000, 'x');
  IndexDatabase database = open();
  const auto refused = database.prepare(tables("1"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kCorrupt);
  ASSERT_TRUE(database.discard().ok());
  EXPECT_TRUE(database.prepare(tables("1")).value());
  insert(database, 1);
  EXPECT_EQ(count(database), 1);
}

TEST_F(IndexDatabaseTest, ConnectionsThatAreOpenSeeThatItWasEmptied) {
  IndexDatabase one = open();
  IndexDatabase other = open();
  EXPECT_TRUE(one.prepare(tables("1")).value());
  insert(one, 1);
  EXPECT_EQ(count(other), 1);
  ASSERT_TRUE(other.discard().ok());
  EXPECT_EQ(count(one), -1);
  EXPECT_TRUE(one.prepare(tables("1")).value());
  EXPECT_EQ(count(other), 0);
}

TEST_F(IndexDatabaseTest, InMemoryThereIsOneConnectionAndTheSecondWaits) {
  IndexDatabase database(Clock::system());
  EXPECT_TRUE(database.prepare(tables("1")).value());
  std::optional<std::thread> other;
  {
    const auto held = database.lease();
    ASSERT_TRUE(held.ok());
    other.emplace([&] { insert(database, 2); });
    const sql::Command command{.text = "INSERT INTO @things VALUES (1)"};
    EXPECT_TRUE((*held)->commit({&command, 1}).ok());
  }
  other->join();
  EXPECT_EQ(count(database), 2);
}

TEST(RankTest, IsBm25) {
  // By hand: N = 10, a term in 2 of them; tf 3 of 8 words, average 10.
  const Statistics statistics{.documents = 10, .average_length = 10, .holders = {2, 9}};
  const auto worth = worths(statistics);
  EXPECT_NEAR(worth[0], 1.2237754316221157, 1e-12);
  EXPECT_EQ(worth[1], 1e-6);  // in more than half of them
  const Occurrence thrice[] = {{.in_text = 3}, {}};
  EXPECT_NEAR(bm25(thrice, worth, 8, 10, 0.4), 1.2237754316221157 * 3 * 2.2 / (3 + 1.2 * 0.85),
              1e-12);
  const Occurrence nearby[] = {{.in_text = 1, .in_context = 5}, {}};
  EXPECT_NEAR(bm25(nearby, worth, 8, 10, 0.4), bm25(thrice, worth, 8, 10, 0.4), 1e-12);
}

}  // namespace
}  // namespace quipu::search
