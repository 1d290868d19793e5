// Backend::survey, the same on every backend.
#include <gtest/gtest.h>

#include <cerrno>

#include "backend/backend.h"
#include "backend/file/file_backend.h"
#include "fs/sim_fs.h"
#include "support/wrapped_backend.h"
#include "view_world.h"

namespace quipu::test {
namespace {

class Survey : public testing::TestWithParam<bool> {
 protected:
  Survey() : store_(open_store(GetParam() ? "memory:" : "file:" + directory_.path())) {}

  std::vector<SurveyedLog> survey() {
    auto logs = store_.backend()->survey();
    EXPECT_TRUE(logs.ok());
    return logs.ok() ? *logs : std::vector<SurveyedLog>();
  }

  ScratchDir directory_;
  Store store_;
};

TEST_P(Survey, ShowsAllSessionsInOrder) {
  EXPECT_TRUE(survey().empty());
  for (const char* id : {"b", "a", "c"}) make_session(store_, id);
  const auto logs = survey();
  ASSERT_EQ(3u, logs.size());
  EXPECT_EQ("a", logs[0].session_id);
  EXPECT_EQ("b", logs[1].session_id);
  EXPECT_EQ("c", logs[2].session_id);
  EXPECT_NE(logs[0].inode, logs[1].inode);
}

TEST_P(Survey, StaysTheSameUntilSomethingIsAppended) {
  make_session(store_, "a");
  make_session(store_, "b");
  const auto before = survey();
  const auto again = survey();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(before[i].bytes, again[i].bytes);
    EXPECT_EQ(before[i].modified_ms, again[i].modified_ms);
    EXPECT_EQ(before[i].inode, again[i].inode);
  }
  append(store_, "b", {user("hi")});
  const auto after = survey();
  EXPECT_EQ(before[0].bytes, after[0].bytes);
  EXPECT_LT(before[1].bytes, after[1].bytes);
  EXPECT_EQ(before[1].inode, after[1].inode);
}

TEST_P(Survey, MeasuresWhatIsSettled) {
  make_session(store_, "a");
  append(store_, "a", {user("hi"), user("there")});
  const auto lineage = store_.backend()->lineage("a");
  ASSERT_TRUE(lineage.ok());
  EXPECT_EQ(survey()[0].bytes, (*lineage)->own().settled_bytes());
}

TEST_P(Survey, LeavesTheStoresOwnLogsOut) {
  const std::string header =
      R"({"id":"h","type":"session_header","timestamp":"2026-03-01T09:30:00.000Z",)"
      R"("payload":{"version":1,"sessionId":"system/x"}})";
  ASSERT_TRUE(store_.backend()->create("system/x", {&header, 1}).ok());
  EXPECT_TRUE(survey().empty());
  EXPECT_TRUE(store_.sessions().session_ids()->empty());
  EXPECT_TRUE(list_is_right(store_, 0));
  EXPECT_EQ(Code::kInvalidArgument, store_.sessions().describe_session("system/x").error().code());
  const auto lineage = store_.backend()->lineage("system/x");
  ASSERT_TRUE(lineage.ok());
  EXPECT_EQ(1u, (*lineage)->size());
}

TEST(SurveyOfFiles, ATornTailIsNotSettled) {
  const ScratchDir directory;
  Store store = open_store("file:" + directory.path());
  make_session(store, "a");
  std::ofstream(directory.path() + "/sessions/a.jsonl", std::ios::app) << R"({"id":"x","ty)";
  const auto logs = store.backend()->survey();
  const auto lineage = store.backend()->lineage("a");
  ASSERT_TRUE(logs.ok() && lineage.ok());
  EXPECT_GT((*logs)[0].bytes, (*lineage)->own().settled_bytes());
}

// Every call in turn fails: either the directory could not be read, or every
// session is there.
TEST(SurveyOfFiles, ALogThatCannotBeLookedAtHidesNoOther) {
  fs::SimDisk disk;
  auto process = disk.process();
  fs::SimFs& raw = *process;
  auto backend =
      file::FileBackend::open(std::move(process), Clock::system(), Random::system(),
                              {.create = true, .lock_wait = std::chrono::milliseconds(50)});
  ASSERT_TRUE(backend.ok());
  Store store(*backend);
  for (const char* id : {"a", "b", "c"}) make_session(store, id);
  raw.set_faults({});
  ASSERT_TRUE(store.backend()->survey().ok());
  const std::uint64_t calls = raw.calls();
  int whole = 0;
  for (std::uint64_t call = 1; call <= calls; ++call) {
    fs::FaultPlan plan;
    plan.fail_at = call;
    plan.error = EIO;
    raw.set_faults(plan);
    const auto logs = store.backend()->survey();
    if (!logs.ok()) continue;
    ++whole;
    EXPECT_EQ(3u, logs->size()) << "call " << call;
  }
  EXPECT_EQ(3, whole) << "one look at each session";
}

class UnreadableBackend : public WrappedBackend {
 public:
  using WrappedBackend::WrappedBackend;
  Result<std::vector<SurveyedLog>> survey() override {
    auto logs = WrappedBackend::survey();
    for (SurveyedLog& log : *logs) {
      if (log.session_id == "b") log = {.session_id = "b"};
    }
    return logs;
  }
  Result<SurveyedLog> survey(const std::string& id) override {
    if (id == "b") return Error(Code::kIoError, "stat: input/output error");
    return WrappedBackend::survey(id);
  }
};

TEST(SurveyOfFiles, ItIsListedWithWhatIsWrong) {
  Store inner = open_store("memory:");
  for (const char* id : {"a", "b", "c"}) make_session(inner, id);
  Store store(std::make_shared<UnreadableBackend>(inner.backend()));
  const auto page = store.sessions().list_sessions(kAllProjects, kEverything);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(3u, page->items.size());
  for (const SessionSummary& session : page->items) {
    EXPECT_EQ(session.session_id == "b", !session.problem.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Survey, testing::Bool());

}  // namespace
}  // namespace quipu::test
