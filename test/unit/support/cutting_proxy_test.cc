#include "support/cutting_proxy.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <stdexcept>

#include "support/postgres_client.h"
#include "support/postgres_server.h"

namespace quipu::test {
namespace {

class CuttingProxyTest : public testing::Test {
 protected:
  CuttingProxyTest()
      : name_(testing::UnitTest::GetInstance()->current_test_info()->name()),
        direct_(connect(server_.make_database(name_))) {
    ask(direct_, "CREATE TABLE t (n int)");
  }

  std::string rows() const { return ask(direct_, "SELECT count(*) FROM t"); }

  PostgresServer& server_ = PostgresServer::shared();
  const std::string name_;
  const PostgresConnection direct_;
};

// As a prepared statement is: parse, bind, describe, execute, sync.
bool insert_three(PGconn* connection) {
  const PostgresResult result(PQexecParams(connection, "INSERT INTO t VALUES (1), (2), (3)", 0,
                                           nullptr, nullptr, nullptr, nullptr, 0));
  return PQresultStatus(result.get()) == PGRES_COMMAND_OK;
}

TEST_F(CuttingProxyTest, PassesEverythingOn) {
  CuttingProxy proxy(server_.socket());
  const PostgresConnection connection = connect(proxy.url(name_));
  EXPECT_EQ(proxy.seen(Sender::kClient), "-");
  proxy.disarm();
  EXPECT_TRUE(insert_three(connection.get()));
  EXPECT_EQ(proxy.seen(Sender::kClient), "PBDES");
  EXPECT_EQ(proxy.seen(Sender::kServer), "12nCZ");
  EXPECT_FALSE(proxy.fired());
  // More than any buffer on the way holds, in both directions at once.
  const std::string large(8'000'000, 'x');
  EXPECT_EQ(ask(connection, "SELECT '" + large + "'"), large);
}

TEST_F(CuttingProxyTest, CutAtAnyMessageRowsAreAllThereOrNone) {
  CuttingProxy proxy(server_.socket());
  std::string outcomes;
  for (const Sender sender : {Sender::kClient, Sender::kServer}) {
    for (const bool passes : {false, true}) {
      for (std::size_t message = 1;; ++message) {
        ask(direct_, "TRUNCATE t");
        const PostgresConnection connection = connect(proxy.url(name_));
        proxy.arm({.sender = sender, .message = message, .passes = passes});
        const bool acknowledged = insert_three(connection.get());
        if (!proxy.fired()) {
          EXPECT_TRUE(acknowledged);
          EXPECT_EQ(rows(), "3");
          proxy.disarm();
          break;
        }
        proxy.wait_until_settled();
        const std::string found = rows();
        EXPECT_TRUE(found == "0" || found == "3") << found;
        EXPECT_TRUE(found == "3" || !acknowledged);
        outcomes += found;
      }
      outcomes += ' ';
    }
  }
  // Parse, bind, describe, execute do nothing without the sync. When there are answers, it is done.
  EXPECT_EQ(outcomes, "00000 00003 33333 33333 ");
}

TEST_F(CuttingProxyTest, CutWhileConnecting) {
  CuttingProxy proxy(server_.socket());
  for (const bool passes : {false, true}) {
    proxy.arm({.passes = passes});
    EXPECT_THROW(connect(proxy.url(name_)), std::runtime_error);
    EXPECT_TRUE(proxy.fired());
    proxy.wait_until_settled();
  }
  EXPECT_EQ(ask(connect(proxy.url(name_)), "SELECT 1"), "1");
}

TEST_F(CuttingProxyTest, HangsUntilTheClientGivesUp) {
  CuttingProxy proxy(server_.socket());
  for (const bool passes : {false, true}) {
    PostgresConnection connection = connect(proxy.url(name_));
    proxy.arm({.message = 5, .passes = passes, .hangs = true});
    ASSERT_EQ(PQsendQueryParams(connection.get(), "INSERT INTO t VALUES (1)", 0, nullptr, nullptr,
                                nullptr, nullptr, 0),
              1);
    ASSERT_EQ(PQflush(connection.get()), 0);
    proxy.wait_until_fired();
    while (passes && rows() != "1") {
    }
    pollfd answer{PQsocket(connection.get()), POLLIN, 0};
    EXPECT_EQ(::poll(&answer, 1, 0), 0);
    connection.reset();
    proxy.wait_until_settled();
    EXPECT_EQ(rows(), passes ? "1" : "0");
  }
}

TEST_F(CuttingProxyTest, ClientsAreToldWhenTheServerEnds) {
  CuttingProxy proxy(server_.socket());
  const PostgresConnection connection = connect(proxy.url(name_));
  ask(direct_,
      "SELECT pg_terminate_backend(" + std::to_string(PQbackendPID(connection.get())) + ")");
  EXPECT_THROW(ask(connection, "SELECT 1"), std::runtime_error);
  CuttingProxy astray(server_.socket() + "-nobody");
  EXPECT_THROW(connect(astray.url(name_)), std::runtime_error);
}

TEST_F(CuttingProxyTest, CancelRequestsArrive) {
  CuttingProxy proxy(server_.socket());
  const PostgresConnection connection = connect(proxy.url(name_));
  ASSERT_EQ(PQsendQuery(connection.get(), "DO 'BEGIN LOOP END LOOP; END'"), 1);
  while (ask(direct_, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid = " +
                          std::to_string(PQbackendPID(connection.get()))) != "1") {
  }
  PGcancel* const cancel = PQgetCancel(connection.get());
  char message[256];
  EXPECT_EQ(PQcancel(cancel, message, sizeof message), 1) << message;
  PQfreeCancel(cancel);
  const PostgresResult result(PQgetResult(connection.get()));
  EXPECT_STREQ(PQresultErrorField(result.get(), PG_DIAG_SQLSTATE), "57014");
}

TEST_F(CuttingProxyTest, PoolerForgetsSessionsBetweenTransactions) {
  CuttingProxy pooler(server_.socket(), 2);
  const PostgresConnection connection = connect(pooler.url(name_));
  const std::string one = ask(connection, "SELECT pg_backend_pid()");
  const std::string two = ask(connection, "SELECT pg_backend_pid()");
  EXPECT_NE(one, two);
  EXPECT_EQ(ask(connection, "SELECT pg_backend_pid()"), one);
  // A transaction stays where it began.
  ask(connection, "BEGIN");
  EXPECT_EQ(ask(connection, "SELECT pg_backend_pid()"), two);
  EXPECT_EQ(ask(connection, "SELECT pg_backend_pid()"), two);
  ask(connection, "COMMIT");
  EXPECT_EQ(ask(connection, "SELECT pg_backend_pid()"), one);

  const auto prepare = [&] {
    return PQresultStatus(
        PostgresResult(PQprepare(connection.get(), "named", "SELECT 1", 0, nullptr)).get());
  };
  const auto run = [&] {
    return PQresultStatus(
        PostgresResult(PQexecPrepared(connection.get(), "named", 0, nullptr, nullptr, nullptr, 0))
            .get());
  };
  EXPECT_EQ(prepare(), PGRES_COMMAND_OK);
  EXPECT_EQ(run(), PGRES_FATAL_ERROR);
}

// While a session has questions to answer, the next one must queue behind them.
TEST_F(CuttingProxyTest, PoolerKeepsAPipelineTogether) {
  CuttingProxy pooler(server_.socket(), 2);
  const PostgresConnection connection = connect(pooler.url(name_));
  ASSERT_EQ(PQenterPipelineMode(connection.get()), 1);
  const auto send = [&](const char* sql) {
    ASSERT_EQ(PQsendQueryParams(connection.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 0),
              1);
    ASSERT_EQ(PQpipelineSync(connection.get()), 1);
    ASSERT_EQ(PQflush(connection.get()), 0);
  };
  const auto receive = [&] {
    PostgresResult result(PQgetResult(connection.get()));
    EXPECT_EQ(PQgetResult(connection.get()), nullptr);
    EXPECT_EQ(PQresultStatus(PostgresResult(PQgetResult(connection.get())).get()),
              PGRES_PIPELINE_SYNC);
    return result;
  };
  ask(direct_, "BEGIN");
  ask(direct_, "LOCK TABLE t");
  send("SELECT pg_backend_pid()");
  send("INSERT INTO t VALUES (1)");  // waits for the lock
  const PostgresResult first = receive();
  send("SELECT pg_backend_pid()");
  ask(direct_, "COMMIT");
  EXPECT_EQ(PQresultStatus(receive().get()), PGRES_COMMAND_OK);
  const PostgresResult last = receive();
  ASSERT_EQ(PQresultStatus(first.get()), PGRES_TUPLES_OK);
  ASSERT_EQ(PQresultStatus(last.get()), PGRES_TUPLES_OK);
  EXPECT_STREQ(PQgetvalue(first.get(), 0, 0), PQgetvalue(last.get(), 0, 0));
}

}  // namespace
}  // namespace quipu::test
