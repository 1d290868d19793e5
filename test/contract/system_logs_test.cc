// Logs of the store's own, on every engine: they are listed apart from sessions, and one that
// was dropped is gone for everybody.
#include <gtest/gtest.h>

#include "backend/backend.h"
#include "store/header_entry.h"
#include "support/fresh_store.h"

namespace quipu::test {
namespace {

class SystemLogs : public ::testing::TestWithParam<Engine> {
 protected:
  static std::string header(Backend& backend, const std::string& log) {
    SessionHeader header;
    header.version = kSchemaVersion;
    header.session_id = log;
    return header_entry(header, backend.filler());
  }
  static void make(Backend& backend, const std::string& log) {
    const std::string first = header(backend, log);
    const auto made = backend.create(log, {&first, 1});
    ASSERT_TRUE(made.ok()) << made.error().message();
  }
  static Result<AppendResult> append(Backend& backend, const std::string& log,
                                     const std::string& type = "fact.note") {
    NewEntry entry;
    entry.type = type;
    const auto batch = admit_entries({&entry, 1}, backend.filler());
    AppendOptions options;
    options.fence = "";
    return backend.append(log, *batch, options);
  }
  // What another process would have; where there are no others, the same.
  std::shared_ptr<Backend> another() {
    if (GetParam() == Engine::kMemory) return store_->backend();
    others_.push_back(Store::open(place_.url()).value());
    return others_.back().backend();
  }

  FreshStore place_{GetParam()};
  Result<Store> store_ = Store::open(place_.url(), {.create = true});
  std::vector<Store> others_;
};

TEST_P(SystemLogs, AreListedApartFromSessions) {
  ASSERT_TRUE(store_.ok()) << store_.error().message();
  Backend& backend = *store_->backend();
  EXPECT_TRUE(backend.list_system()->empty());
  ASSERT_TRUE(store_->sessions().create_session({.id = "system"}).ok());
  ASSERT_TRUE(store_->sessions().create_session({.id = "system0"}).ok());
  make(backend, "system/b");
  make(backend, "system/a.00000002");
  EXPECT_EQ((std::vector<std::string>{"system/a.00000002", "system/b"}),
            backend.list_system().value());
  EXPECT_EQ((std::vector<std::string>{"system", "system0"}), backend.list().value());
}

TEST_P(SystemLogs, ThatWereDroppedAreGone) {
  ASSERT_TRUE(store_.ok()) << store_.error().message();
  Backend& backend = *store_->backend();
  make(backend, "system/a");
  make(backend, "system/b");
  ASSERT_TRUE(append(backend, "system/a").ok());
  ASSERT_TRUE(backend.drop_system("system/a").ok());
  EXPECT_EQ(std::vector<std::string>{"system/b"}, backend.list_system().value());
  EXPECT_EQ(Code::kNotFound, backend.survey("system/a").error().code());
  EXPECT_EQ(Code::kNotFound, backend.lineage("system/a").error().code());
  EXPECT_EQ(Code::kNotFound, append(backend, "system/a").error().code());
  EXPECT_EQ(Code::kNotFound, backend.drop_system("system/a").error().code());
  ASSERT_TRUE(append(backend, "system/b").ok());
  EXPECT_TRUE(store_->close().ok());
}

// Whoever appended to it before believes to know where it ends.
TEST_P(SystemLogs, ThatAnotherDroppedTakeNothingMore) {
  ASSERT_TRUE(store_.ok()) << store_.error().message();
  Backend& backend = *store_->backend();
  make(backend, "system/a");
  ASSERT_TRUE(append(backend, "system/a").ok());
  const auto other = another();
  ASSERT_TRUE(append(*other, "system/a").ok());
  ASSERT_TRUE(append(*other, "system/a", "run_start").ok());
  ASSERT_TRUE(other->drop_system("system/a").ok());
  const auto late = append(backend, "system/a");
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(Code::kNotFound, late.error().code());
  EXPECT_TRUE(backend.list_system()->empty());
  EXPECT_TRUE(store_->close().ok());
}

INSTANTIATE_TEST_SUITE_P(Engines, SystemLogs,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres));

}  // namespace
}  // namespace quipu::test
