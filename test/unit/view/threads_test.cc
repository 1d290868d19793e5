// Lists while others write, and while views.db is taken away.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "backend/backend.h"
#include "view_world.h"

namespace quipu::test {
namespace {

// So many that they are looked at from several threads.
TEST(CatalogueThreads, ManyLogsAreSurveyedInOrderAndNoneTwice) {
  const ScratchDir directory;
  Store store = open_store("file:" + directory.path());
  constexpr int kLogs = 2100;
  for (int i = 0; i < kLogs; ++i) {
    const std::string log = "session-" + std::to_string(10'000 + i) + ".jsonl";
    std::ofstream(directory.path() + "/sessions/" + log) << std::string(i % 7, ' ');
  }
  const auto logs = store.backend()->survey();
  ASSERT_TRUE(logs.ok());
  ASSERT_EQ(kLogs, static_cast<int>(logs->size()));
  for (int i = 0; i < kLogs; ++i) {
    const SurveyedLog& log = (*logs)[static_cast<std::size_t>(i)];
    EXPECT_EQ("session-" + std::to_string(10'000 + i), log.session_id);
    EXPECT_EQ(static_cast<std::uint64_t>(i % 7), log.bytes);
  }
}

TEST(CatalogueThreads, DeletedWhileWritersRun) {
  const ScratchDir directory;
  const std::string url = "file:" + directory.path();
  Store store = open_store(url);
  for (const char* id : {"a", "b", "c"}) make_session(store, id);
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (const char* id : {"a", "b", "c"}) {
    threads.emplace_back([&, id] {
      AppendOptions relaxed;
      relaxed.durability = Durability::kRelaxed;
      for (int i = 0; i < 150; ++i) {
        const NewEntry entry = user("text " + std::to_string(i));
        EXPECT_TRUE(store.sessions().append_session_entries(id, {&entry, 1}, relaxed).ok());
      }
    });
  }
  for (int reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&] {
      Store own = open_store(url);
      std::map<std::string, std::uint32_t> entries;
      while (!done) {
        const auto page = own.sessions().list_sessions(kAllProjects, kEverything);
        ASSERT_TRUE(page.ok());
        EXPECT_EQ(3u, page->items.size());
        for (const auto& session : page->items) {
          EXPECT_GE(session.entries, entries[session.session_id]) << "nothing goes backwards";
          EXPECT_EQ(session.entries, session.counts.messages + 1);
          entries[session.session_id] = session.entries;
        }
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    std::error_code ignored;
    std::filesystem::remove(directory.path() + "/views.db", ignored);
    ASSERT_TRUE(store.sessions().list_sessions(kAllProjects).ok());
  }
  for (std::size_t i = 0; i < 3; ++i) threads[i].join();
  done = true;
  for (std::size_t i = 3; i < threads.size(); ++i) threads[i].join();
  EXPECT_TRUE(list_is_right(store, 3));
  Store fresh = open_store(url);
  EXPECT_TRUE(list_is_right(fresh, 3));
}

}  // namespace
}  // namespace quipu::test
