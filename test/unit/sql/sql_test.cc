#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "../fs/temporary_directory.h"
#include "sql/migrate.h"

namespace quipu::sql {
namespace {

Connection open(const std::string& file, int busy_wait_ms = 0) {
  auto opened = Connection::open(
      file, {.busy_wait = std::chrono::milliseconds(busy_wait_ms), .create = true});
  if (!opened.ok()) {
    ADD_FAILURE() << opened.error().message();
    std::abort();
  }
  return std::move(opened).value();
}

std::int64_t count(Connection& connection) {
  const auto rows = connection.number("SELECT count(*) FROM t");
  EXPECT_TRUE(rows.ok()) << (rows.ok() ? "" : rows.error().message());
  return rows.ok() ? rows->value_or(-1) : -1;
}

class Sql : public testing::Test {
 protected:
  std::string file() const { return directory_ / "test.db"; }
  fs::TemporaryDirectory directory_;
};

TEST_F(Sql, ValuesComeBackAsTheyWereBound) {
  Connection connection = open(":memory:");
  ASSERT_TRUE(connection.execute("CREATE TABLE t(a INTEGER, b TEXT, c TEXT)").ok());
  auto insert = connection.prepare("INSERT INTO t VALUES(?1, ?2, ?3)");
  ASSERT_TRUE(insert.ok());
  const std::string text("nul\0inside", 10);
  insert->bind(1, std::int64_t{-5}).bind(2, std::string_view(text)).bind(3, std::string_view());
  ASSERT_TRUE(insert->run().ok());
  ASSERT_TRUE(insert->run().ok()) << "it can be run again, with nothing bound";
  auto select = connection.prepare("SELECT a, b, c FROM t ORDER BY a NULLS LAST");
  ASSERT_TRUE(select.ok());
  ASSERT_TRUE(select->step().value());
  EXPECT_EQ(-5, select->integer(0));
  EXPECT_EQ(text, select->text(1));
  EXPECT_FALSE(select->is_null(2)) << "an empty text is no null";
  ASSERT_TRUE(select->step().value());
  EXPECT_TRUE(select->is_null(1));
  EXPECT_FALSE(select->step().value());
}

TEST_F(Sql, ErrorsSayWhatToDo) {
  Connection connection = open(":memory:");
  EXPECT_EQ(Code::kInvalidArgument, connection.execute("SELECT nonsense").error().code());
  EXPECT_EQ(Code::kInvalidArgument, connection.prepare("  ").error().code());
  ASSERT_TRUE(connection.execute("CREATE TABLE t(a UNIQUE)").ok());
  ASSERT_TRUE(connection.execute("INSERT INTO t VALUES(1)").ok());
  EXPECT_EQ(Code::kIdConflict, connection.execute("INSERT INTO t VALUES(1)").error().code());
  auto insert = connection.prepare("INSERT INTO t VALUES(?1)");
  EXPECT_EQ(Code::kInvalidArgument, insert->bind(7, std::int64_t{1}).step().error().code());

  std::ofstream(file()) << std::string(5000, 'x');
  Connection garbage = open(file());
  EXPECT_EQ(Code::kCorrupt, garbage.number("PRAGMA user_version").error().code());
  EXPECT_EQ(Code::kIoError, Connection::open(directory_ / "no/such.db").error().code());
  EXPECT_FALSE(Connection::open(directory_ / "absent.db", {.create = false}).ok());
}

TEST_F(Sql, ATransactionThatIsNotCommittedLeavesNothing) {
  Connection connection = open(file());
  ASSERT_TRUE(connection.execute("CREATE TABLE t(a)").ok());
  {
    auto transaction = Transaction::begin(connection);
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(connection.execute("INSERT INTO t VALUES(1)").ok());
    EXPECT_EQ(1, count(connection));
  }
  EXPECT_EQ(0, count(connection));
  auto transaction = Transaction::begin(connection);
  ASSERT_TRUE(connection.execute("INSERT INTO t VALUES(1)").ok());
  ASSERT_TRUE(transaction->commit().ok());
  Connection other = open(file());
  EXPECT_EQ(1, count(other));
}

TEST_F(Sql, AWriterKeepsOthersOutUntilTheyGiveUp) {
  Connection first = open(file());
  Connection second = open(file());
  ASSERT_TRUE(first.execute("CREATE TABLE t(a)").ok());
  auto held = Transaction::begin(first);
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(Code::kBusy, Transaction::begin(second).error().code());
  ASSERT_TRUE(held->commit().ok());
  EXPECT_TRUE(Transaction::begin(second).ok());
}

TEST_F(Sql, InterruptEndsWhatIsRunning) {
  Connection connection = open(":memory:");
  std::atomic<bool> done = false;
  // Repeated: an interrupt before the query starts does nothing.
  std::thread interrupter([&] {
    while (!done) connection.interrupt();
  });
  const auto endless = connection.number(
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n");
  done = true;
  interrupter.join();
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(Code::kBusy, endless.error().code());
}

TEST_F(Sql, MigrationTakesTheStepsThatAreMissing) {
  const char* const one[] = {"CREATE TABLE t(a)"};
  const char* const two[] = {"CREATE TABLE t(a)",
                             "INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)"};
  Connection connection = open(file());
  ASSERT_TRUE(migrate(connection, one).ok());
  ASSERT_TRUE(migrate(connection, one).ok()) << "nothing is left to do";
  EXPECT_EQ(0, count(connection));
  ASSERT_TRUE(migrate(connection, two).ok());
  EXPECT_EQ(2, count(connection));
  EXPECT_EQ(2, connection.number("PRAGMA user_version")->value());
  EXPECT_EQ(Code::kUnsupported, migrate(connection, one).error().code()) << "a newer program's";
  EXPECT_EQ(2, count(connection));
}

TEST_F(Sql, AStepThatFailsLeavesTheVersionBeforeIt) {
  const char* const steps[] = {"CREATE TABLE t(a)", "INSERT INTO t VALUES(1); SELECT nonsense"};
  Connection connection = open(file());
  EXPECT_EQ(Code::kInvalidArgument, migrate(connection, steps).error().code());
  EXPECT_EQ(1, connection.number("PRAGMA user_version")->value());
  EXPECT_EQ(0, count(connection));
}

}  // namespace
}  // namespace quipu::sql
