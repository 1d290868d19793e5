// Answers that get lost: the store did what it was asked, and the caller heard
// an error. What is repeated with the same ids must not happen twice.
#include <gmock/gmock.h>

#include "backend/memory/memory_backend.h"
#include "support/agent_store.h"
#include "support/wrapped_backend.h"

namespace quipu::test {
namespace {

// Passes everything on; the next appends are stored and then said to have
// failed.
class LosingBackend : public WrappedBackend {
 public:
  LosingBackend() : WrappedBackend(memory::make_backend(Clock::system(), Random::system())) {}

  void lose_answers(int count) { to_lose_ = count; }
  /// From the next append on nothing can be read.
  void go_blind() { blind_after_append_ = true; }

  Result<std::shared_ptr<const LogView>> view(const std::string& id,
                                              std::shared_ptr<const Ancestry> inherited) override {
    if (blind_) return Error(Code::kIoError, "nothing can be read");
    return WrappedBackend::view(id, std::move(inherited));
  }

  Result<AppendResult> append(const std::string& id, const Batch& batch,
                              const AppendOptions& options) override {
    auto stored = WrappedBackend::append(id, batch, options);
    blind_ = blind_after_append_;
    if (to_lose_ == 0 || !stored.ok()) return stored;
    --to_lose_;
    return Error(Code::kDurabilityUnknown, "the answer was lost");
  }

 private:
  int to_lose_ = 0;
  bool blind_after_append_ = false;
  bool blind_ = false;
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

TEST_F(LostAnswers, ABranchIsMadeOnce) {
  must(store_.sessions().append_session_entries(session_, std::array{message("u", "user", "x")}));
  SessionBranch branch = must(SessionBranch::open(store_, session_));
  const std::array entries{message("b1", "user", "y"), message("b2", "user", "z")};
  const std::string line = R"({"id":"c1","type":"message","payload":{"role":"user"}})";
  backend_->lose_answers(1);
  EXPECT_EQ(Code::kDurabilityUnknown, code_of(branch.create_branch("u", entries)));
  EXPECT_EQ(2u, must(branch.create_branch("u", entries)).already_present);
  backend_->lose_answers(1);
  const std::array<std::string_view, 1> lines{line};
  EXPECT_EQ(Code::kDurabilityUnknown, code_of(branch.create_branch("u", lines)));
  EXPECT_EQ(1u, must(branch.create_branch("u", lines)).already_present);
  EXPECT_THAT(types(),
              testing::ElementsAre("message", "head", "message", "message", "head", "message"));
}

// An error would say that nothing was stored.
TEST_F(LostAnswers, WhatIsStoredIsSuccessAlsoWhenItCannotBeReadAfterwards) {
  must(store_.sessions().append_session_entries(session_, std::array{message("u", "user", "x")}));
  SessionBranch branch = must(SessionBranch::open(store_, session_));
  backend_->go_blind();
  EXPECT_EQ(1u,
            must(branch.create_branch("u", std::array{message("b", "user", "y")})).appended_count);
  EXPECT_FALSE(branch.refresh().ok());
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
