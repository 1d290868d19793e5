// Several processes on one store: appends with `expected_tail` are linearizable.
//
// Every process looks at the tail, appends with that expectation, and records
// what it was told and when. Afterwards the log is the judge: it must hold
// exactly the winners, each right behind the tail it expected, and no answer
// may contradict the order of time. In a log that only grows this is the whole
// of linearizability: every answer names a position, and an operation that
// ended before another began may not name a later one.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "support/history_store.h"

namespace quipu::test {
namespace {

constexpr std::size_t kIdBytes = 48;
constexpr std::size_t kRecordsMax = 200'000;

enum class Kind : int { kWin, kMoved, kLook };

// What one process was told; in memory that all of them share.
struct Record {
  Kind kind;
  char expected[kIdBytes];  // kWin: the tail it stands behind
  char told[kIdBytes];      // kWin: the entry; otherwise the tail it was shown
  std::int64_t begin_ns;
  std::int64_t end_ns;
};

struct Shared {
  std::atomic<std::size_t> count;
  std::atomic<int> ready;
  Record records[kRecordsMax];
};

class SharedMemory {
 public:
  SharedMemory()
      : shared_(static_cast<Shared*>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedMemory() { ::munmap(shared_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared* operator->() { return shared_; }

 private:
  Shared* shared_;
};

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

bool note(SharedMemory& shared, Kind kind, const std::string& expected, const std::string& told,
          std::int64_t begin_ns) {
  const std::int64_t end_ns = now_ns();
  const std::size_t at = shared->count.fetch_add(1);
  if (at >= kRecordsMax || expected.size() >= kIdBytes || told.size() >= kIdBytes) return false;
  Record& record = shared->records[at];
  record.kind = kind;
  std::strncpy(record.expected, expected.c_str(), kIdBytes - 1);
  std::strncpy(record.told, told.c_str(), kIdBytes - 1);
  record.begin_ns = begin_ns;
  record.end_ns = end_ns;
  return true;
}

NewEntry entry_of(const std::string& id) {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = "{\"text\":\"" + std::string(id.size() * 7 % 900, 'x') + "\"}";
  return entry;
}

// Nobody starts before all are there, unless one of them never comes.
void wait_for_all(SharedMemory& shared, int processes) {
  shared->ready.fetch_add(1);
  const std::int64_t latest = now_ns() + 30'000'000'000;
  while (shared->ready.load() < processes && now_ns() < latest) ::sched_yield();
}

// For a process that ends badly: the reason on stderr, the place as exit code.
int failed(int place, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", std::string(name(error.code())).c_str(),
               error.message().c_str());
  return place;
}

int compete(SharedMemory& shared, const std::string& path, int me, int processes, int wins) {
  StoreTarget target(path, Door::kEntries);
  wait_for_all(shared, processes);
  for (int won = 0; won < wins;) {
    std::int64_t begin = now_ns();
    const auto summary = target.api().describe_session("s1");
    if (!summary.ok()) return failed(2, summary.error());
    if (!note(shared, Kind::kLook, "", summary->tail, begin)) return 3;
    const std::vector<NewEntry> batch = {
        entry_of("p" + std::to_string(me) + "-" + std::to_string(won))};
    AppendOptions options;
    options.expected_tail = summary->tail;
    begin = now_ns();
    const auto result = target.api().append_session_entries("s1", batch, options);
    if (result.ok()) {
      if (result->appended_count != 1 || !result->durable) return 4;
      if (!note(shared, Kind::kWin, summary->tail, batch[0].id, begin)) return 3;
      ++won;
    } else {
      if (result.error().code() != Code::kTailMoved) return failed(5, result.error());
      if (result.error().actual() == summary->tail) return 6;
      if (!note(shared, Kind::kMoved, summary->tail, result.error().actual(), begin)) return 3;
    }
  }
  return 0;
}

template <class Body>
void in_processes(int count, Body body) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(body(i));
    children.push_back(child);
  }
  std::vector<int> statuses;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(child, ::waitpid(child, &status, 0));
    statuses.push_back(status);
  }
  for (const int status : statuses) {
    ASSERT_TRUE(WIFEXITED(status)) << "killed by " << WTERMSIG(status);
    ASSERT_EQ(0, WEXITSTATUS(status));
  }
}

// The answers in the order of time: what had ended may not be behind what
// began later, and nobody is told of an entry whose append has not begun.
void expect_in_time(const std::vector<Record>& records, const std::vector<std::string>& log) {
  std::map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < log.size(); ++i) position[log[i]] = i;
  std::map<std::string, std::int64_t> began;
  std::vector<const Record*> by_begin;
  std::vector<const Record*> by_end;
  for (const auto& record : records) {
    ASSERT_TRUE(position.contains(record.told)) << record.told << " is not in the log";
    if (record.kind == Kind::kWin) began[record.told] = record.begin_ns;
    by_begin.push_back(&record);
    by_end.push_back(&record);
  }
  for (const auto& record : records) {
    ASSERT_TRUE(!began.contains(record.told) || began[record.told] < record.end_ns);
  }
  const auto begin_of = [](const Record* a, const Record* b) { return a->begin_ns < b->begin_ns; };
  const auto end_of = [](const Record* a, const Record* b) { return a->end_ns < b->end_ns; };
  std::sort(by_begin.begin(), by_begin.end(), begin_of);
  std::sort(by_end.begin(), by_end.end(), end_of);
  std::size_t done = 0;
  std::size_t furthest = 0;
  for (const Record* record : by_begin) {
    for (; done < by_end.size() && by_end[done]->end_ns < record->begin_ns; ++done) {
      furthest = std::max(furthest, position[by_end[done]->told]);
    }
    const std::size_t least = record->kind == Kind::kWin ? furthest + 1 : furthest;
    ASSERT_GE(position[record->told], least) << "an answer from the past: " << record->told;
  }
}

