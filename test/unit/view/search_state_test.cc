// SearchState: what is read while others write.
#include "view/search_state.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "search/index_database.h"

namespace quipu::view {
namespace {

// An engine on which somebody else commits before the sessions are read, so many times.
class ChangingEngine : public sql::Engine {
 public:
  ChangingEngine(sql::Engine& engine, int changes) : engine_(engine), changes_(changes) {}

  Result<std::unique_ptr<sql::Rows>> ask(const sql::Text& text,
                                         std::span<const sql::Param> params) override {
    const bool is_sessions = std::string_view(text.sqlite).ends_with("FROM @search_sessions");
    if (is_sessions && changes_-- > 0) {
      SearchState before;
      before.generation = read_generation(engine_).value();
      SearchState after = before;
      ++after.generation;
      EXPECT_TRUE(engine_.commit(StateChange().finish(before, after), sql::Sync::kLater).ok());
    }
    return engine_.ask(text, params);
  }
  Result<void> commit(std::span<const sql::Command> commands, sql::Sync sync) override {
    return engine_.commit(commands, sync);
  }
  Result<std::string> back_up(std::string_view name) override { return engine_.back_up(name); }
  void cancel() override { engine_.cancel(); }
  bool is_usable() const override { return engine_.is_usable(); }
  void abandon() override { engine_.abandon(); }

 private:
  sql::Engine& engine_;
  int changes_;
};

TEST(SearchState, IsReadAgainWhenOthersChangeItAndNotForEver) {
  search::IndexDatabase database(Clock::system());
  ASSERT_TRUE(database.prepare(search_tables(), [] { return std::vector{first_state(1)}; }).ok());
  auto engine = database.lease();
  ASSERT_TRUE(engine.ok());
  const std::int64_t start = read_generation(**engine).value();
  ChangingEngine changed(**engine, 3);
  const auto read = read_state(changed);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->generation, start + 3);

  ChangingEngine changing(**engine, 1 << 20);
  const auto never = read_state(changing);
  ASSERT_FALSE(never.ok());
  EXPECT_EQ(never.error().code(), Code::kBusy);
}

}  // namespace
}  // namespace quipu::view
