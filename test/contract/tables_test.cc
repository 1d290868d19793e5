// What other programs find in a database: the tables that are computed from entries.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "backend/sql/sql_backend.h"
#include "backend/sql/sql_stores.h"
#include "quipu/copy.h"
#include "quipu/project.h"
#include "quipu/runtime.h"
#include "quipu/upgrade.h"
#include "sql/database.h"
#include "sql/engine.h"
#include "support/fresh_store.h"

namespace quipu::test {
namespace {

class Tables : public ::testing::TestWithParam<test::Engine> {
 protected:
  void SetUp() override {
    auto open = sqlstore::connections(fresh_.url(), false, Clock::system(),
                                      std::chrono::milliseconds(5000));
    ASSERT_TRUE(open.ok()) << open.error().message();
    auto engine = (*open)();
    ASSERT_TRUE(engine.ok()) << engine.error().message();
    engine_ = std::move(engine).value();
  }

  // All rows, columns parted by bars, rows by line feeds.
  std::string rows(const std::string& sql, int columns) {
    auto asked = engine_->ask(sql::Text(sql.c_str()));
    if (!asked.ok()) return asked.error().message();
    std::string text;
    for (;;) {
      const auto more = (*asked)->next();
      if (!more.ok()) return more.error().message();
      if (!*more) return text;
      if (!text.empty()) text += "\n";
      for (int i = 0; i < columns; ++i) {
        if (i > 0) text += "|";
        text += (*asked)->is_null(i) ? "null" : std::string((*asked)->text(i));
      }
    }
  }
  std::int64_t number(const std::string& sql) {
    const auto answer = engine_->number(sql::Text(sql.c_str()));
    return answer.ok() ? answer->value_or(-1) : -2;
  }
  void change(const std::string& sql) {
    const sql::Command command{.text = sql::Text(sql.c_str())};
    const auto done = engine_->commit({&command, 1});
    ASSERT_TRUE(done.ok()) << done.error().message();
  }

  void append(const std::vector<std::string>& lines) {
    const auto added = target_.append("s1", lines, {});
    ASSERT_TRUE(added.ok()) << added.error().message();
  }

