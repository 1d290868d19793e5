// Runs that fence each other, from threads and from processes: of everything
// that was acknowledged to a run, all is in the log before the next run's
// beginning; of the queue, each message is handed out once.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "quipu/quipu.hpp"
#include "support/history_store.h"

namespace quipu::test {
namespace {

constexpr const char* kSession = "s";

Store open_store(const std::string& url) {
  auto store = Store::open(url, {.create = true});
  EXPECT_TRUE(store.ok());
  return std::move(store).value();
}

struct Told {
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> entries;  // by run
};

// Takes over, writes until it is fenced off.
void work_until_fenced(Store& store, Told& told, int writes_max) {
  Runtime runtime(store, kSession);
  const auto run = runtime.begin_run({.take_over = true});
  ASSERT_TRUE(run.ok()) << run.error().message();
  auto writer = SessionWriter::open(store, kSession, {.fence = run->run_id});
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < writes_max; ++i) {
    const auto id = writer->append_user("x");
    const auto flushed = id.ok() ? writer->flush() : Result<void>(id.error());
    if (!flushed.ok()) {
      ASSERT_EQ(Code::kFenced, flushed.error().code()) << flushed.error().message();
      return;
    }
    const std::lock_guard lock(told.mutex);
    told.entries[run->run_id].push_back(*id);
  }
}

// The log is the judge: entries of a run stand between its beginning and the
// next one's, and generations count up by one.
void judge(Store& store, const std::map<std::string, std::vector<std::string>>* told) {
  const auto entries = store.sessions().load_session_entries(kSession);
  ASSERT_TRUE(entries.ok());
  std::string run;
  std::uint64_t generation = 0;
  std::set<std::string> stored;
  for (const Entry& entry : *entries) {
    if (entry.type == "run_start") {
      run = entry.id;
      ++generation;
      ASSERT_NE(std::string::npos,
                entry.payload.find("\"generation\":" + std::to_string(generation)))
          << entry.payload;
    } else if (entry.type == "message") {
      ASSERT_EQ(run, entry.run_id) << "written by a run that was taken over";
      stored.insert(entry.id);
    }
  }
  if (told == nullptr) return;
  for (const auto& [id, ids] : *told) {
    for (const std::string& entry : ids) ASSERT_TRUE(stored.contains(entry)) << "lost";
  }
}

class Fencing : public ::testing::TestWithParam<bool> {
 protected:
  std::string url() const { return GetParam() ? "file:" + scratch_.path() + "/store" : "memory:"; }
  ScratchDir scratch_;
};

TEST_P(Fencing, ThreadsTakeOverFromEachOther) {
  Store store = open_store(url());
  ASSERT_TRUE(store.sessions().create_session({.id = kSession}).ok());
  Told told;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 8; ++round) work_until_fenced(store, told, 20);
    });
  }
  for (std::thread& thread : threads) thread.join();
  judge(store, &told.entries);
}

TEST_P(Fencing, OfManyThatBeginAtOnceOneWins) {
  Store store = open_store(url());
  ASSERT_TRUE(store.sessions().create_session({.id = kSession}).ok());
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> won = 0;
    std::atomic<int> fenced = 0;
    std::mutex mutex;
    std::optional<quipu::Run> winner;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto run = Runtime(store, kSession).begin_run();
        if (run.ok()) {
          ++won;
          const std::lock_guard lock(mutex);
          winner = *run;
        } else if (run.error().code() == Code::kFenced) {
          ++fenced;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(1, won);
    ASSERT_EQ(3, fenced);
    ASSERT_TRUE(Runtime(store, kSession).end_run(*winner).ok());
  }
}

TEST_P(Fencing, EachQueuedMessageIsHandedOutOnce) {
  Store store = open_store(url());
  ASSERT_TRUE(store.sessions().create_session({.id = kSession}).ok());
  constexpr int kMessages = 40;
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(Runtime(store, kSession)
                    .enqueue(R"({"role":"user","content":"x"})", "q" + std::to_string(i))
                    .ok());
  }
  std::mutex mutex;
  std::map<std::string, int> handed_out;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Runtime runtime(store, kSession);
      for (;;) {
        const auto taken = runtime.dequeue_into();
        ASSERT_TRUE(taken.ok()) << taken.error().message();
        if (!taken->has_value()) return;
        const std::lock_guard lock(mutex);
        ++handed_out[(*taken)->queue_id];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(static_cast<std::size_t>(kMessages), handed_out.size());
  for (const auto& [id, count] : handed_out) EXPECT_EQ(1, count) << id;
}

TEST_P(Fencing, DirectoriesMoveWhileOthersWrite) {
  Store store = open_store(url());
  ASSERT_TRUE(store.sessions().create_session({.id = kSession, .cwd = "/0"}).ok());
  std::atomic<bool> first_message = false;
  std::thread writer([&] {
    auto session = SessionWriter::open(store, kSession);
    ASSERT_TRUE(session.ok());
    ASSERT_TRUE(session->append_user("hi").ok());
    ASSERT_TRUE(session->flush().ok());
    first_message = true;
  });
  for (int i = 1; i <= 20; ++i) {
    const bool after = first_message;
    const auto move = set_working_directory(store, kSession, "/" + std::to_string(i));
    ASSERT_TRUE(move.ok()) << move.error().message();
    ASSERT_FALSE(after && move->sdk_cwd_moved) << "there was a message already";
  }
  writer.join();
  // The log is the judge: no session_info after the message moves sdk_cwd.
  const auto entries = store.sessions().load_session_entries(kSession);
  ASSERT_TRUE(entries.ok());
  bool seen = false;
  for (const Entry& entry : *entries) {
    seen = seen || entry.type == "message";
    if (seen && entry.type == "session_info") {
      ASSERT_EQ(std::string::npos, entry.payload.find("sdkCwd")) << entry.payload;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Store, Fencing, testing::Bool(),
                         [](const auto& chosen) { return chosen.param ? "File" : "Memory"; });

TEST(FencingProcesses, TakeOverFromEachOther) {
  const ScratchDir scratch;
  const std::string url = "file:" + scratch.path() + "/store";
  {
    Store store = open_store(url);
    ASSERT_TRUE(store.sessions().create_session({.id = kSession}).ok());
    ASSERT_TRUE(store.close().ok());
  }
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Store store = open_store(url);
      Told told;
      for (int round = 0; round < 6; ++round) work_until_fenced(store, told, 20);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(child, ::waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  Store store = open_store(url);
  judge(store, nullptr);
}

}  // namespace
}  // namespace quipu::test
