// Stores behind a pooler, and for roles that may do little: the worked histories of the contract
// hold there, too.
#include <algorithm>

#include "fault/postgres_fixture.h"
#include "support/fresh_store.h"
#include "support/history.h"

namespace quipu::test {
namespace {

// Many steps, and megabytes, take their time through a proxy.
bool is_long(const History& history) {
  return history.steps.size() > 25 || history.name == "large";
}

// Every history, each on an empty store that is opened at `url`.
void run_all(const std::string& url, bool with_long) {
  std::size_t count = 0;
  for (const History& history : load_histories(QUIPU_SOURCE_DIR "/test/contract/histories")) {
    if (history.needs_foreign || (!with_long && is_long(history))) continue;
    const FreshStore fresh(Engine::kPostgres);
    StoreTarget target(url, Door::kLines);
    EXPECT_EQ(run_history(history, target, {}), "") << history.name;
    ++count;
  }
  EXPECT_GE(count, 15u);
  std::printf("histories: %zu\n", count);
}

std::string as_role(const std::string& role, const std::string& url) {
  const std::size_t at = url.find('@');
  return "postgres://" + role + url.substr(at);
}

TEST(PostgresPooler, EveryTransactionOnAnotherSession) {
  const FreshStore fresh(Engine::kPostgres);
  const CuttingProxy pooler(PostgresServer::shared().socket(), 2);
  run_all(pooler.url("fresh0"), false);
}

// Statements are prepared by name until one turns out to be gone; the call itself goes on.
TEST(PostgresPooler, AppendsAreStillOneRoundTrip) {
  const FreshStore fresh(Engine::kPostgres);
  CuttingProxy pooler(PostgresServer::shared().socket(), 2);
  Store store = bare_store(pooler.url("fresh0"));
  must(store.sessions().create_session({.id = "s"}));
  must(store.sessions().append_session_entries("s", batch_of("a", 2)));
  pooler.disarm();
  must(store.sessions().append_session_entries("s", batch_of("b", 2)));
  const std::string said = pooler.seen(Sender::kClient);
  EXPECT_EQ(std::count(said.begin(), said.end(), 'S'), 1) << said;
}

TEST(PostgresRights, AfterInitNoTableHasToBeMade) {
  const FreshStore fresh(Engine::kPostgres);
  const PostgresConnection owner = connect(fresh.url());
  ask(owner, "DROP ROLE IF EXISTS writer; CREATE ROLE writer LOGIN");
  ask(owner, "GRANT USAGE ON SCHEMA quipu TO writer");
  ask(owner, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA quipu TO writer");
  const std::string url = as_role("writer", fresh.url());
  EXPECT_THROW(ask(connect(url), "CREATE TABLE quipu.mine (n int)"), std::runtime_error);
  run_all(url, true);

  // What the histories leave out.
  Store store = must(Store::open(url));
  SessionStore& sessions = store.sessions();
  must(sessions.create_session({.id = "s"}));
  AppendOptions relaxed;
  relaxed.durability = Durability::kRelaxed;
  must(sessions.append_session_entries("s", batch_of("a", 3), relaxed));
  EXPECT_TRUE(must(sessions.append_session_entries("s", batch_of("a", 3))).durable);
  auto sink = must(store.backend()->attachments().create());
  must(sink->write("some bytes"));
  const std::string sum(64, 'a');
  must(sink->commit(sum));
  EXPECT_EQ(must(store.backend()->attachments().facts(sum)).bytes, 10u);
  must(store.backend()->attachments().set_aside(sum));
  must(sessions.repair_session("s"));
  EXPECT_TRUE(must(sessions.verify_session("s")).problems.empty());
  must(store.close());
  ask(owner, "DROP OWNED BY writer; DROP ROLE writer");
}

TEST(PostgresRights, WhoMayOnlyReadReads) {
  const FreshStore fresh(Engine::kPostgres);
  Store owner_store = bare_store(fresh.url());
  must(owner_store.sessions().create_session({.id = "s"}));
  must(owner_store.sessions().append_session_entries("s", batch_of("a", 3)));
  const PostgresConnection owner = connect(fresh.url());
  ask(owner, "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN");
  ask(owner, "GRANT USAGE ON SCHEMA quipu TO reader");
  ask(owner, "GRANT SELECT ON ALL TABLES IN SCHEMA quipu TO reader");

  Store store = must(Store::open(as_role("reader", fresh.url())));
  SessionStore& sessions = store.sessions();
  EXPECT_EQ(must(sessions.session_ids()), std::vector<std::string>{"s"});
  EXPECT_EQ(must(sessions.load_session_entries("s")).size(), 4u);
  EXPECT_EQ(must(sessions.describe_session("s")).entries, 4u);
  EXPECT_EQ(must(sessions.list_sessions({.project = ProjectScope::all()})).items.size(), 1u);
  EXPECT_TRUE(must(sessions.verify_session("s")).problems.empty());
  EXPECT_EQ(code_of(sessions.append_session_entries("s", batch_of("b", 1))), Code::kNotAllowed);
  EXPECT_EQ(code_of(sessions.create_session({.id = "t"})), Code::kNotAllowed);
  EXPECT_EQ(code_of(sessions.branch_from_entry("s", "a-1")), Code::kNotAllowed);
  EXPECT_EQ(stored_ids(owner, "s"), "a-0 a-1 a-2 ");
  must(store.close());
  ask(owner, "DROP OWNED BY reader; DROP ROLE reader");
}

}  // namespace
}  // namespace quipu::test
