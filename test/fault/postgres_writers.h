// Writers that append without a pause, each with its own store, and a list of what they were told.
#pragma once

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "fault/postgres_fixture.h"

namespace quipu::test {

/// Threads. They stop at the first error, in `stop`, and in the destructor.
class PostgresWriters {
 public:
  /// Sessions `shared` and `own-0` … are to be there. `wait`: how long a store tries by itself.
  PostgresWriters(const std::string& url, std::size_t count, milliseconds wait) {
    // All of them before the first may write: the server may be gone from then on.
    for (std::size_t i = 0; i < count; ++i) stores_.push_back(bare_store(url, wait));
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] { write(stores_[i], i); });
    }
  }
  ~PostgresWriters() { stop(); }
  PostgresWriters(const PostgresWriters&) = delete;
  PostgresWriters& operator=(const PostgresWriters&) = delete;

  static void make_sessions(Store& store, std::size_t count) {
    must(store.sessions().create_session({.id = "shared"}));
    for (std::size_t i = 0; i < count; ++i) {
      must(store.sessions().create_session({.id = "own-" + std::to_string(i)}));
    }
  }

  /// Returns when so many batches more were acknowledged, or a writer gave up.
  void wait_for(std::size_t batches) {
    const std::size_t goal = acknowledged_ + batches;
    while (acknowledged_ < goal && !failed_) std::this_thread::yield();
  }
  void stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  std::size_t acknowledged() const { return acknowledged_; }

  /// After `stop`: everything that was acknowledged is stored once, and every batch is whole.
  void judge(Store& store) {
    EXPECT_EQ(complaint_, "");
    std::size_t found = 0;
    std::size_t lost = 0;
    for (std::size_t i = 0; i <= threads_.size(); ++i) {
      const std::string session = i == 0 ? "shared" : "own-" + std::to_string(i - 1);
      const auto entries = must(store.sessions().load_session_entries(session));
      std::set<std::string> seen;
      for (std::size_t at = 1; at < entries.size();) {
        // w<writer>-<batch>-<size>-<place>
        unsigned writer = 0;
        unsigned batch = 0;
        unsigned size = 0;
        ASSERT_EQ(std::sscanf(entries[at].id.c_str(), "w%u-%u-%u-", &writer, &batch, &size), 3);
        for (unsigned place = 0; place < size; ++place, ++at) {
          ASSERT_LT(at, entries.size()) << "a part of a batch";
          ASSERT_EQ(entries[at].id, key(writer, batch, size) + "-" + std::to_string(place));
        }
        EXPECT_TRUE(seen.insert(key(writer, batch, size)).second) << "twice";
      }
      for (const std::string& told : told_[session]) {
        lost += 1 - seen.count(told);
      }
      found += seen.size();
      EXPECT_TRUE(must(store.sessions().verify_session(session)).problems.empty());
    }
    std::printf("batches acknowledged: %zu, found: %zu, lost: %zu\n", acknowledged_.load(), found,
                lost);
    EXPECT_EQ(lost, 0u);
    EXPECT_GE(found, acknowledged_);
  }

 private:
  static std::string key(unsigned writer, unsigned batch, unsigned size) {
    return "w" + std::to_string(writer) + "-" + std::to_string(batch) + "-" + std::to_string(size);
  }

  void write(Store& store, std::size_t writer) {
    for (unsigned number = 0; !stopping_ && !failed_; ++number) {
      const unsigned size = 1 + number % 5;
      const std::string session = number % 2 == 0 ? "shared" : "own-" + std::to_string(writer);
      const std::string name = key(static_cast<unsigned>(writer), number, size);
      const auto done = store.sessions().append_session_entries(session, batch_of(name, size));
      const std::lock_guard lock(mutex_);
      if (!done.ok()) {
        complaint_ = std::string(quipu::name(done.error().code())) + ": " + done.error().message();
        failed_ = true;
        return;
      }
      told_[session].push_back(name);
      ++acknowledged_;
    }
  }

  std::atomic<bool> stopping_ = false;
  std::atomic<bool> failed_ = false;
  std::atomic<std::size_t> acknowledged_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> told_;
  std::string complaint_;
  std::vector<Store> stores_;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace quipu::test
