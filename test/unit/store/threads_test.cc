// Several threads on one store: every acknowledged batch is there, whole, once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/history_store.h"

namespace quipu::test {
namespace {

constexpr int kThreads = 6;
constexpr int kBatches = 40;

std::vector<NewEntry> batch_of(const std::string& name, int size) {
  std::vector<NewEntry> entries(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    entries[static_cast<std::size_t>(i)].id = name + "." + std::to_string(i);
    entries[static_cast<std::size_t>(i)].type = "message";
  }
  return entries;
}

template <class Body>
void on_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (auto& thread : threads) thread.join();
}

// A batch `name` of `n` entries stands as name.0 … name.(n-1) in one piece.
void expect_whole_batches(const std::vector<std::string>& ids, int size) {
  ASSERT_EQ(0u, ids.size() % static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto place = i % static_cast<std::size_t>(size);
    const std::string name = ids[i].substr(0, ids[i].rfind('.'));
    ASSERT_EQ(name + "." + std::to_string(place), ids[i]);
    if (place == 0) continue;
    ASSERT_EQ(name, ids[i - 1].substr(0, ids[i - 1].rfind('.')));
  }
}

std::vector<std::string> own_ids(SessionStore& api, const std::string& session) {
  std::vector<std::string> ids;
  const auto entries = api.load_session_entries(session);
  EXPECT_TRUE(entries.ok());
  for (const auto& entry : *entries) {
    if (!entry.is_fact) ids.push_back(entry.id);
  }
  return ids;
}

class Threads : public ::testing::TestWithParam<bool> {
 protected:
  Threads() : target_(GetParam() ? scratch_.path() + "/store" : "memory:", Door::kEntries) {}

