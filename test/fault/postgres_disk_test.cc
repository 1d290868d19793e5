// A server whose disk is full: appends fail and say so, nothing that was acknowledged is lost, and
// the same store goes on when there is room.
#include <cstdio>
#include <map>
#include <random>

#include "fault/postgres_fixture.h"

namespace quipu::test {
namespace {

using std::chrono::seconds;

// A batch of about a megabyte that does not become smaller by compression.
std::vector<NewEntry> large_batch(const std::string& prefix, std::mt19937& random) {
  std::vector<NewEntry> batch;
  for (int i = 0; i < 4; ++i) {
    std::string text(250'000, ' ');
    for (char& c : text) c = static_cast<char>('#' + random() % 57);
    batch.push_back(message(prefix + "-" + std::to_string(i), "user", text));
  }
  return batch;
}

class PostgresDisk : public ::testing::Test {
 protected:
  // Appends until it fails, and says how.
  Code fill(Store& store, std::vector<NewEntry>& refused) {
    for (int i = 0;; ++i) {
      auto batch = large_batch("b" + std::to_string(i), random_);
      const auto done = store.sessions().append_session_entries("s", batch);
      if (done.ok()) {
        acknowledged_ += joined(done->entry_ids);
        continue;
      }
      std::printf("full after %d batches: %s: %s\n", i, name(done.error().code()).data(),
                  done.error().message().c_str());
      refused = std::move(batch);
      return done.error().code();
    }
  }

  // There is room again: the batch that was refused is stored, once, and more.
  void go_on(Store& store, const std::vector<NewEntry>& refused, const std::string& url) {
    const auto again = must(store.sessions().append_session_entries("s", refused));
    acknowledged_ += joined(again.entry_ids);
    acknowledged_ +=
        joined(must(store.sessions().append_session_entries("s", batch_of("more", 2))).entry_ids);
    EXPECT_EQ(stored_ids(connect(url), "s"), acknowledged_);
    EXPECT_TRUE(must(store.sessions().verify_session("s")).problems.empty());
  }

  std::mt19937 random_{1};
  std::string acknowledged_;
  const ScratchCache cache_;
};

TEST_F(PostgresDisk, FullTablesAreNoSpace) {
  PostgresServer server(PostgresOptions{.data_bytes_max = 48 << 20});
  Store store = must(Store::open(server.url(), {.create = true}));
  must(store.sessions().create_session({.id = "s"}));
  std::vector<NewEntry> refused;
  EXPECT_EQ(fill(store, refused), Code::kNoSpace);
  EXPECT_EQ(code_of(store.sessions().append_session_entries("s", refused)), Code::kNoSpace);
  EXPECT_EQ(stored_ids(connect(server.url()), "s"), acknowledged_);
  server.resize_disks(128 << 20);
  go_on(store, refused, server.url());
}

// The server goes down with what it was doing.
TEST_F(PostgresDisk, FullLogIsUnknown) {
  PostgresServer server(PostgresOptions{.wal_bytes_max = 48 << 20});
  Store store = must(Store::open(server.url(), {.create = true, .lock_wait = milliseconds(200)}));
  must(store.sessions().create_session({.id = "s"}));
  std::vector<NewEntry> refused;
  EXPECT_EQ(fill(store, refused), Code::kDurabilityUnknown);
  EXPECT_EQ(code_of(store.sessions().append_session_entries("s", refused)), Code::kStorageGone);
  server.resize_disks(256 << 20);
  server.start_again();
  go_on(store, refused, server.url());
}

}  // namespace
}  // namespace quipu::test