  FreshStore fresh_{GetParam()};
  StoreTarget target_{fresh_.url(), Door::kLines};
  std::unique_ptr<sql::Engine> engine_;
};

TEST_P(Tables, AMessageHasARowAndItsParts) {
  ASSERT_TRUE(target_.create("s1").ok());
  append(
      {R"({"id":"u1","type":"message","payload":{"role":"user","content":"What is \u0000 this?"}})",
       R"({"id":"a1","type":"message","payload":{"role":"assistant","model":"m","usage":{"tokensIn":3},"content":[{"type":"text","text":"Look:"},{"type":"tool_use","id":"t","name":"ls","input":{}}]}})",
       R"({"id":"x1","type":"custom","payload":{}})"});
  EXPECT_EQ("u1|user|null\na1|assistant|{\"tokensIn\":3}",
            rows("SELECT id, role, token_usage FROM @messages ORDER BY seq", 3));
  EXPECT_EQ(
      "u1|text|{\"type\":\"text\",\"text\":\"What is \\u0000 this?\"}\n"
      "a1|text|{\"type\":\"text\",\"text\":\"Look:\"}\n"
      "a1|tool_use|{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"ls\",\"input\":{}}",
      rows("SELECT p.message_id, p.part_type, p.payload FROM @message_parts p JOIN @messages m"
           " ON m.id = p.message_id ORDER BY m.seq, p.seq",
           3));
  EXPECT_EQ("m", rows("SELECT model FROM @chat_sessions", 1));
  EXPECT_EQ(4, number("SELECT count(*) FROM @entries"));
}

TEST_P(Tables, ASessionsRowFollowsWhatIsSaidOfIt) {
  ASSERT_TRUE(target_.create("s1").ok());
  append(
      {R"({"id":"i1","type":"session_info","payload":{"title":"A new name","archived":true,"sdkSessionId":"sdk","workingDirectory":"/w"}})",
       R"({"id":"u1","type":"message","payload":{"role":"user","content":"hi"}})",
       R"({"id":"c1","type":"compaction_summary","payload":{"summary":"They said hi.","firstKeptEntryId":"u1"}})"});
  EXPECT_EQ(
      "A new name|sdk|/w|They said hi.",
      rows("SELECT title, sdk_session_id, working_directory, summary FROM @chat_sessions", 4));
  EXPECT_EQ(1, number("SELECT is_archived FROM @chat_sessions"));
  EXPECT_EQ(1, number("SELECT is_summary FROM @messages WHERE id = 'c1'"));
  ForkOptions options;
  options.new_id = "s2";
  ASSERT_TRUE(target_.fork("s1", "u1", options).ok());
  EXPECT_EQ("s1", rows("SELECT parent_session_id FROM @chat_sessions WHERE id = 's2'", 1));
  EXPECT_EQ("s1|u1", rows("SELECT parent_session_id, parent_entry_id FROM @lineage", 2));
}

// Nearly all appends leave the row alone; those that say something new must not.
TEST_P(Tables, ASessionsRowHasTheLastModelAndTheTimeOfTheLastEntry) {
  ASSERT_TRUE(target_.create("s1").ok());
  int number = 0;
  const auto say = [&](const std::string& model) {
    ++number;
    append({R"({"id":"m)" + std::to_string(number) + R"(","timestamp":"2026-03-01T09:30:0)" +
            std::to_string(number) + R"(.000Z","type":"message","payload":{"role":"assistant",)" +
            (model.empty() ? "" : R"("model":")" + model + R"(",)") + R"("content":"x"}})"});
    return rows("SELECT model, updated_at FROM @chat_sessions", 2);
  };
  EXPECT_EQ("one|2026-03-01T09:30:01.000Z", say("one"));
  EXPECT_EQ("one|2026-03-01T09:30:02.000Z", say(""));
  EXPECT_EQ("two|2026-03-01T09:30:03.000Z", say("two"));
  EXPECT_EQ("two|2026-03-01T09:30:04.000Z", say("two"));
  // Another process says something else in between.
  StoreTarget other(fresh_.url(), Door::kLines);
  ASSERT_TRUE(
      other.append("s1", {{R"({"id":"o","type":"model_change","payload":{"model":"other"}})"}}, {})
          .ok());
  EXPECT_EQ("two|2026-03-01T09:30:05.000Z", say("two"));
}

TEST_P(Tables, RuntimeStateIsThatOfTheRuntime) {
  ASSERT_TRUE(target_.create("s1").ok());
  Runtime runtime(target_.store(), "s1");
  const auto run = runtime.begin_run({});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(1, number("SELECT is_processing FROM @session_runtime_state"));
  EXPECT_EQ(1, number("SELECT processing_generation FROM @session_runtime_state"));
  const auto first = runtime.enqueue(R"({"role":"user","content":"one"})");
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(runtime.enqueue(R"({"role":"user","content":"two"})", "q2").ok());
  ASSERT_TRUE(runtime.remove_queued(*first).ok());
  EXPECT_EQ(R"([{"id":"q2","payload":{"queueId":"q2","message":{"role":"user","content":"two"}}}])",
            rows("SELECT queued_messages FROM @session_runtime_state", 1));
  ASSERT_TRUE(runtime.end_run(*run, "done").ok());
  EXPECT_EQ(0, number("SELECT is_processing FROM @session_runtime_state"));
}

TEST_P(Tables, ProjectsHaveRows) {
  Projects projects(target_.store());
  const auto made = projects.ensure("/data/atlas", "Atlas");
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->id + "|/data/atlas|Atlas", rows("SELECT id, root_path, name FROM @projects", 3));
  EXPECT_EQ(0, number("SELECT count(*) FROM @chat_sessions"));
  EXPECT_TRUE(target_.sessions()->empty());
}

