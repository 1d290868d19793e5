// Several processes and threads on one session of one database, and one that follows all of them.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <set>
#include <thread>

#include "fault/postgres_fixture.h"

namespace quipu::test {
namespace {

constexpr int kThreads = 8;
constexpr int kProcesses = 2;

struct Tally {
  int wins = 0;
  int losses = 0;
  int wrong = 0;  // answers that must not be
};

// Runs `work(number)` in threads and in processes, each with a store of its own, and adds up.
template <class Work>
Tally in_all(Work work) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Tally tally = work(kThreads + i);
      const bool told = ::write(pipe[1], &tally, sizeof tally) == sizeof tally;
      ::_exit(told ? 0 : 1);
    }
    children.push_back(child);
  }
  std::vector<std::future<Tally>> threads;
  for (int i = 0; i < kThreads; ++i) threads.push_back(std::async(std::launch::async, work, i));
  Tally all;
  const auto add = [&](const Tally& one) {
    all.wins += one.wins;
    all.losses += one.losses;
    all.wrong += one.wrong;
  };
  for (auto& thread : threads) add(thread.get());
  for (const pid_t child : children) {
    Tally one;
    EXPECT_EQ(::read(pipe[0], &one, sizeof one), static_cast<ssize_t>(sizeof one));
    add(one);
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
  return all;
}

using PostgresRace = OnPostgres;

// Everybody expects the tail that they were told of. A tail that was told wrong would never be
// followed by anything.
TEST_F(PostgresRace, OneFollowsEachTailAndTheOthersAreToldWhich) {
  const std::string session = new_session("raced");
  const std::string first = must(store_.sessions().session_ends(session)).tail;
  const int rounds = std::max(3, static_cast<int>(20 * test_scale()));
  const Tally tally = in_all([&](int who) {
    Store store = bare_store(url_, std::chrono::seconds(60));
    Tally mine;
    std::string tail = first;
    while (mine.wins < rounds && mine.wrong == 0) {
      const std::string id = "w" + std::to_string(who) + "-" + std::to_string(mine.wins);
      AppendOptions options;
      options.expected_tail = tail;
      const auto done = store.sessions().append_session_entries(
          session, {{message(id, "user", "after " + tail)}}, options);
      if (done.ok()) {
        tail = id;
        ++mine.wins;
      } else if (done.error().code() == Code::kTailMoved && done.error().actual() != tail) {
        tail = done.error().actual();
        ++mine.losses;
      } else {
        ++mine.wrong;
      }
    }
    return mine;
  });
  std::printf("rounds won: %d, lost: %d\n", tally.wins, tally.losses);
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_EQ(tally.wins, rounds * (kThreads + kProcesses));
  EXPECT_GT(tally.losses, 0) << "nobody met anybody";
  const auto entries = must(store_.sessions().load_session_entries(session));
  ASSERT_EQ(entries.size(), static_cast<std::size_t>(tally.wins) + 1);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    EXPECT_NE(entries[i].payload.find("after " + entries[i - 1].id + "\""), std::string::npos);
  }
}

TEST_F(PostgresRace, WithoutExpectationsAllAreStored) {
  const std::string session = new_session("shared");
  const int batches = std::max(3, static_cast<int>(20 * test_scale()));
  const Tally tally = in_all([&](int who) {
    Store store = bare_store(url_, std::chrono::seconds(60));
    Tally mine;
    for (int i = 0; i < batches; ++i) {
      const std::string prefix = "w" + std::to_string(who) + "-" + std::to_string(i);
      const auto done = store.sessions().append_session_entries(
          session, batch_of(prefix, static_cast<std::size_t>(1 + i % 3)));
      done.ok() ? ++mine.wins : ++mine.wrong;
    }
    return mine;
  });
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_EQ(tally.wins, batches * (kThreads + kProcesses));
  std::set<std::string> ids;
  const auto entries = must(store_.sessions().load_session_entries(session));
  for (const Entry& entry : entries) EXPECT_TRUE(ids.insert(entry.id).second);
  std::size_t expected = 1;
  for (int i = 0; i < batches; ++i) {
    expected += static_cast<std::size_t>((1 + i % 3) * (kThreads + kProcesses));
  }
  EXPECT_EQ(entries.size(), expected);
  EXPECT_EQ(stored_ids(direct_, session).find("differ"), std::string::npos);
  std::printf("entries of %d writers: %zu\n", kThreads + kProcesses, entries.size());
}

