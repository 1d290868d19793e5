// Processes that are killed between an append and its index, and while they index: nothing is
// lost, nothing is there twice.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "quipu/search.h"
#include "support/fresh_store.h"
#include "support/history_store.h"

namespace quipu::test {
namespace {

const SearchOptions kEverywhere{.sessions = {.project = ProjectScope::all()}};

NewEntry message(const std::string& id, const std::string& text) {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = R"({"role":"user","content":")" + text + "\"}";
  return entry;
}

/// True when it was killed.
bool in_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void must(bool holds) {
  if (!holds) ::_exit(9);
}

std::size_t count_in(Store store, const std::string& query) {
  SessionSearch search(store);
  const auto found = search.search(query, kEverywhere, {.after = {}, .limit = 1000});
  EXPECT_TRUE(found.ok()) << found.error().message();
  return found.ok() ? found->items.size() : 0;
}

class SearchKill : public testing::Test {
 protected:
  Store open() const { return Store::open(directory_.path() + "/store", {.create = true}).value(); }
  std::size_t count(const std::string& query) const { return count_in(open(), query); }

  ScratchDir directory_;
};

class SearchKillOnEngine : public testing::TestWithParam<Engine> {
 protected:
  Store open() const { return Store::open(place_.url(), {.create = true}).value(); }
  std::size_t count(const std::string& query) const { return count_in(open(), query); }

  FreshStore place_{GetParam()};
};

TEST_P(SearchKillOnEngine, BetweenAppendAndIndexNothingIsLost) {
  {
    Store store = open();
    NewSession session;
    session.id = "s";
    ASSERT_TRUE(store.sessions().create_session(session).ok());
  }
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(in_child([&] {
      Store store = open();
      const NewEntry entry = message("e" + std::to_string(i), "tinkuy " + std::to_string(i));
      must(store.sessions().append_session_entries("s", {&entry, 1}).ok());
      ::raise(SIGKILL);
    }));
    EXPECT_EQ(i + 1, count("tinkuy"));
  }
}

std::string engine_name(const testing::TestParamInfo<Engine>& one) {
  constexpr const char* kNames[] = {"memory", "file", "sqlite", "postgres"};
  return kNames[static_cast<int>(one.param)];
}

INSTANTIATE_TEST_SUITE_P(Engines, SearchKillOnEngine,
                         testing::Values(Engine::kFile, Engine::kSqlite, Engine::kPostgres),
                         engine_name);

TEST_F(SearchKill, WhileIndexingItGoesOnWhereItStopped) {
  constexpr std::size_t kSessions = 6;
  constexpr std::size_t kEntries = 40;
  {
    Store store = open();
    std::string filler;
    while (filler.size() < 100'000) filler += "word" + std::to_string(filler.size() % 997) + " ";
    for (std::size_t s = 0; s < kSessions; ++s) {
      NewSession session;
      session.id = "s" + std::to_string(s);
      ASSERT_TRUE(store.sessions().create_session(session).ok());
      std::vector<NewEntry> entries;
      for (std::size_t i = 0; i < kEntries; ++i) {
        entries.push_back(message("e" + std::to_string(i), "ayllu " + filler));
      }
      ASSERT_TRUE(store.sessions().append_session_entries(session.id, entries).ok());
    }
  }
  // After every commit but the last, each process going on from the one before.
  std::uint64_t entries = 0;
  int killed = 0;
  while (in_child([&] {
    Store store = open();
    SessionSearch search(store);
    must(search
             .refresh([](std::uint64_t done, std::uint64_t total) {
               if (done < total) ::raise(SIGKILL);
               return true;
             })
             .ok());
  })) {
    ++killed;
    ASSERT_LT(killed, 100);
  }
  EXPECT_GE(killed, 2);
  Store store = open();
  SessionSearch search(store);
  const auto left = search.refresh();
  ASSERT_TRUE(left.ok()) << left.error().message();
  entries = left->entries;
  EXPECT_EQ(0u, entries);
  EXPECT_EQ(kSessions * kEntries, count("ayllu"));
}

// Inside of a commit, at whatever moment: the parent watches the database's log grow.
TEST_F(SearchKill, InsideOfACommitEitherAllOrNothing) {
  {
    Store store = open();
    std::string filler;
    while (filler.size() < 20'000) filler += "word" + std::to_string(filler.size() % 997) + " ";
    for (const char* id : {"a", "b", "c", "d"}) {
      NewSession session;
      session.id = id;
      ASSERT_TRUE(store.sessions().create_session(session).ok());
      std::vector<NewEntry> entries;
      for (int i = 0; i < 50; ++i)
        entries.push_back(message("e" + std::to_string(i), "minka " + filler));
      ASSERT_TRUE(store.sessions().append_session_entries(id, entries).ok());
    }
  }
  const auto bytes_written = [&] {
    std::uintmax_t bytes = 0;
    for (const char* name : {"index.db", "index.db-wal"}) {
      std::error_code missing;
      const auto size = std::filesystem::file_size(directory_.path() + "/store/" + name, missing);
      if (!missing) bytes += size;
    }
    return bytes;
  };
  for (std::uintmax_t step = 1; step <= 8; ++step) {
    const std::uintmax_t before = bytes_written();
    const pid_t child = ::fork();
    if (child == 0) {
      Store store = open();
      SessionSearch search(store);
      must(search.rebuild().ok());
      ::_exit(0);
    }
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      if (bytes_written() > before + step * 200'000) ::kill(child, SIGKILL);
    }
    EXPECT_EQ(200u, count("minka")) << step;
  }
}

}  // namespace
}  // namespace quipu::test