int scaled(double count) {
  const char* text = std::getenv("QUIPU_TEST_SCALE");
  const double scale = text == nullptr ? 1 : std::atof(text);
  return std::max(5, static_cast<int>(std::lround(count * (scale > 0 ? scale : 1))));
}

// The scheme of the store's URL, and how many compete.
class Processes : public ::testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(Processes, ExpectedTailIsLinearizable) {
  const auto [engine, processes] = GetParam();
  const int wins = scaled(1600.0 / processes);
  const ScratchDir scratch;
  const std::string path = engine + scratch.path() + "/store";
  SharedMemory shared;
  {
    StoreTarget target(path, Door::kEntries);
    ASSERT_TRUE(target.create("s1").ok());
  }
  in_processes(processes,
               [&, count = processes](int me) { return compete(shared, path, me, count, wins); });
  if (HasFatalFailure()) return;

  StoreTarget target(path, Door::kEntries);
  const auto view = target.view("s1");
  ASSERT_TRUE(view.ok()) << view.error().message();
  std::vector<std::string> log;
  for (const auto& row : view->rows) log.push_back(row.id);
  const std::vector<Record> records(shared->records, shared->records + shared->count.load());

  std::map<std::string, std::string> winners;
  std::size_t moved = 0;
  for (const auto& record : records) {
    moved += record.kind == Kind::kMoved ? 1 : 0;
    if (record.kind != Kind::kWin) continue;
    ASSERT_TRUE(winners.emplace(record.expected, record.told).second)
        << "two winners on " << record.expected;
  }
  ASSERT_EQ(static_cast<std::size_t>(processes * wins), winners.size());
  ASSERT_EQ(winners.size() + 1, log.size());
  for (std::size_t i = 1; i < log.size(); ++i) ASSERT_EQ(winners[log[i - 1]], log[i]);
  expect_in_time(records, log);
  std::cout << processes << " processes, " << winners.size() << " appends, " << moved
            << " times too late\n";
}

// Without expectations everybody wins; batches stay in one piece, and what a
// process appended stays in its order.
TEST_P(Processes, BatchesAreNotMixed) {
  const auto [engine, processes] = GetParam();
  const int batches = scaled(800.0 / processes);
  const ScratchDir scratch;
  const std::string path = engine + scratch.path() + "/store";
  SharedMemory shared;
  {
    StoreTarget target(path, Door::kEntries);
    ASSERT_TRUE(target.create("s1").ok());
  }
  in_processes(processes, [&, count = processes](int me) {
    StoreTarget target(path, Door::kEntries);
    wait_for_all(shared, count);
    for (int i = 0; i < batches; ++i) {
      const std::string name = "p" + std::to_string(me) + "-" + std::to_string(i) + ".";
      const std::vector<NewEntry> batch = {entry_of(name + "0"), entry_of(name + "1"),
                                           entry_of(name + "2")};
      AppendOptions options;
      if (i % 4 == 1) options.durability = Durability::kRelaxed;
      const auto result = target.api().append_session_entries("s1", batch, options);
      if (!result.ok()) return failed(2, result.error());
      // What was acknowledged is seen at once, also by its own process.
      const auto tree = target.api().session_tree("s1");
      if (!tree.ok() || !tree->find(name + "2").ok()) return 3;
    }
    return 0;
  });
  if (HasFatalFailure()) return;

  StoreTarget target(path, Door::kEntries);
  const auto view = target.view("s1");
  ASSERT_TRUE(view.ok()) << view.error().message();
  ASSERT_EQ(static_cast<std::size_t>(processes * batches * 3 + 1), view->rows.size());
  EXPECT_EQ(1u, view->leaves.size());
  std::map<std::string, int> next;
  for (std::size_t i = 1; i < view->rows.size(); i += 3) {
    const std::string id = view->rows[i].id;
    const std::string name = id.substr(0, id.size() - 1);
    ASSERT_EQ(name + "0", id);
    ASSERT_EQ(name + "1", view->rows[i + 1].id);
    ASSERT_EQ(name + "2", view->rows[i + 2].id);
    const std::string process = name.substr(0, name.find('-'));
    ASSERT_EQ(process + "-" + std::to_string(next[process]++) + ".", name);
  }
}

