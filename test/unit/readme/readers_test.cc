// Promise P7: readers take no lock, wait for nobody and make nobody wait. A
// writer that holds a session is played by locking every byte of store.lck.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/clock.h"
#include "quipu/quipu.hpp"

namespace quipu::test {
namespace {

using std::chrono::nanoseconds;

// Time passes only while somebody waits.
class CountingClock : public Clock {
 public:
  std::int64_t unix_ms() override { return 1'772'357'400'000; }
  nanoseconds monotonic() override { return now_; }
  void sleep(nanoseconds duration) override {
    ++sleeps_;
    now_ += duration;
  }
  int sleeps() const { return sleeps_; }

 private:
  nanoseconds now_{};
  int sleeps_ = 0;
};

class Readers : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "quipu-readers-XXXXXX").string();
    ASSERT_NE(nullptr, ::mkdtemp(pattern.data()));
    directory_ = pattern;
    StoreOptions options;
    options.create = true;
    options.clock = &clock_;
    auto opened = Store::open(directory_ + "/store", options);
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    store_.emplace(std::move(opened).value());
    NewSession session;
    session.id = "s";
    ASSERT_TRUE(store_->sessions().create_session(session).ok());
    ASSERT_TRUE(say("a").ok());
    ASSERT_TRUE(say("b").ok());
  }
  void TearDown() override {
    if (lock_ >= 0) ::close(lock_);
    store_.reset();
    std::error_code ignored;
    if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  }

  Result<AppendResult> say(const std::string& id) {
    NewEntry entry;
    entry.id = id;
    entry.type = "message";
    return store_->sessions().append_session_entries("s", {&entry, 1});
  }

  void lock_everything() {
    lock_ = ::open((directory_ + "/store/store.lck").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(lock_, 0);
    struct flock all {};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    ASSERT_EQ(0, ::fcntl(lock_, F_OFD_SETLK, &all));
  }

  CountingClock clock_;
  std::string directory_;
  std::optional<Store> store_;
  int lock_ = -1;
};

TEST_F(Readers, DoNotWaitForAWriter) {
  lock_everything();
  const auto busy = say("c");
  ASSERT_FALSE(busy.ok());
  ASSERT_EQ(Code::kBusy, busy.error().code());
  const int before = clock_.sleeps();
  ASSERT_GT(before, 0);

  StoreOptions options;
  options.clock = &clock_;
  auto another = Store::open(directory_ + "/store", options);
  ASSERT_TRUE(another.ok()) << another.error().message();
  for (Store* store : {&*store_, &*another}) {
    SessionStore& sessions = store->sessions();
    const auto entries = sessions.load_session_entries("s");
    ASSERT_TRUE(entries.ok()) << entries.error().message();
    EXPECT_EQ(3U, entries->size());
    EXPECT_TRUE(sessions.session_tree("s").ok());
    EXPECT_TRUE(sessions.describe_session("s").ok());
    EXPECT_TRUE(sessions.session_ids().ok());
    EXPECT_TRUE(sessions.verify_session("s").ok());
    EXPECT_TRUE(sessions.dump_session("s").ok());
  }
  EXPECT_EQ(before, clock_.sleeps());
}

TEST_F(Readers, DoNotMakeAWriterWait) {
  auto reader = store_->sessions().read_session("s");
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  ASSERT_TRUE(reader->next().ok());
  const auto tree = store_->sessions().session_tree("s");
  ASSERT_TRUE(tree.ok()) << tree.error().message();

  StoreOptions options;
  options.clock = &clock_;
  auto another = Store::open(directory_ + "/store", options);
  ASSERT_TRUE(another.ok()) << another.error().message();
  NewEntry entry;
  entry.type = "message";
  EXPECT_TRUE(say("c").ok());
  EXPECT_TRUE(another->sessions().append_session_entries("s", {&entry, 1}).ok());
  EXPECT_EQ(0, clock_.sleeps());

  // What was opened before goes on showing what was there then.
  std::size_t rest = 0;
  for (;; ++rest) {
    const auto next = reader->next();
    ASSERT_TRUE(next.ok()) << next.error().message();
    if (!*next) break;
  }
  EXPECT_EQ(2U, rest);
  EXPECT_EQ(3U, tree->size());
}

}  // namespace
}  // namespace quipu::test