class PostgresFeed : public OnPostgres {
 protected:
  PostgresFeed() {
    auto open = must(sqlstore::connections(url_, false, Clock::system(), milliseconds(5000)));
    backend_ = must(sqlstore::SqlBackend::open(std::move(open), nullptr, Clock::system(),
                                               Random::system(), {}));
  }
  // What is new, and the cursor after it.
  std::vector<sqlstore::FeedEntry> poll(std::size_t limit) {
    auto entries = must(backend_->feed(cursor_, limit));
    if (!entries.empty()) cursor_ = entries.back().cursor;
    return entries;
  }
  std::string poll_ids() {
    std::string ids;
    for (const auto& entry : poll(1000)) ids += entry.id + " ";
    return ids;
  }

  std::shared_ptr<sqlstore::SqlBackend> backend_;
  std::string cursor_;
};

// A position is given out before its transaction ends: what comes after it must wait, or the
// follower would never see it.
TEST_F(PostgresFeed, WaitsForTransactionsThatAreNotOver) {
  const std::string session = new_session("s");
  must(store_.sessions().append_session_entries(session, batch_of("a", 1)));
  EXPECT_NE(poll_ids().find("a-0 "), std::string::npos);
  const PostgresConnection slow = connect(url_);
  ask(slow, "BEGIN");
  ask(slow,
      "INSERT INTO quipu.entries (session_id, ordinal, id, type, depth, orphan, created_at, crc,"
      " line) VALUES ('slow', 0, 'slow-0', 'message', 0, 0, '', 0, '{}')");
  must(store_.sessions().append_session_entries(session, batch_of("b", 2)));
  EXPECT_EQ(poll_ids(), "");
  ask(slow, "COMMIT");
  EXPECT_EQ(poll_ids(), "slow-0 b-0 b-1 ");
  ask(slow, "BEGIN");
  ask(slow,
      "INSERT INTO quipu.entries (session_id, ordinal, id, type, depth, orphan, created_at, crc,"
      " line) VALUES ('slow', 1, 'slow-1', 'message', 0, 0, '', 0, '{}')");
  must(store_.sessions().append_session_entries(session, batch_of("c", 1)));
  ask(slow, "ROLLBACK");
  EXPECT_EQ(poll_ids(), "c-0 ");
  EXPECT_EQ(code_of(backend_->feed("nonsense", 1)), Code::kInvalidArgument);
  EXPECT_EQ(code_of(backend_->feed("nonsense.1", 1)), Code::kInvalidArgument);
}

// 9 comes before 10.
TEST_F(PostgresFeed, TransactionsAreNumbersAndNoWords) {
  for (const char* transaction : {"100", "9", "99"}) {
    ask(direct_, std::string("INSERT INTO quipu.entries (tx, session_id, ordinal, id, type, depth,"
                             " orphan, created_at, crc, line) VALUES ('") +
                     transaction + "', 's', " + transaction + ", 'tx-" + transaction +
                     "', 'message', 0, 0, '', 0, '{}')");
  }
  std::string ids;
  for (auto entries = poll(1); !entries.empty(); entries = poll(1)) ids += entries[0].id + " ";
  EXPECT_EQ(ids, "tx-9 tx-99 tx-100 ");
}

TEST_F(PostgresFeed, FollowerOfManyWritersMissesNothing) {
  const auto batches = static_cast<std::size_t>(std::max(5.0, 50 * test_scale()));
  for (int i = 0; i < kThreads; ++i) new_session("s" + std::to_string(i));
  std::vector<std::future<std::size_t>> writers;
  for (int who = 0; who < kThreads; ++who) {
    writers.push_back(std::async(std::launch::async, [&, who] {
      Store store = bare_store(url_);
      std::size_t written = 0;
      for (std::size_t i = 0; i < batches; ++i) {
        written += must(store.sessions().append_session_entries("s" + std::to_string(who),
                                                                batch_of("", 1 + i % 4)))
                       .appended_count;
      }
      return written;
    }));
  }
  std::size_t expected = kThreads;  // the headers
  std::size_t polls = 0;
  std::map<std::string, std::int64_t> last;  // ordinal, by session
  std::size_t seen = 0;
  for (bool is_over = false;;) {
    const auto entries = poll(7);
    ++polls;
    for (const auto& entry : entries) {
      const auto before = last.emplace(entry.session_id, -1).first;
      EXPECT_EQ(std::int64_t{entry.ordinal}, before->second + 1) << entry.session_id;
      before->second = entry.ordinal;
    }
    seen += entries.size();
    if (entries.empty() && is_over) break;
    if (!is_over && std::all_of(writers.begin(), writers.end(), [](auto& writer) {
          return writer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        })) {
      is_over = true;
      for (auto& writer : writers) expected += writer.get();
    }
  }
  std::printf("feed: %zu entries of %d writers in %zu polls\n", seen, kThreads, polls);
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace quipu::test
