// Answers that get lost: the store did what it was asked, and the caller heard
// an error. What is repeated with the same ids must not happen twice.
#include <gmock/gmock.h>

#include "backend/memory/memory_backend.h"
#include "support/agent_store.h"

namespace quipu::test {
namespace {

// Passes everything on; the next appends are stored and then said to have
// failed.
class LosingBackend : public Backend {
 public:
  LosingBackend() : kept_(memory::make_backend(Clock::system(), Random::system())) {}

  void lose_answers(int count) { to_lose_ = count; }

  const std::string& store_id() const override { return kept_->store_id(); }
  Filler filler() override { return kept_->filler(); }
  Result<std::vector<std::string>> list() override { return kept_->list(); }
  Result<std::vector<SurveyedLog>> survey() override { return kept_->survey(); }
  Result<void> create(const std::string& id, std::span<const std::string> entries) override {
    return kept_->create(id, entries);
  }
  Result<SessionHeader> header(const std::string& id) override { return kept_->header(id); }
  Result<LogFacts> facts(const std::string& id) override { return kept_->facts(id); }
  Result<std::shared_ptr<const LogView>> view(const std::string& id,
                                              std::shared_ptr<const Ancestry> inherited) override {
    return kept_->view(id, std::move(inherited));
  }
  Result<AppendResult> append(const std::string& id, const Batch& batch,
                              const AppendOptions& options) override {
    auto stored = kept_->append(id, batch, options);
    if (to_lose_ == 0 || !stored.ok()) return stored;
    --to_lose_;
    return Error(Code::kDurabilityUnknown, "the answer was lost");
  }
  Result<void> settle(const std::string& id) override { return kept_->settle(id); }
  AttachmentStore& attachments() override { return kept_->attachments(); }
  Result<MigrationResult> migrate(const std::string& id) override { return kept_->migrate(id); }
  Result<VerifyReport> verify(const std::string& id) override { return kept_->verify(id); }
  Result<RepairReport> repair(const std::string& id) override { return kept_->repair(id); }
  Result<std::vector<DumpLine>> dump(const std::string& id) override { return kept_->dump(id); }
  Result<void> close() override { return kept_->close(); }

 private:
  std::shared_ptr<Backend> kept_;
  int to_lose_ = 0;
};

class LostAnswers : public ::testing::Test {
 protected:
  std::vector<std::string> types() {
    std::vector<std::string> types;
    for (const Entry& entry : must(store_.sessions().load_session_entries(session_))) {
      types.push_back(entry.type);
    }
    types.erase(types.begin());
    return types;
  }

  std::shared_ptr<LosingBackend> backend_ = std::make_shared<LosingBackend>();
  Store store_{backend_};
  std::string session_ = must(store_.sessions().create_session()).session_id;
};

TEST_F(LostAnswers, TheWriterStoresItsBatchOnce) {
  SessionWriter writer = must(SessionWriter::open(store_, session_, {.batch_entries = 100}));
  std::vector<std::string> ids;
  ids.push_back(must(writer.append_user("one")));
  ids.push_back(must(writer.append_user("two")));
  backend_->lose_answers(2);
  EXPECT_EQ(Code::kDurabilityUnknown, code_of(writer.flush()));
  // More is appended before the next attempt: it must not be mixed with what
  // may be stored already.
  ids.push_back(must(writer.append_user("three")));
  EXPECT_EQ(Code::kDurabilityUnknown, code_of(writer.flush()));
  must(writer.flush());
  const SessionBranch branch = must(SessionBranch::open(store_, session_));
  EXPECT_EQ(ids, must(branch.get_path(ids.back())));
  EXPECT_EQ(3u, types().size());
}

TEST_F(LostAnswers, ADequeuedMessageIsAppendedOnce) {
  Runtime runtime(store_, session_);
  must(runtime.enqueue(R"({"role":"user","content":"x"})", "q"));
  backend_->lose_answers(1);
  EXPECT_EQ(Code::kDurabilityUnknown, code_of(runtime.dequeue_into({.queue_id = "q"})));
  const auto again = must(runtime.dequeue_into({.queue_id = "q"}));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->repeated);
  EXPECT_THAT(types(), testing::ElementsAre("queue_add", "queue_remove", "message"));
}

TEST_F(LostAnswers, ARunEndsOnce) {
  Runtime runtime(store_, session_);
  const quipu::Run run = must(runtime.begin_run());
  backend_->lose_answers(1);
  EXPECT_EQ(Code::kDurabilityUnknown, code_of(runtime.end_run(run)));
  must(runtime.end_run(run));
  EXPECT_THAT(types(), testing::ElementsAre("run_start", "run_end"));
}

}  // namespace
}  // namespace quipu::test