  ScratchDir scratch_;
  StoreTarget target_;
};

TEST_P(Threads, AppendToOneSession) {
  ASSERT_TRUE(target_.create("s1").ok());
  on_threads(kThreads, [&](int thread) {
    for (int i = 0; i < kBatches; ++i) {
      const auto name = "t" + std::to_string(thread) + "-" + std::to_string(i);
      AppendOptions options;
      if (i % 3 == 0) options.durability = Durability::kRelaxed;
      const auto result = target_.api().append_session_entries("s1", batch_of(name, 3), options);
      ASSERT_TRUE(result.ok()) << result.error().message();
      ASSERT_EQ(3u, result->appended_count);
    }
  });
  const auto ids = own_ids(target_.api(), "s1");
  EXPECT_EQ(static_cast<std::size_t>(kThreads * kBatches * 3), ids.size());
  expect_whole_batches(ids, 3);
  EXPECT_EQ(ids.size(), std::set<std::string>(ids.begin(), ids.end()).size());
  // Nobody named a parent: one chain.
  const auto tree = target_.api().session_tree("s1");
  EXPECT_EQ(1u, tree->leaves().size());
  EXPECT_EQ(ids.size(), tree->path(*tree->head()).size());

  // Of one thread the order is kept.
  std::map<std::string, int> last;
  for (const auto& id : ids) {
    const auto dash = id.find('-');
    const int number = std::stoi(id.substr(dash + 1));
    EXPECT_LE(last[id.substr(0, dash)], number);
    last[id.substr(0, dash)] = number;
  }
}

TEST_P(Threads, AppendToSeveralSessionsWhileOthersAreMade) {
  on_threads(kThreads, [&](int thread) {
    const std::string mine = "s" + std::to_string(thread);
    ASSERT_TRUE(target_.create(mine).ok());
    ASSERT_FALSE(target_.create(mine).ok());
    for (int i = 0; i < kBatches; ++i) {
      const auto name = mine + "-" + std::to_string(i);
      ASSERT_TRUE(target_.api().append_session_entries(mine, batch_of(name, 2)).ok());
      if (i % 10 != 5) continue;
      ForkOptions fork;
      fork.new_id = mine + "-f" + std::to_string(i);
      ASSERT_TRUE(target_.fork(mine, name + ".1", fork).ok());
      ASSERT_TRUE(target_.api().append_session_entries(fork.new_id, batch_of("x", 1)).ok());
    }
  });
  EXPECT_EQ(static_cast<std::size_t>(kThreads * 5), target_.sessions()->size());
  for (int thread = 0; thread < kThreads; ++thread) {
    const auto ids = own_ids(target_.api(), "s" + std::to_string(thread));
    EXPECT_EQ(static_cast<std::size_t>(kBatches * 2), ids.size());
    expect_whole_batches(ids, 2);
  }
}

TEST_P(Threads, OneSessionIsMadeOnce) {
  std::atomic<int> made = 0;
  std::atomic<int> refused = 0;
  on_threads(kThreads, [&](int) {
    for (int i = 0; i < 20; ++i) {
      const auto result = target_.create("s" + std::to_string(i));
      if (result.ok()) {
        ++made;
      } else {
        ASSERT_EQ(Code::kIdConflict, result.error().code());
        ++refused;
      }
    }
  });
  EXPECT_EQ(20, made.load());
  EXPECT_EQ(20 * (kThreads - 1), refused.load());
}

// The same batch from everybody at once is stored by one of them.
TEST_P(Threads, ARepeatIsStoredOnce) {
  ASSERT_TRUE(target_.create("s1").ok());
  std::atomic<std::size_t> appended = 0;
  std::atomic<std::size_t> present = 0;
  on_threads(kThreads, [&](int) {
    for (int i = 0; i < kBatches; ++i) {
      const auto result =
          target_.api().append_session_entries("s1", batch_of("b" + std::to_string(i), 2));
      ASSERT_TRUE(result.ok()) << result.error().message();
      appended += result->appended_count;
      present += result->already_present;
    }
  });
  EXPECT_EQ(static_cast<std::size_t>(kBatches * 2), appended.load());
  EXPECT_EQ(static_cast<std::size_t>(kBatches * 2 * (kThreads - 1)), present.load());
  expect_whole_batches(own_ids(target_.api(), "s1"), 2);
}

TEST_P(Threads, ReadersSeeWholeBatchesOfAGrowingPrefix) {
  ASSERT_TRUE(target_.create("s1").ok());
  std::atomic<int> writers = 2;
  std::atomic<std::size_t> reads = 0;
  on_threads(4, [&](int thread) {
    if (thread < 2) {
      for (int i = 0; i < kBatches; ++i) {
        const auto name = "t" + std::to_string(thread) + "-" + std::to_string(i);
        ASSERT_TRUE(target_.api().append_session_entries("s1", batch_of(name, 3)).ok());
      }
      --writers;
      return;
    }
    std::vector<std::string> before;
    for (bool done = false; !done;) {
      done = writers.load() == 0;
      const auto ids = own_ids(target_.api(), "s1");
      expect_whole_batches(ids, 3);
      ASSERT_LE(before.size(), ids.size());
      ASSERT_TRUE(std::equal(before.begin(), before.end(), ids.begin()));
      before = ids;
      const auto tree = target_.api().session_tree("s1");
      ASSERT_TRUE(tree.ok());
      ASSERT_LE(ids.size(), tree->size() - 1);
      const auto head = tree->head();
      ASSERT_EQ(tree->size(), head ? tree->depth(*head) + 2 : 1);
      ++reads;
    }
    ASSERT_EQ(static_cast<std::size_t>(2 * kBatches * 3), before.size());
  });
  EXPECT_GE(reads.load(), 2u);
}

// Compare and append: of all that expect the same tail one wins.
TEST_P(Threads, ExpectedTailLetsOneThrough) {
  ASSERT_TRUE(target_.create("s1").ok());
  std::map<std::string, std::string> winners;  // expected tail to entry
  std::mutex mutex;
  on_threads(kThreads, [&](int thread) {
    for (int wins = 0; wins < 15;) {
      const auto tail = target_.api().session_ends("s1")->tail;
      AppendOptions options;
      options.expected_tail = tail;
      const auto name = "t" + std::to_string(thread) + "-" + std::to_string(wins);
      const auto result = target_.api().append_session_entries("s1", batch_of(name, 1), options);
      if (!result.ok()) {
        ASSERT_EQ(Code::kTailMoved, result.error().code());
        ASSERT_NE(tail, result.error().actual());
        continue;
      }
      const std::lock_guard<std::mutex> lock(mutex);
      ASSERT_TRUE(winners.emplace(tail, name + ".0").second) << "two winners on " << tail;
      ++wins;
    }
  });
  const auto entries = target_.api().load_session_entries("s1");
  ASSERT_EQ(winners.size() + 1, entries->size());
  for (std::size_t i = 1; i < entries->size(); ++i) {
    EXPECT_EQ(winners[(*entries)[i - 1].id], (*entries)[i].id);
  }
}

INSTANTIATE_TEST_SUITE_P(Store, Threads, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& one) {
                           return std::string(one.param ? "Files" : "Memory");
                         });

}  // namespace
}  // namespace quipu::test