TEST_P(Tables, WhatIsRedactedLeavesThePartsAtOnce) {
  ASSERT_TRUE(target_.create("s1").ok());
  append({R"({"id":"u1","type":"message","payload":{"role":"user","content":"secret"}})"});
  append({R"({"id":"r1","type":"redaction","payload":{"targetEntryId":"u1","reason":"x"}})"});
  EXPECT_EQ(0, number("SELECT count(*) FROM @message_parts"));
  EXPECT_EQ(1, number("SELECT count(*) FROM @messages"));
}

TEST_P(Tables, RepairMakesThemAnew) {
  ASSERT_TRUE(target_.create("s1").ok());
  append({R"({"id":"u1","type":"message","payload":{"role":"user","content":"hi"}})",
          R"({"id":"u2","type":"message","payload":{"role":"user","content":"secret"}})",
          R"({"id":"i1","type":"session_info","payload":{"title":"T"}})"});
  append({R"({"id":"r1","type":"redaction","payload":{"targetEntryId":"u2","reason":"x"}})"});
  const auto all = [&] {
    return rows("SELECT id, title, updated_at FROM @chat_sessions", 3) + "\n" +
           rows("SELECT id, role FROM @messages ORDER BY seq", 2) + "\n" +
           rows("SELECT id, payload FROM @message_parts ORDER BY id", 2);
  };
  const std::string before = all();
  change("UPDATE @entries SET role = NULL, parts = NULL");
  change("UPDATE @sessions SET title = 'other'");
  change("UPDATE @heads SET updated_at = 'then'");
  ASSERT_NE(before, all());
  ASSERT_TRUE(target_.api().repair_session("s1").ok());
  EXPECT_EQ(before, all());
}

TEST_P(Tables, AChangedLineIsFound) {
  ASSERT_TRUE(target_.create("s1").ok());
  append({R"({"id":"u1","type":"message","payload":{"role":"user","content":"hi"}})"});
  EXPECT_TRUE(target_.api().verify_session("s1")->problems.empty());
  change("UPDATE @entries SET line = replace(line, 'hi', 'ho') WHERE id = 'u1'");
  const auto report = target_.api().verify_session("s1");
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(1u, report->problems.size());
  EXPECT_EQ("damaged_line", report->problems[0].kind);
  change("UPDATE @entries SET line = replace(line, 'ho', 'hi') WHERE id = 'u1'");
  change("UPDATE @heads SET entries = 1");
  EXPECT_EQ("bad_index", target_.api().verify_session("s1")->problems.at(0).kind);
}

TEST_P(Tables, AChangedLineIsShownAsDamagedAndNotCopied) {
  ASSERT_TRUE(target_.create("s1").ok());
  append({R"({"id":"u1","type":"message","payload":{"role":"user","content":"hi"}})",
          R"({"id":"u2","type":"message","payload":{"role":"user","content":"there"}})"});
  for (const char* text : {"replace(line, 'hi', 'ho')", "'garbage'"}) {
    change("UPDATE @entries SET line = " + std::string(text) + " WHERE id = 'u1'");
    auto reader = target_.api().read_session("s1");
    ASSERT_TRUE(reader.ok());
    std::vector<std::string> seen;
    for (;;) {
      const auto entry = reader->next();
      ASSERT_TRUE(entry.ok()) << entry.error().message();
      if (!*entry) break;
      seen.push_back(std::string((*entry)->id) + " " + std::string((*entry)->payload));
    }
    ASSERT_EQ(3u, seen.size());
    EXPECT_EQ(R"(u1 {"damaged":true})", seen[1]);
    EXPECT_EQ(R"(u2 {"role":"user","content":"there"})", seen[2]);
    EXPECT_EQ(1u, reader->damaged());
    auto copy = Store::open("memory:");
    ASSERT_TRUE(copy.ok());
    const auto copied = copy_store(target_.store(), *copy);
    ASSERT_TRUE(copied.ok()) << copied.error().message();
    ASSERT_EQ(1u, copied->problems.size());
    EXPECT_EQ(Code::kCorrupt, copied->problems[0].error.code());
    EXPECT_EQ(Code::kNotFound, copy->sessions().load_session_entries("s1").error().code());
  }
}