INSTANTIATE_TEST_SUITE_P(Store, Processes,
                         ::testing::Combine(::testing::Values("file:"), ::testing::Range(2, 9)));
INSTANTIATE_TEST_SUITE_P(Sqlite, Processes,
                         ::testing::Combine(::testing::Values("sqlite:"), ::testing::Values(2, 5)));

// A session is made once, whoever asks.
TEST(ProcessesOnce, OneSessionIsMadeOnce) {
  constexpr int kProcesses = 4;
  constexpr int kSessions = 30;
  const ScratchDir scratch;
  const std::string path = scratch.path() + "/store";
  { const StoreTarget target(path, Door::kEntries); }
  SharedMemory shared;
  in_processes(kProcesses, [&](int) {
    StoreTarget target(path, Door::kEntries);
    wait_for_all(shared, kProcesses);
    for (int i = 0; i < kSessions; ++i) {
      const auto made = target.create("s" + std::to_string(i));
      if (made.ok()) shared->count.fetch_add(1);
      if (!made.ok() && made.error().code() != Code::kIdConflict) return failed(2, made.error());
      // Whoever lost finds a whole session.
      const auto view = target.view("s" + std::to_string(i));
      if (!view.ok()) return failed(3, view.error());
      if (view->rows.size() != 1) return 4;
    }
    return 0;
  });
  EXPECT_EQ(static_cast<std::size_t>(kSessions), shared->count.load());
}

// Parent and child share every lock of a store that was open at the fork.
TEST(ProcessesOnce, AStoreOpenedBeforeForkIsNotWrittenToByTheChild) {
  const ScratchDir scratch;
  StoreOptions options;
  options.create = true;
  auto store = Store::open("file:" + scratch.path() + "/store", options);
  ASSERT_TRUE(store.ok()) << store.error().message();
  const auto session = store->sessions().create_session();
  ASSERT_TRUE(session.ok());
  NewEntry entry;
  entry.type = "message";
  const auto append = [&] {
    return store->sessions().append_session_entries(session->session_id, {&entry, 1});
  };
  in_processes(1, [&](int) {
    const auto refused = append();
    if (refused.ok()) return 2;
    return refused.error().code() == Code::kUnsupported ? 0 : failed(3, refused.error());
  });
  EXPECT_TRUE(append().ok()) << "the parent goes on";
}

// A store may be made by several at once: it is one store.
TEST(ProcessesOnce, OneStoreIsMadeOnce) {
  constexpr int kProcesses = 6;
  for (int round = 0; round < 10; ++round) {
    const ScratchDir scratch;
    const std::string path = scratch.path() + "/store";
    SharedMemory shared;
    in_processes(kProcesses, [&](int me) {
      wait_for_all(shared, kProcesses);
      StoreOptions options;
      options.create = true;
      auto store = Store::open("file:" + path, options);
      if (!store.ok()) return failed(2, store.error());
      const auto session = store->sessions().create_session();
      if (!session.ok()) return failed(3, session.error());
      if (store->id().size() >= kIdBytes) return 4;
      std::strncpy(shared->records[me].told, store->id().c_str(), kIdBytes - 1);
      return 0;
    });
    if (HasFatalFailure()) return;
    for (int i = 1; i < kProcesses; ++i) {
      EXPECT_STREQ(shared->records[0].told, shared->records[i].told);
    }
    StoreTarget target(path, Door::kEntries);
    EXPECT_EQ(static_cast<std::size_t>(kProcesses), target.sessions()->size());
  }
}

}  // namespace
}  // namespace quipu::test
