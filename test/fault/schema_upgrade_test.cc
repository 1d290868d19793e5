// Upgrades of a schema on both engines, with versions made up for the purpose: stopped anywhere
// they are gone on with, and no statement is taken twice.
#include <functional>
#include <future>

#include "backend/sql/schema.h"
#include "fault/postgres_fixture.h"
#include "quipu/upgrade.h"
#include "sql/sqlite_engine.h"
#include "sql/upgrade.h"

namespace quipu::test {
namespace {

using sql::SchemaState;
using sql::Text;
using sql::Version;

// A row is a statement that was taken; the table has no key, so that one taken twice is seen.
constexpr Text kFirst[] = {"CREATE TABLE @taken (statement BIGINT NOT NULL)"};
constexpr Text kSecond[] = {"INSERT INTO @taken VALUES (1)", "CREATE TABLE @more (n BIGINT)",
                            "INSERT INTO @taken VALUES (2)", "INSERT INTO @more VALUES (7)"};
constexpr Text kThird[] = {"INSERT INTO @taken VALUES (3)", "INSERT INTO @taken VALUES (4)"};
constexpr Version kVersions[] = {{.what = "first", .statements = kFirst},
                                 {.what = "second", .statements = kSecond},
                                 {.what = "third", .statements = kThird}};
constexpr std::size_t kStatements = std::size(kSecond) + std::size(kThird);
constexpr Text kBroken = "INSERT INTO @nowhere VALUES (1)";

std::string state_of(sql::Engine& engine) {
  const auto state = must(sql::schema_state(engine));
  return state ? std::to_string(state->version) + "+" + std::to_string(state->taken) : "none";
}

// "1 2 3 4 | 7": the statements that were taken, in some order, and what stands in the second
// table.
std::string effects(sql::Engine& engine) {
  const auto all = [&](const Text& text) {
    std::string values;
    const auto rows = must(engine.ask(text));
    while (must(rows->next())) values += std::to_string(rows->integer(0)) + " ";
    return values;
  };
  const std::string taken = all("SELECT statement FROM @taken ORDER BY statement");
  return taken + "| " + all("SELECT n FROM @more ORDER BY n");
}
constexpr const char* kWhole = "1 2 3 4 | 7 ";

// GetParam(): on PostgreSQL, else on SQLite.
class SchemaUpgrade : public ::testing::TestWithParam<bool> {
 protected:
  // An empty place. What was opened before stays where it is.
  void move_on() {
    ++places_;
    if (GetParam() && database_.empty()) {
      database_ = "upgrade_" + std::to_string(++databases_);
      url_ = PostgresServer::shared().make_database(database_);
    }
  }
  std::unique_ptr<sql::Engine> open() { return open(url_); }
  std::unique_ptr<sql::Engine> open(const std::string& url) {
    if (!GetParam()) {
      return must(sql::open_sqlite(scratch_.path() + "/" + std::to_string(places_) + ".db",
                                   {.create = true}));
    }
    sql::PostgresOptions options;
    options.schema = "place_" + std::to_string(places_);
    return must(sql::open_postgres(url, options));
  }
  // A place with the first version.
  std::unique_ptr<sql::Engine> open_first() {
    move_on();
    auto engine = open();
    must(sql::make_schema(*engine, std::span(kVersions).first(1), {}));
    EXPECT_EQ(state_of(*engine), "1+0");
    return engine;
  }