TEST_P(Tables, TheFeedHasEveryEntryOnceInOrder) {
  auto backend = std::dynamic_pointer_cast<sqlstore::SqlBackend>(target_.store().backend());
  ASSERT_TRUE(backend);
  ASSERT_TRUE(target_.create("s1").ok());
  append({R"({"id":"u1","type":"message","payload":{}})"});
  std::vector<std::string> seen;
  std::string cursor;
  const auto follow = [&] {
    for (;;) {
      const auto some = backend->feed(cursor, 2);
      ASSERT_TRUE(some.ok()) << some.error().message();
      if (some->empty()) return;
      for (const auto& entry : *some) seen.push_back(entry.id);
      cursor = some->back().cursor;
    }
  };
  follow();
  ASSERT_EQ(2u, seen.size());
  append({R"({"id":"u2","type":"message","payload":{}})",
          R"({"id":"u3","type":"message","payload":{}})",
          R"({"id":"u4","type":"message","payload":{}})"});
  follow();
  EXPECT_EQ((std::vector<std::string>{"u1", "u2", "u3", "u4"}),
            std::vector<std::string>(seen.begin() + 1, seen.end()));
  EXPECT_EQ(Code::kInvalidArgument, backend->feed("x.y", 1).error().code());
}

TEST_P(Tables, AStoreThatIsCurrentNeedsNoUpgrade) {
  const auto report = upgrade_store(fresh_.url());
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_EQ(report->from_version, report->to_version);
  EXPECT_TRUE(report->steps.empty());
}

TEST_P(Tables, ANewerStoreIsReadAndNotWritten) {
  ASSERT_TRUE(target_.create("s1").ok());
  change("UPDATE @quipu_schema SET version = version + 1");
  StoreTarget newer(fresh_.url(), Door::kLines);
  EXPECT_TRUE(newer.view("s1").ok());
  const auto refused = newer.create("s2");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(Code::kUnsupported, refused.error().code());
  EXPECT_EQ(Code::kUnsupported, upgrade_store(fresh_.url()).error().code());
  change("UPDATE @quipu_schema SET version = version - 1");
}

// Opening a store puts files beside it and changes how the database is written.
TEST(WrongFile, IsRefusedAndLeftAsItIs) {
  const ScratchDir scratch;
  const auto place = [&](const std::string& name) { return scratch.path() + "/" + name; };
  std::ofstream(place("text")) << "Dear diary";
  std::filesystem::create_directory(place("folder"));
  std::ofstream(place("empty"));
  ASSERT_TRUE(sql::Connection::open(place("other"))->execute("CREATE TABLE t (x)").ok());
  const auto everything = [&] {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
      std::string& bytes = found[entry.path().filename()];
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    return found;
  };
  const auto before = everything();
  const auto code = [&](const std::string& name) {
    const auto store = Store::open("sqlite:" + place(name));
    return store.ok() ? Code::kInternal : store.error().code();
  };
  EXPECT_EQ(Code::kCorrupt, code("text"));
  EXPECT_EQ(Code::kInvalidArgument, code("folder"));
  EXPECT_EQ(Code::kNotFound, code("empty"));
  EXPECT_EQ(Code::kNotFound, code("other"));
  EXPECT_EQ(Code::kNotFound, code("nothing"));
  EXPECT_EQ(before, everything());
}

INSTANTIATE_TEST_SUITE_P(Databases, Tables,
                         ::testing::Values(test::Engine::kSqlite, test::Engine::kPostgres),
                         [](const auto& one) {
                           return one.param == test::Engine::kSqlite ? "sqlite" : "postgres";
                         });

}  // namespace
}  // namespace quipu::test
