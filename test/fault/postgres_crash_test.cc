// Servers that die, and what takes over from them: nothing that was acknowledged is lost, and
// writers go on by themselves.
#include <algorithm>
#include <future>
#include <random>

#include "events/feed.h"
#include "fault/postgres_writers.h"
#include "quipu/events.h"
#include "quipu/memory.h"
#include "support/event_reader.h"

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

  // From now on the standby hears of nothing, while commits need not wait for it.
  static void pause_replay(const PostgresConnection& on_standby) {
    ask(on_standby, "SELECT pg_wal_replay_pause()");
    while (ask(on_standby, "SELECT pg_get_wal_replay_pause_state()") != "paused") {
    }
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
  pause_replay(on_standby);
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
  pause_replay(on_standby);
  must(store_.sessions().create_session({.id = "v"}));
  EXPECT_EQ(listed().size(), 3u) << "the primary was asked";
}

class PostgresReplica : public PostgresStandby {
 protected:
  // Session s with one message, which the standby has heard of, and nothing after that.
  void SetUp() override {
    must(store_.sessions().create_session({.id = "s"}));
    must(store_.sessions().append_session_entries("s", batch_of("a", 1)));
    say("x");
    MemoryNode node;
    node.id = "secret";
    node.text = "secret";
    must(MemoryStore(store_).upsert({&node, 1}));
    const PostgresConnection on_standby = connect(standby_->url());
    const std::string written = ask(connect(primary_.url()), "SELECT pg_current_wal_flush_lsn()");
    while (ask(on_standby, "SELECT pg_last_wal_replay_lsn() >= '" + written + "'") != "t") {
    }
    pause_replay(on_standby);
  }

  void say(const std::string& type, const EventOptions& options = {}) {
    const NewEvent event = event_of(type);
    must(EventStore(store_, options).append({&event, 1}));
  }
  Store behind() { return must(Store::open(primary_.url(), {.replica = standby_->url()})); }
};

TEST_F(PostgresReplica, EventsOfASegmentThatItHasInPartAreNotSkipped) {
  say("y");
  say("z", {.segment_bytes = 1});
  ASSERT_EQ(must(EventStore(store_).segments()).size(), 2u);
  Store store = behind();
  auto tail = must(EventStore(store).tail({}, {.types = {"x", "y", "z"}}));
  EXPECT_EQ(told(all_of(tail)), (std::vector<std::string>{"x", "y", "z"}));
}

TEST_F(PostgresReplica, WhatItHasNotHeardOfASessionIsTold) {
  must(store_.sessions().append_session_entries("s", batch_of("b", 1)));
  Store store = behind();
  auto tail = must(EventStore(store).tail({}, {.session = "s"}));
  const auto events = all_of(tail);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(told(events[2]), "entry_appended s/2 b-0");
}

TEST_F(PostgresReplica, WhatOthersToldOfIsGivenWhole) {
  must(store_.sessions().append_session_entries("s", batch_of("b", 1)));
  auto others = must(EventStore(store_).tail());
  const auto expected = told(all_of(others));
  ASSERT_GE(expected.size(), 4u);
  Store store = behind();
  auto tail = must(EventStore(store).tail());
  EXPECT_EQ(told(all_of(tail)), expected);
  // Also by one who has not compared the sessions before.
  Store another = behind();
  events::EventLog log(another.backend(), {});
  events::Feed feed(log, {});
  must(feed.rewind());
  EXPECT_EQ(told(must(feed.read())), expected);
}

TEST_F(PostgresReplica, AForkThatItHasNotHeardOfIsRead) {
  must(store_.sessions().append_session_entries("s", batch_of("b", 1)));
  ForkOptions fork;
  fork.new_id = "f";
  must(store_.sessions().branch_from_entry("s", "b-0", fork));
  EXPECT_EQ(must(behind().sessions().load_session_entries("f")).size(), 3u);
}

TEST_F(PostgresReplica, MemoryThatOthersForgotIsForgotten) {
  const std::string ids[] = {"secret"};
  ASSERT_EQ(must(MemoryStore(store_).forget(ids)), 1u);
  Store store = behind();
  EXPECT_TRUE(must(MemoryStore(store).list()).items.empty());
}

}  // namespace
}  // namespace quipu::test
