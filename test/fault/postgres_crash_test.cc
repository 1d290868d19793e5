// Servers that die, and what takes over from them: nothing that was acknowledged is lost, and
// writers go on by themselves.
#include <algorithm>
#include <future>
#include <random>

#include "fault/postgres_writers.h"

namespace quipu::test {
namespace {

using std::chrono::seconds;

constexpr std::size_t kWriters = 4;

TEST(PostgresCrash, KilledInMidCommitNothingIsLost) {
  const ScratchCache cache;
  const int kills = std::max(2, static_cast<int>(10 * test_scale()));
  PostgresServer server(PostgresOptions{.fsync = true});
  Store store = must(Store::open(server.url(), {.create = true}));
  PostgresWriters::make_sessions(store, kWriters);
  PostgresWriters writers(server.url(), kWriters, seconds(60));
  std::mt19937 random(1);
  for (int i = 0; i < kills; ++i) {
    writers.wait_for(5 + random() % 10);
    server.kill_hard();
    server.start_again();
  }
  writers.wait_for(20);
  writers.stop();
  std::printf("kills: %d\n", kills);
  writers.judge(store);
}

class PostgresStandby : public ::testing::Test {
 protected:
  // Both servers, in the way of libpq.
  std::string either() const {
    return "postgres://quipu@/postgres?host=" + primary_.host() + "," + standby_->host() +
           "&port=5432&target_session_attrs=read-write";
  }

  const ScratchCache cache_;
  PostgresServer primary_;
  Store store_ = must(Store::open(primary_.url(), {.create = true}));
  std::unique_ptr<PostgresServer> standby_ = PostgresServer::standby_of(primary_);
};

TEST_F(PostgresStandby, TakesOverAndNothingIsLost) {
  PostgresWriters::make_sessions(store_, kWriters);
  PostgresWriters writers(either(), kWriters, seconds(60));
  writers.wait_for(100);
  primary_.kill_hard();
  const std::size_t before = writers.acknowledged();
  standby_->promote();
  writers.wait_for(100);
  writers.stop();
  std::printf("fail-over: %zu batches before, %zu after\n", before,
              writers.acknowledged() - before);
  Store survivor = must(Store::open(standby_->url()));
  writers.judge(survivor);
}

// The server is told to stop waiting: committed here, perhaps nowhere else.
TEST_F(PostgresStandby, NotWaitedForIsNotAcknowledged) {
  must(store_.sessions().create_session({.id = "s"}));
  must(store_.sessions().append_session_entries("s", batch_of("a", 1)));
  standby_->kill_hard();
  const PostgresConnection witness = connect(primary_.url());
  const auto cancel = [&] {
    return ask(witness,
               "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity"
               " WHERE wait_event = 'SyncRep'") != "0";
  };
  Store store = bare_store(primary_.url(), milliseconds(0));
  auto appended = std::async(std::launch::async, [&] {
    return code_of(store.sessions().append_session_entries("s", batch_of("b", 2)));
  });
  int cancelled = 0;
  while (appended.wait_for(seconds(0)) != std::future_status::ready) cancelled += cancel();
  EXPECT_GE(cancelled, 1);
  EXPECT_EQ(appended.get(), Code::kDurabilityUnknown);

  // It is there; with the standby back, a repeat makes it certain.
  EXPECT_EQ(stored_ids(witness, "s"), "a-0 b-0 b-1 ");
  standby_->start_again();
  const auto again = must(store.sessions().append_session_entries("s", batch_of("b", 2)));
  EXPECT_EQ(again.already_present, 2u);
  EXPECT_TRUE(again.durable);
  primary_.kill_hard();
  standby_->promote();
  EXPECT_EQ(stored_ids(connect(standby_->url()), "s"), "a-0 b-0 b-1 ");
}

TEST_F(PostgresStandby, AppendWaitsForIt) {
  must(store_.sessions().create_session({.id = "s"}));
  standby_->kill_hard();
  auto appended = std::async(std::launch::async, [&] {
    return must(store_.sessions().append_session_entries("s", batch_of("a", 1))).durable;
  });
  const PostgresConnection witness = connect(primary_.url());
  while (ask(witness, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") !=
         "1") {
    ASSERT_NE(appended.wait_for(seconds(0)), std::future_status::ready)
        << "acknowledged by the primary alone";
  }
  standby_->start_again();
  EXPECT_TRUE(appended.get());
}

// Replay stops: what others write is not seen there, what this store wrote or saw is.
TEST_F(PostgresStandby, ReadsAreItsOwnUnlessItIsBehind) {
  must(store_.sessions().create_session({.id = "s"}));
  must(store_.sessions().append_session_entries("s", batch_of("a", 1)));
  const PostgresConnection on_standby = connect(standby_->url());
  while (stored_ids(on_standby, "s") != "a-0 ") {
  }
  ask(on_standby, "SELECT pg_wal_replay_pause()");
  while (ask(on_standby, "SELECT pg_get_wal_replay_pause_state()") != "paused") {
  }
  Store store = must(Store::open(primary_.url(), {.replica = standby_->url()}));
  const auto count = [&](const std::string& session) {
    return must(store.sessions().load_session_entries(session)).size();
  };
  const auto listed = [&] { return must(store.sessions().session_ids()); };

  must(store_.sessions().append_session_entries("s", batch_of("b", 1)));
  must(store_.sessions().create_session({.id = "t"}));
  EXPECT_EQ(count("s"), 2u) << "the primary was asked";
  EXPECT_EQ(listed(), std::vector<std::string>{"s"}) << "the primary was asked";

  must(store.sessions().create_session({.id = "u"}));
  EXPECT_EQ(listed(), (std::vector<std::string>{"s", "t", "u"}));
  EXPECT_EQ(count("u"), 1u);
  EXPECT_EQ(count("t"), 1u) << "what the replica has not heard of is asked for";
  must(store.sessions().append_session_entries("s", batch_of("c", 1)));
  EXPECT_EQ(count("s"), 4u);

  // Once it has caught up, it is asked again.
  ask(on_standby, "SELECT pg_wal_replay_resume()");
  while (stored_ids(on_standby, "s") != "a-0 b-0 c-0 " || stored_ids(on_standby, "u") != "") {
  }
  while (ask(on_standby, "SELECT count(*) FROM quipu.heads") != "3") {
  }
  ask(on_standby, "SELECT pg_wal_replay_pause()");
  while (ask(on_standby, "SELECT pg_get_wal_replay_pause_state()") != "paused") {
  }
  must(store_.sessions().create_session({.id = "v"}));
  EXPECT_EQ(listed().size(), 3u) << "the primary was asked";
}

}  // namespace
}  // namespace quipu::test
