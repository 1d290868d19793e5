// What reading runtime state costs: entries looked at, counted.
#include <gtest/gtest.h>

#include "store/runtime_read.h"
#include "support/agent_store.h"
#include "support/wrapped_backend.h"

namespace quipu::test {
namespace {

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

  CountingBackend counting(store.backend());
  const auto lineage = must(counting.lineage(session));
  counting.looked = 0;
  const RuntimeState state = must(read_runtime_state(*lineage));
  EXPECT_TRUE(state.processing);
  EXPECT_EQ(1u, state.queued.size());
  EXPECT_EQ(1u, state.pending.size());
  ASSERT_EQ(1u, state.open_tool_calls.size());
  EXPECT_EQ("call-1999", state.open_tool_calls[0].tool_use_id);
  EXPECT_LT(counting.looked, 20u) << "of " << lineage->size();
}

}  // namespace
}  // namespace quipu::test
