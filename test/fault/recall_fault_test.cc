// Memory and knowledge when things go wrong: processes that are killed, indexes that are
// damaged, several writers at once, logs that change behind the index.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "backend/backend.h"
#include "contract/recall_fixture.h"
#include "recall/follow.h"
#include "recall/memory_tables.h"
#include "sql/database.h"
#include "store/system_log.h"

namespace quipu::test {
namespace {

// A word that no other node has.
std::string word(int process, int number) {
  return "word" + std::to_string(process) + "x" + std::to_string(number);
}
MemoryNode numbered(int process, int number) {
  return node("n" + std::to_string(process) + "." + std::to_string(number),
              "text with " + word(process, number) + " in it");
}

Store open_at(const std::string& url) {
  StoreOptions options;
  options.create = true;
  return must(Store::open(url, options));
}

// A process that does something; its answers come through a pipe.
class Child {
 public:
  template <class Body>
  explicit Child(Body body) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) std::abort();
    id_ = ::fork();
    if (id_ == 0) {
      ::close(ends[0]);
      body(ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  ~Child() { wait(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The next number that it says; -1 when it has ended.
  int next() const {
    int number = -1;
    return ::read(from_, &number, sizeof number) == sizeof number ? number : -1;
  }
  void kill() const { ::kill(id_, SIGKILL); }
  void wait() {
    if (id_ > 0) ::waitpid(id_, nullptr, 0);
    if (from_ >= 0) ::close(from_);
    id_ = from_ = -1;
  }

 private:
  pid_t id_ = -1;
  int from_ = -1;
};

void say(int to, int number) {
  if (::write(to, &number, sizeof number) != sizeof number) ::_exit(1);
}

class RecallFault : public ::testing::TestWithParam<Engine> {
 protected:
  FreshStore place_{GetParam()};
};

TEST_P(RecallFault, WhatWasAcknowledgedIsFoundAfterAKill) {
  open_at(place_.url());  // made before there are two
  int begun = 0;
  for (int round = 0; round < 8; ++round) {
    Child child([&](int to) {
      Store store = open_at(place_.url());
      MemoryStore memory(store);
      for (int number = 0;; ++number) {
        if (!memory.upsert(std::vector{numbered(round, number)}).ok()) ::_exit(1);
        say(to, number);
      }
    });
    int last = -1;
    while (last < 3 + round) last = child.next();
    child.kill();
    for (int more = child.next(); more >= 0; more = child.next()) last = more;
    child.wait();
    begun += last + 1;

    Store store = open_at(place_.url());
    MemoryStore memory(store);
    for (int number = 0; number <= last; ++number) {
      EXPECT_EQ(1u, must(memory.search(word(round, number), 5)).items.size()) << round << number;
    }
    EXPECT_GE(must(memory.list()).total, static_cast<std::size_t>(begun));
  }
}

TEST_P(RecallFault, WhatIsInTheLogAndNotInTheIndexIsFound) {
  Store store = open_at(place_.url());
  MemoryStore memory(store);
  must(memory.upsert(std::vector{numbered(0, 0)}));
  // As a process does that is killed between the two.
  const SystemLog log(store.backend(), "memory");
  NewEntry entry;
  entry.type = "fact.quipu.memory";
  entry.payload = memory_node_json(numbered(0, 1));
  must(log.append(std::array{entry}));
  EXPECT_EQ(1u, must(memory.search(word(0, 1), 5)).items.size());
}

TEST_P(RecallFault, EntriesThatAreNoNodesArePassedOver) {
  Store store = open_at(place_.url());
  MemoryStore memory(store);
  const SystemLog log(store.backend(), "memory");
  for (const char* payload : {"{}", R"({"id":7,"text":"x"})", R"({"id":"a","text":["x"]})",
                              R"({"id":"b","text":"x","kind":"huge"})", R"({"ids":"x"})"}) {
    for (const char* type : {"fact.quipu.memory", "fact.quipu.forget", "fact.somebody.else"}) {
      NewEntry entry;
      entry.type = type;
      entry.payload = payload;
      must(log.append(std::array{entry}));
    }
  }
  must(memory.upsert(std::vector{numbered(0, 0)}));
  EXPECT_EQ(1u, must(memory.list()).total);
  EXPECT_EQ(1u, must(memory.search(word(0, 0), 5)).items.size());
}

TEST_P(RecallFault, WhatIsRedactedIsNotFound) {
  Store store = open_at(place_.url());
  MemoryStore memory(store);
  const SystemLog log(store.backend(), "memory");
  NewEntry entry;
  entry.id = "secret";
  entry.type = "fact.quipu.memory";
  entry.payload = memory_node_json(node("m", "the password is swordfish"));
  must(log.append(std::array{entry}));
  EXPECT_EQ(1u, must(memory.search("swordfish", 5)).items.size());
  NewEntry redaction;
  redaction.type = "redaction";
  redaction.payload = R"({"targetEntryId":"secret","reason":"leaked"})";
  must(log.append(std::array{redaction}));
  EXPECT_EQ(0u, must(memory.search("swordfish", 5)).items.size());
  EXPECT_EQ(0u, must(memory.list()).total);
}

TEST_P(RecallFault, ProcessesWriteAndSearchAtOnce) {
  open_at(place_.url());
  constexpr int kProcesses = 3;
  constexpr int kNodes = 25;
  std::vector<std::unique_ptr<Child>> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(std::make_unique<Child>([&, process](int to) {
      Store store = open_at(place_.url());
      MemoryStore memory(store);
      KnowledgeIndex knowledge(store);
      for (int number = 0; number < kNodes; ++number) {
        const auto stored = memory.upsert(std::vector{numbered(process, number)});
        const auto found = memory.search(word(process, number), 5);
        const auto added = knowledge.add(std::vector{document(
            "d" + std::to_string(process) + "." + std::to_string(number), word(process, number))});
        if (!stored.ok() || !found.ok() || found->items.size() != 1 || !added.ok()) return;
      }
      say(to, 1);
    }));
  }
  for (const auto& child : children) EXPECT_EQ(1, child->next());
  children.clear();
  Store store = open_at(place_.url());
  MemoryStore memory(store);
  KnowledgeIndex knowledge(store);
  EXPECT_EQ(std::size_t{kProcesses * kNodes}, must(memory.list()).total);
  EXPECT_EQ(std::size_t{kProcesses * kNodes}, must(knowledge.list()).total);
  for (int number = 0; number < kNodes; ++number) {
    EXPECT_EQ(1u, must(knowledge.query(word(1, number), 5)).items.size());
  }
}

TEST_P(RecallFault, ThreadsShareOneStore) {
  Store store = open_at(place_.url());
  MemoryStore memory(store);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int number = 0; number < 10; ++number) {
        if (!memory.upsert(std::vector{numbered(thread, number)}).ok()) ++wrong;
        const auto found = memory.search(word(thread, number), 5);
        if (!found.ok() || found->items.size() != 1) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, wrong);
  EXPECT_EQ(40u, must(memory.list()).total);
}

TEST_P(RecallFault, OthersGoOnWhileTheIndexIsMadeAnew) {
  Store ours = open_at(place_.url());
  MemoryStore memory(ours);
  KnowledgeIndex knowledge(ours);
  std::vector<MemoryNode> nodes;
  for (int number = 0; number < 50; ++number) nodes.push_back(numbered(0, number));
  must(memory.upsert(nodes));
  must(knowledge.add(std::vector{document("d", word(0, 0))}));
  std::atomic<bool> is_done = false;
  std::vector<std::string> wrong;
  std::thread others([&] {
    Store theirs = open_at(place_.url());
    MemoryStore remembered(theirs);
    KnowledgeIndex known(theirs);
    const auto check = [&](const char* what, const auto& answer, std::size_t want, auto count) {
      if (!answer.ok()) {
        wrong.push_back(what + (": " + answer.error().message()));
      } else if (count(*answer) != want) {
        wrong.push_back(what + (": " + std::to_string(count(*answer))));
      }
    };
    const auto items = [](const auto& hits) { return hits.items.size(); };
    for (int number = 0; !is_done; ++number) {
      check("search", remembered.search(word(0, number % 50), 5), 1, items);
      check("query", known.query(word(0, 0), 5), 1, items);
      check("add", remembered.upsert(std::vector{numbered(1, number)}), 1,
            [](const UpsertReport& report) { return report.added; });
      check("forget", remembered.forget(Ids{numbered(1, number).id}), 1,
            [](std::size_t forgotten) { return forgotten; });
    }
  });
  for (int round = 0; round < 20; ++round) {
    must(memory.reindex());
    must(knowledge.reindex());
  }
  is_done = true;
  others.join();
  EXPECT_EQ(Ids{}, wrong);
  EXPECT_EQ(50u, must(memory.list()).total);
}

INSTANTIATE_TEST_SUITE_P(Engines, RecallFault,
                         ::testing::Values(Engine::kFile, Engine::kSqlite, Engine::kPostgres),
                         engine_name);

// Tables that take in one entry of the log, and find after each commit that it was in vain.
class SlowFollower : public recall::Follower {
 public:
  const search::IndexTables& tables() const override { return tables_; }
  sql::Text read_cursor() const override {
    return "SELECT entries, head_crc, tail_crc, emptied FROM @slow_cursor";
  }
  sql::Text move_cursor() const override {
    return "UPDATE @slow_cursor SET head_crc = $1, tail_crc = $2, commits = commits + 1,"
           " entries = CASE WHEN entries = $3 AND emptied = $4 AND commits >= 1500 THEN $5 ELSE 0 "
           "END";
  }
  void clear(search::Writes&) const override {}
  Result<void> take(sql::Engine&, std::span<const recall::FollowedEntry>,
                    search::Writes&) const override {
    return {};
  }
  Result<void> finish(sql::Engine&, search::Writes&) const override { return {}; }

 private:
  const search::IndexTables tables_{
      .name = "slow",
      .version = "1",
      .create = {"CREATE TABLE @slow_cursor (emptied BIGINT NOT NULL, entries BIGINT NOT NULL,"
                 " head_crc BIGINT NOT NULL, tail_crc BIGINT NOT NULL, commits BIGINT NOT NULL)",
                 "INSERT INTO @slow_cursor VALUES (0, 0, 0, 0, 0)"},
      .drop = {"DROP TABLE IF EXISTS @slow_cursor"},
      .text_indexes = {}};
};

TEST(Follow, ALogOfAnyLengthIsTakenInAtOnce) {
  Store store = open_at("memory:");
  MemoryStore memory(store);
  must(memory.upsert(std::vector{numbered(0, 0)}));
  const SystemLog log(store.backend(), "memory");
  const SlowFollower follower;
  recall::FollowedTables tables(
      store.indexes(), [&] { return log.read(); }, follower);
  must(tables.refresh());
}

// A store that remembers one node, and those who use the tables of its memory beside it.
struct OneNode {
  const FreshStore place{Engine::kFile};
  Store store = open_at(place.url());
  MemoryStore memory{store};
  const SystemLog log{store.backend(), "memory"};
  const recall::MemoryTables nodes{store.indexes()->text_index(recall::kMemoryText)};
  recall::FollowedTables tables{store.indexes(), [this] { return log.read(); }, nodes};

  OneNode() { must(memory.upsert(std::vector{numbered(0, 0)})); }
};

TEST(Follow, WhatIsEmptiedMeanwhileIsAskedAgain) {
  OneNode one;
  int asked = 0;
  const auto count = [&](sql::Engine& engine, const recall::Followed&) {
    if (++asked == 1) must(one.memory.reindex());
    return one.nodes.count(engine, {});
  };
  EXPECT_EQ(1u, must(one.tables.use(count)));
  EXPECT_EQ(2, asked);
}

// Tables of memory that others change while entries are taken into them for the first time.
class DisturbedFollower : public recall::Follower {
 public:
  DisturbedFollower(const recall::Follower& nodes, std::function<void()> before,
                    std::function<void()> after)
      : nodes_(nodes), before_(std::move(before)), after_(std::move(after)) {}

  const search::IndexTables& tables() const override { return nodes_.tables(); }
  sql::Text read_cursor() const override { return nodes_.read_cursor(); }
  sql::Text move_cursor() const override { return nodes_.move_cursor(); }
  void clear(search::Writes& writes) const override { nodes_.clear(writes); }
  Result<void> finish(sql::Engine& engine, search::Writes& writes) const override {
    return nodes_.finish(engine, writes);
  }
  Result<void> take(sql::Engine& engine, std::span<const recall::FollowedEntry> entries,
                    search::Writes& writes) const override {
    const bool is_first = taken_++ == 0;
    if (is_first) before_();
    auto done = nodes_.take(engine, entries, writes);
    if (is_first) after_();
    return done;
  }

  int taken() const { return taken_; }

 private:
  const recall::Follower& nodes_;
  const std::function<void()> before_;
  const std::function<void()> after_;
  mutable int taken_ = 0;
};

// The cursor stands where it stood, and what was read of the tables in between holds no more: text
// indexes were damaged by it.
TEST(Follow, TablesThatWereEmptiedMeanwhileAreNotTheSame) {
  OneNode one;
  recall::FollowedTables empty(
      one.store.indexes(), [] { return std::shared_ptr<const Lineage>(); }, one.nodes);
  must(empty.refresh());
  const DisturbedFollower disturbed(
      one.nodes, [&] { must(one.tables.refresh()); }, [&] { must(empty.refresh()); });
  const auto engine = must(one.store.indexes()->lease());
  must(recall::follow(
      *engine, [&] { return one.log.read(); }, disturbed));
  EXPECT_EQ(2, disturbed.taken());
  EXPECT_EQ(1u, must(one.memory.search(word(0, 0), 5)).items.size());
}

// The index of a store in files lies beside it.
class IndexDamage : public ::testing::Test {
 protected:
  std::string index() const { return scratch_.path() + "/store/index.db"; }
  Store open() { return open_at(scratch_.path() + "/store"); }
  void expect_whole() {
    Store store = open();
    MemoryStore memory(store);
    EXPECT_EQ(1u, must(memory.search(word(0, 77), 5)).items.size());
    EXPECT_EQ(100u, must(memory.list()).total);
    must(memory.upsert(std::vector{numbered(1, 0)}));
    must(memory.forget(Ids{"n1.0"}));
  }

  void SetUp() override {
    Store store = open();
    MemoryStore memory(store);
    std::vector<MemoryNode> nodes;
    for (int number = 0; number < 100; ++number) nodes.push_back(numbered(0, number));
    must(memory.upsert(nodes));
    must(store.close());
  }

  ScratchDir scratch_;
};

TEST_F(IndexDamage, AnIndexThatIsGoneIsMadeAnew) {
  for (const auto& file : std::filesystem::directory_iterator(scratch_.path() + "/store")) {
    if (file.path().filename().string().starts_with("index.db")) {
      std::filesystem::remove(file.path());
    }
  }
  expect_whole();
}

TEST_F(IndexDamage, AnIndexThatIsGarbageIsMadeAnew) {
  for (const char* suffix : {"", "-wal"}) {
    if (!std::filesystem::exists(index() + suffix)) continue;
    std::ofstream(index() + suffix, std::ios::trunc) << std::string(20000, 'x');
  }
  expect_whole();
}

TEST_F(IndexDamage, DamagedPagesAreNoticedOrMadeAnew) {
  {
    auto connection = must(sql::Connection::open(index()));
    must(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  const auto size = std::filesystem::file_size(index());
  ASSERT_GT(size, 8u * 4096);
  for (std::uintmax_t page = 1; page < size / 4096; page += 3) {
    std::fstream file(index(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(page * 4096));
    file << std::string(4096, '\x5a');
  }
  expect_whole();
}

}  // namespace
}  // namespace quipu::test
