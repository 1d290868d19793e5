// What reading runtime state costs: entries looked at, counted.
#include <gtest/gtest.h>

#include "backend/backend.h"
#include "store/runtime_read.h"
#include "support/agent_store.h"

namespace quipu::test {
namespace {

class CountingView : public LogView {
 public:
  explicit CountingView(std::shared_ptr<const LogView> view) : view_(std::move(view)) {}
  const FoldState& fold() const override { return view_->fold(); }
  std::uint64_t settled_bytes() const override { return view_->settled_bytes(); }
  std::uint32_t damaged() const override { return view_->damaged(); }
  Result<StoredEntry> entry(Ordinal own) const override {
    ++looked;
    return view_->entry(own);
  }
  Result<std::vector<Placement>> places() const override {
    looked += fold().count;
    return view_->places();
  }
  Result<std::string> id(Ordinal own) const override { return view_->id(own); }
  Result<std::optional<Ordinal>> find(std::string_view id) const override {
    return view_->find(id);
  }

  mutable std::uint64_t looked = 0;

 private:
  std::shared_ptr<const LogView> view_;
};

TEST(RuntimeCost, StateDoesNotReadTheLog) {
  Store store = must(Store::open("memory:"));
  const std::string session = must(store.sessions().create_session()).session_id;
  Runtime runtime(store, session);
  must(runtime.begin_run());
  must(runtime.enqueue(R"({"role":"user"})"));
  SessionWriter writer = must(SessionWriter::open(store, session));
  for (int turn = 0; turn < 2000; ++turn) {
    must(writer.append_user("question"));
    must(writer.append_tool("ls", "{}", "call-" + std::to_string(turn)));
  }
  must(writer.flush());
  must(runtime.request_permission({.tool = "ls"}));

  auto view = std::make_shared<CountingView>(must(store.backend()->view(session, nullptr)));
  const auto lineage = must(Lineage::make(view, nullptr));
  view->looked = 0;
  const RuntimeState state = must(read_runtime_state(*lineage));
  EXPECT_TRUE(state.processing);
  EXPECT_EQ(1u, state.queued.size());
  EXPECT_EQ(1u, state.pending.size());
  ASSERT_EQ(1u, state.open_tool_calls.size());
  EXPECT_EQ("call-1999", state.open_tool_calls[0].tool_use_id);
  EXPECT_LT(view->looked, 20u) << "of " << lineage->size();
}

}  // namespace
}  // namespace quipu::test
