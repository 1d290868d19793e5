#include "support/postgres_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "support/postgres_client.h"

namespace quipu::test {
namespace {

bool runs(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string number, name;
  char state = 'Z';  // also of one that has ended and was not waited for
  file >> number >> name >> state;
  return state != 'Z';
}

// Inserts until that fails, and says how many rows were acknowledged.
int fill_up(const PostgresConnection& connection, PostgresResult& failed) {
  ask(connection, "CREATE TABLE t (n int, filler text)");
  for (int rows = 0;; rows += 100) {
    failed.reset(PQexec(connection.get(),
                        "INSERT INTO t SELECT 0, repeat('x', 1000) FROM generate_series(1, 100)"));
    if (PQresultStatus(failed.get()) != PGRES_COMMAND_OK) return rows;
  }
}

TEST(PostgresServerTest, IsOfTheTestAlone) {
  PostgresServer& server = PostgresServer::shared();
  const PostgresConnection connection = connect(server.url());
  EXPECT_EQ(ask(connection, "SHOW listen_addresses"), "");
  EXPECT_EQ(ask(connection, "SHOW server_encoding"), "UTF8");
  EXPECT_EQ(ask(connection, "SELECT datcollate FROM pg_database WHERE datname = 'postgres'"), "C");
  EXPECT_EQ(ask(connection, "SHOW fsync"), "off");
  EXPECT_EQ(ask(connection, "SHOW synchronous_commit"), "on");
}

TEST(PostgresServerTest, DatabasesDoNotSeeEachOther) {
  PostgresServer& server = PostgresServer::shared();
  const PostgresConnection one = connect(server.make_database("one"));
  const PostgresConnection two = connect(server.make_database("two"));
  ask(one, "CREATE TABLE t (n int)");
  EXPECT_EQ(ask(one, "SELECT count(*) FROM t"), "0");
  EXPECT_THROW(ask(two, "SELECT count(*) FROM t"), std::runtime_error);
}

TEST(PostgresServerTest, ForkedProcessesLeaveItAlone) {
  PostgresServer& server = PostgresServer::shared();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);  // runs the destructors
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ask(connect(server.url()), "SELECT 1"), "1");
}

TEST(PostgresServerTest, KilledHardItComesBackWithWhatWasCommitted) {
  PostgresServer server;
  const PostgresConnection writer = connect(server.url());
  ask(writer, "CREATE TABLE t (n int)");
  for (int i = 0; i < 10; ++i) ask(writer, "INSERT INTO t VALUES (" + std::to_string(i) + ")");
  const PostgresConnection undecided = connect(server.url());
  ask(undecided, "BEGIN");
  ask(undecided, "INSERT INTO t VALUES (1000)");
  // A statement that runs must end with the server and not go on behind its back.
  const PostgresConnection busy = connect(server.url());
  const pid_t backend = PQbackendPID(busy.get());
  ASSERT_EQ(PQsendQuery(busy.get(), "DO 'BEGIN LOOP END LOOP; END'"), 1);
  while (ask(writer, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid = " +
                         std::to_string(backend)) != "1") {
  }
  ASSERT_TRUE(runs(backend));

  server.kill_hard();
  EXPECT_FALSE(runs(backend));
  EXPECT_THROW(ask(writer, "SELECT 1"), std::runtime_error);
  EXPECT_THROW(connect(server.url()), std::runtime_error);

  server.start_again();
  EXPECT_EQ(ask(connect(server.url()), "SELECT count(*) || ',' || sum(n) FROM t"), "10,45");
}

TEST(PostgresServerTest, EndsWithAProcessThatIsKilled) {
  PostgresServer::shared();  // what servers are copied from is not to be made, and left, by the
                             // child
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const PostgresServer server;
    const std::string socket = server.socket();
    if (::write(ends[1], socket.data(), socket.size()) < 0) ::_exit(1);
    ::pause();
  }
  ::close(ends[1]);
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
  ::close(ends[0]);
  ASSERT_GT(got, 0);
  const auto directory =
      std::filesystem::path(std::string(buffer.data(), static_cast<std::size_t>(got)))
          .parent_path();
  pid_t server = 0;
  std::ifstream(directory / "data" / "postmaster.pid") >> server;
  ASSERT_TRUE(runs(server));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  while (runs(server)) {  // a server that stays is found by the time limit of the test
  }
  std::filesystem::remove_all(directory);
}

TEST(PostgresServerTest, FullTablesRefuseAndTheServerGoesOn) {
  PostgresServer server(PostgresOptions{.fsync = true, .data_bytes_max = 40 << 20});
  const PostgresConnection connection = connect(server.url());
  EXPECT_EQ(ask(connection, "SHOW fsync"), "on");
  PostgresResult failed;
  const int rows = fill_up(connection, failed);
  EXPECT_STREQ(PQresultErrorField(failed.get(), PG_DIAG_SQLSTATE), "53100");
  EXPECT_STREQ(PQresultErrorField(failed.get(), PG_DIAG_SEVERITY), "ERROR");
  EXPECT_EQ(ask(connection, "SELECT count(*) FROM t"), std::to_string(rows));
  server.resize_disks(96 << 20);
  ask(connection, "INSERT INTO t VALUES (1, 'there is room again')");
}

TEST(PostgresServerTest, FullLogCrashesItAndLosesNothing) {
  PostgresServer server(PostgresOptions{.wal_bytes_max = 40 << 20});
  PostgresConnection connection = connect(server.url());
  PostgresResult failed;
  const int rows = fill_up(connection, failed);
  EXPECT_EQ(PQstatus(connection.get()), CONNECTION_BAD);
  server.resize_disks(128 << 20);
  server.start_again();
  connection = connect(server.url());
  const int found = std::stoi(ask(connection, "SELECT count(*) FROM t"));
  EXPECT_TRUE(found == rows || found == rows + 100) << found << " of " << rows;
  ask(connection, "INSERT INTO t VALUES (1, 'there is room again')");
}

TEST(PostgresServerTest, PromotedStandbyHasWhatWasAcknowledged) {
  PostgresServer primary;
  const PostgresConnection writer = connect(primary.url());
  ask(writer, "CREATE TABLE t (n int)");
  const auto standby = PostgresServer::standby_of(primary);
  const std::string either = "postgres://quipu@/postgres?host=" + primary.host() + "," +
                             standby->host() + "&port=5432&target_session_attrs=read-write";
  for (int i = 0; i < 50; ++i) ask(connect(either), "INSERT INTO t VALUES (1)");
  EXPECT_THROW(ask(connect(standby->url()), "INSERT INTO t VALUES (1)"), std::runtime_error);

  // Without its standby the primary acknowledges nothing.
  standby->kill_hard();
  ASSERT_EQ(PQsendQuery(writer.get(), "INSERT INTO t VALUES (1)"), 1);
  const PostgresConnection witness = connect(primary.url());
  while (ask(witness, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") !=
         "1") {
    PQconsumeInput(writer.get());
    ASSERT_TRUE(PQisBusy(writer.get())) << "acknowledged by the primary alone";
  }
  standby->start_again();
  EXPECT_EQ(PQresultStatus(PostgresResult(PQgetResult(writer.get())).get()), PGRES_COMMAND_OK);

  primary.kill_hard();
  standby->promote();
  const PostgresConnection survivor = connect(either);
  EXPECT_EQ(ask(survivor, "SELECT count(*) FROM t"), "51");
  ask(survivor, "INSERT INTO t VALUES (1)");
  EXPECT_EQ(ask(survivor, "SELECT count(*) FROM t"), "52");
}

}  // namespace
}  // namespace quipu::test