  const ScratchDir scratch_;
  int places_ = 0;
  static inline int databases_ = 0;
  std::string database_;
  std::string url_;
};

INSTANTIATE_TEST_SUITE_P(Engines, SchemaUpgrade, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Postgres" : "Sqlite"; });

TEST_P(SchemaUpgrade, StoppedAfterAnyStatementItIsGoneOnWith) {
  for (std::size_t stop = 0; stop < kStatements; ++stop) {
    SCOPED_TRACE("stopped after " + std::to_string(stop) + " statements");
    const auto engine = open_first();
    // The same versions, but that the statement after the last one taken cannot be carried out.
    std::vector<Text> second(std::begin(kSecond), std::end(kSecond));
    std::vector<Text> third(std::begin(kThird), std::end(kThird));
    (stop < second.size() ? second[stop] : third[stop - second.size()]) = kBroken;
    const Version broken[] = {kVersions[0],
                              {.what = "second", .statements = second},
                              {.what = "third", .statements = third}};
    std::string begun;
    const auto note = [&](std::int64_t version) -> Result<void> {
      begun += std::to_string(version) + " ";
      return {};
    };
    EXPECT_FALSE(sql::upgrade(*engine, broken, note).ok());
    const std::size_t taken = stop < second.size() ? stop : stop - second.size();
    const int version = stop < second.size() ? 1 : 2;
    EXPECT_EQ(state_of(*engine), std::to_string(version) + "+" + std::to_string(taken));
    EXPECT_EQ(begun, version == 1 ? "2 " : "2 3 ");
    const SchemaState state = *must(sql::schema_state(*engine));
    EXPECT_TRUE(sql::not_writable(state, kVersions));
    // Whatever was taken of it makes it unfit for older programs, too.
    EXPECT_EQ(sql::not_writable(state, std::span(kVersions).first(1)).has_value(), stop > 0);

    begun.clear();
    must(sql::upgrade(*open(), kVersions, note));
    EXPECT_EQ(state_of(*engine), "3+0");
    EXPECT_EQ(effects(*engine), kWhole);
    // What is gone on with has its backup already.
    EXPECT_EQ(begun, stop == 0 ? "2 3 " : version == 2 && taken > 0 ? "" : "3 ");
    EXPECT_FALSE(sql::not_writable(*must(sql::schema_state(*engine)), kVersions));
    must(sql::upgrade(*engine, kVersions, nullptr));
    EXPECT_EQ(effects(*engine), kWhole);
  }
}

TEST_P(SchemaUpgrade, WithoutABackupNothingIsBegun) {
  const auto engine = open_first();
  const auto refuse = [](std::int64_t) { return Result<void>(Error(Code::kUnsupported, "no")); };
  EXPECT_EQ(code_of(sql::upgrade(*engine, kVersions, refuse)), Code::kUnsupported);
  EXPECT_EQ(state_of(*engine), "1+0");
}

TEST_P(SchemaUpgrade, TwoAtOnceTakeEachStatementOnce) {
  const int rounds = std::max(3, static_cast<int>(10 * test_scale()));
  for (int i = 0; i < rounds; ++i) {
    const auto engine = open_first();
    std::vector<std::future<Result<void>>> upgrades;
    for (int who = 0; who < 2; ++who) {
      upgrades.push_back(std::async(
          std::launch::async, [own = open()] { return sql::upgrade(*own, kVersions, nullptr); }));
    }
    for (auto& upgrade : upgrades) must(upgrade.get());
    EXPECT_EQ(state_of(*engine), "3+0");
    EXPECT_EQ(effects(*engine), kWhole);
  }
}

TEST_P(SchemaUpgrade, NewerOrNonsenseIsLeftAlone) {
  const auto engine = open_first();
  const auto set = [&](const Text& text) {
    const sql::Command command{.text = text};
    must(engine->commit({&command, 1}));
  };
  set("UPDATE @quipu_schema SET version = 4");
  EXPECT_EQ(code_of(sql::upgrade(*engine, kVersions, nullptr)), Code::kUnsupported);
  EXPECT_EQ(state_of(*engine), "4+0");
  for (const Text& nonsense : {Text("UPDATE @quipu_schema SET version = 1, taken = 4"),
                               Text("UPDATE @quipu_schema SET version = 1, taken = -1"),
                               Text("UPDATE @quipu_schema SET version = -1, taken = 0")}) {
    set(nonsense);
    EXPECT_EQ(code_of(sql::upgrade(*engine, kVersions, nullptr)), Code::kCorrupt);
  }
  set("DELETE FROM @quipu_schema");
  EXPECT_EQ(code_of(sql::schema_state(*engine)), Code::kCorrupt);
}

// --- stores ------------------------------------------------------------------------------

// What a store does whose schema is not this program's: it is read, and nothing else.
TEST_P(SchemaUpgrade, StoreIsOnlyReadUnlessItsSchemaIsOurs) {
  const ScratchCache cache;
  move_on();
  const std::string url = GetParam() ? url_ : "sqlite:" + scratch_.path() + "/store.db";
  const auto current = static_cast<std::int64_t>(sqlstore::versions().size());
  {
    Store store = must(Store::open(url, {.create = true}));
    must(store.sessions().create_session({.id = "s"}));
    must(store.sessions().append_session_entries("s", batch_of("a", 2)));
    must(store.close());
  }
  const auto engine =
      must(must(sqlstore::connections(url, false, Clock::system(), milliseconds(5000)))());
  const auto set = [&](std::int64_t version, std::int64_t taken) {
    const sql::Command command{.text = "UPDATE @quipu_schema SET version = $1, taken = $2",
                               .params = {version, taken}};
    must(engine->commit({&command, 1}));
  };
  struct Case {
    const char* what;
    std::int64_t version;
    std::int64_t taken;
  };
  for (const Case& one :
       {Case{"newer", current + 1, 0}, Case{"older", current - 1, 0},
        Case{"half upgraded", current - 1, 1}, Case{"half upgraded to a newer one", current, 1}}) {
    SCOPED_TRACE(one.what);
    set(one.version, one.taken);
    Store store = must(Store::open(url, {.create = true}));
    EXPECT_EQ(must(store.sessions().load_session_entries("s")).size(), 3u);
    EXPECT_EQ(must(store.sessions().session_ids()).size(), 1u);
    EXPECT_EQ(code_of(store.sessions().append_session_entries("s", batch_of("b", 1))),
              Code::kUnsupported);
    EXPECT_EQ(code_of(store.sessions().create_session({.id = "t"})), Code::kUnsupported);
    must(store.close());
  }
  set(current + 1, 0);
  EXPECT_EQ(code_of(upgrade_store(url, {.have_backup = true})), Code::kUnsupported);
  set(current, 0);
  Store store = must(Store::open(url));
  must(store.sessions().append_session_entries("s", batch_of("b", 1)));
  EXPECT_EQ(must(store.sessions().load_session_entries("s")).size(), 4u);
}

// In the first version a part was a row with a copy of its text.
TEST_P(SchemaUpgrade, PartsOfTheFirstVersionAreFoundInTheirLines) {
  move_on();
  const auto engine = open();
  must(sql::make_schema(*engine, sqlstore::versions().first(1), {}));
  std::int64_t entries = 0;
  const auto add = [&](std::string_view id, std::string_view line,
                       std::initializer_list<std::string_view> parts) {
    std::vector<sql::Command> commands{
        {.text = "INSERT INTO @entries (session_id, ordinal, id, type, depth, orphan, created_at,"
                 " crc, role, line) VALUES ('s', $1, $2, 'message', 0, 0, 't', 0, 'user', $3)",
         .params = {entries++, id, line}}};
    std::int64_t seq = 0;
    for (const std::string_view part : parts) {
      commands.push_back({.text = "INSERT INTO @message_parts (id, message_id, session_id,"
                                  " part_type, payload, seq, created_at)"
                                  " VALUES ($1, $2, 's', 'text', $3, $4, 't')",
                          .params = {id, id, part, seq++}});
    }
    must(engine->commit(commands));
  };
  add("m1", R"({"id":"m1","payload":{"content":"caf\u00e9 — 数据"}})",
      {R"({"type":"text","text":"caf\u00e9 — 数据"})"});
  add("m2", R"({"id":"m2","é":1,"payload":{"content":[{"text":"é"},{"b":2},{"text":"é"}]}})",
      {R"({"text":"é"})", R"({"b":2})", R"({"text":"é"})"});
  add("redacted", R"({"id":"redacted","payload":{"content":"x"}})", {});
  add("respelt", R"({"id":"respelt","payload":{"summary":"a\/b"}})",
      {R"({"type":"text","text":"a/b"})"});
  const auto parts = [&] {
    std::string all;
    const auto other = open();  // a connection keeps the plans it has made
    const auto rows = must(
        other->ask("SELECT message_id, seq, session_id, part_type, payload, created_at"
                   " FROM @message_parts WHERE message_id <> 'respelt' ORDER BY message_id, seq"));
    while (must(rows->next())) {
      all += std::string(rows->text(0)) + std::to_string(rows->integer(1));
      for (const int column : {2, 3, 4, 5}) all += " " + std::string(rows->text(column));
      all += "\n";
    }
    return all;
  };
  const std::string before = parts();
  EXPECT_EQ(4, std::count(before.begin(), before.end(), '\n'));
  must(sql::upgrade(*engine, sqlstore::versions(), nullptr));
  EXPECT_EQ(parts(), before);
  EXPECT_EQ(4, must(engine->number("SELECT count(*) FROM @message_parts")));
}

// In the second version the time of the last entry stood in the session's own row.
TEST_P(SchemaUpgrade, SessionsOfTheSecondVersionKeepTheirTimes) {
  const ScratchCache cache;
  move_on();
  const std::string url = GetParam() ? url_ : "sqlite:" + scratch_.path() + "/second.db";
  {
    Store store = must(Store::open(url, {.create = true}));
    must(store.sessions().create_session({.id = "s", .title = "Maps"}));
    must(store.sessions().append_session_entries("s", batch_of("a", 2)));
    must(store.close());
  }
  const auto engine = [&] {  // a connection keeps the plans it has made
    return must(must(sqlstore::connections(url, false, Clock::system(), milliseconds(5000)))());
  };
  std::vector<sql::Command> back;
  for (const char* text :
       {"DROP VIEW @chat_sessions", "ALTER TABLE @sessions RENAME TO chat_sessions",
        "ALTER TABLE @chat_sessions ADD COLUMN updated_at TEXT NOT NULL DEFAULT 'then'",
        "ALTER TABLE @heads DROP COLUMN updated_at",
        "UPDATE @quipu_schema SET version = 2, taken = 0"}) {
    back.push_back({.text = text});
  }
  must(engine()->commit(back));
  {
    Store older = must(Store::open(url));
    EXPECT_EQ(must(older.sessions().load_session_entries("s")).size(), 3u);
    EXPECT_EQ(code_of(older.sessions().append_session_entries("s", batch_of("b", 1))),
              Code::kUnsupported);
  }
  must(upgrade_store(url, {.have_backup = true}));
  const auto session = [&] {
    const auto open = engine();
    const auto rows = must(open->ask("SELECT title, updated_at FROM @chat_sessions"));
    EXPECT_TRUE(must(rows->next()));
    return std::string(rows->text(0)) + " " + std::string(rows->text(1));
  };
  EXPECT_EQ(session(), "Maps then");
  Store store = must(Store::open(url));
  NewEntry later = batch_of("b", 1).front();
  later.timestamp = "2030-01-01T00:00:00.000Z";
  must(store.sessions().append_session_entries("s", {&later, 1}));
  EXPECT_EQ(session(), "Maps 2030-01-01T00:00:00.000Z");
}

// --- PostgreSQL --------------------------------------------------------------------------

class PostgresUpgrade : public OnPostgres {};

// An older schema: one that has nothing yet but its version.
TEST_F(PostgresUpgrade, IsRefusedWithoutABackup) {
  ask(direct_, "CREATE SCHEMA old");
  ask(direct_,
      "CREATE TABLE old.quipu_schema (one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1), version"
      " BIGINT NOT NULL, taken BIGINT NOT NULL); INSERT INTO old.quipu_schema VALUES (1, 0, 0)");
  const std::string url = url_ + "&schema=old";
  const auto state = [&] {
    return ask(direct_, "SELECT version || '+' || taken FROM old.quipu_schema");
  };
  const auto current = static_cast<int>(sqlstore::versions().size());
  EXPECT_EQ(code_of(upgrade_store(url)), Code::kUnsupported);
  EXPECT_EQ(state(), "0+0");
  const auto dry = must(upgrade_store(url, {.dry_run = true}));
  EXPECT_EQ(dry.from_version, 0);
  EXPECT_EQ(dry.to_version, current);
  EXPECT_EQ(dry.steps.size(), static_cast<std::size_t>(current));
  EXPECT_EQ(state(), "0+0");
  EXPECT_FALSE(must(upgrade_store(url, {.have_backup = true})).resumed);
  EXPECT_EQ(state(), std::to_string(current) + "+0");
  EXPECT_TRUE(must(upgrade_store(url)).steps.empty());
}

// The connection ends at any message: the next run goes on, whatever became of the statement.
TEST_F(PostgresUpgrade, CutAnywhereItIsGoneOnWith) {
  CuttingProxy proxy(server_.socket());
  int place = 0;
  std::size_t cuts = 0;
  for (const Sender sender : {Sender::kClient, Sender::kServer}) {
    bool fired = true;
    for (std::size_t number = 1; fired; ++number) {
      sql::PostgresOptions options;
      options.schema = "place_" + std::to_string(++place);
      const auto direct = must(sql::open_postgres(url_, options));
      must(sql::make_schema(*direct, std::span(kVersions).first(1), {}));
      proxy.disarm();
      const auto engine = must(sql::open_postgres(proxy.url(name_), options));
      proxy.arm({.sender = sender, .message = number});
      const auto code = code_of(sql::upgrade(*engine, kVersions, nullptr));
      fired = proxy.fired();
      if (fired) proxy.wait_until_settled();
      EXPECT_EQ(code.has_value(), fired);
      EXPECT_TRUE(!code || code == Code::kDurabilityUnknown || code == Code::kStorageGone);
      cuts += fired;
      must(sql::upgrade(*direct, kVersions, nullptr));
      ASSERT_EQ(effects(*direct), kWhole) << "cut at message " << number;
      ASSERT_EQ(state_of(*direct), "3+0");
    }
  }
  std::printf("connections cut in an upgrade: %zu\n", cuts);
}

}  // namespace
}  // namespace quipu::test
