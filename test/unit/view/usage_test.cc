// The view of usage: what it costs to keep, and that it says what the logs say whatever
// became of usage.db.
#include "quipu/usage.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "fs/posix_fs.h"
#include "sql/database.h"
#include "support/wrapped_backend.h"
#include "view/usage_fold.h"
#include "view/usage_view.h"
#include "view_world.h"

namespace quipu::test {
namespace {

using view::Request;
using view::RequestWalk;
using view::UsageRow;
using view::UsageRowPointer;

std::vector<Request> requests_of(const UsageRow& row) {
  std::vector<Request> requests;
  RequestWalk walk(row);
  for (Request request; walk.next(request);) requests.push_back(request);
  return requests;
}

UsageRow random_row(std::mt19937_64& random) {
  const auto number = [&] { return random() >> (random() % 64); };
  const auto positive = [&] { return static_cast<std::int64_t>(number() >> 2); };
  UsageRow row;
  row.session_id = "s";
  for (std::string* text : {&row.created, &row.agent_id, &row.project_id, &row.model,
                            &row.model_session, &row.note_memory}) {
    *text = std::string(random() % 300, static_cast<char>(random()));
  }
  for (std::uint64_t i = random() % 5; i > 0; --i) row.names.push_back(std::to_string(random()));
  std::vector<Request> requests(random() % 20);
  for (Request& request : requests) {
    request.key = {.high = random(), .low = random()};
    if (random() % 4 != 0) request.time_ms = positive() % 253'402'300'799'999 - 62'167'219'200'000;
    for (Request::Name* name :
         {&request.model, &request.provider, &request.agent, &request.project, &request.session}) {
      *name = static_cast<Request::Name>(random() % row.names.size());
    }
    for (std::uint64_t* count : {&request.tokens_in, &request.tokens_out, &request.cache_read,
                                 &request.cache_write, &request.reasoning}) {
      *count = number();
    }
    request.cost_nano_usd = random() % 2 == 0 ? Request::kUnknown : positive();
    request.latency_ms = random() % 2 == 0 ? Request::kUnknown : positive();
  }
  row.requests = view::pack_requests(requests);
  EXPECT_EQ(requests_of(row), requests);
  return row;
}

TEST(UsageRows, ComeBackAsTheyWere) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    const UsageRow row = random_row(random);
    const std::string record = encode_usage_row(row);
    const auto back = view::decode_usage_row("s", {}, record);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, row);
  }
}

TEST(UsageRows, AnyBytesAreReadToTheirEnd) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 3000; ++round) {
    std::string record = encode_usage_row(random_row(random));
    for (std::uint64_t i = 1 + random() % 4; i > 0; --i) {
      record[random() % record.size()] = static_cast<char>(random());
    }
    record.resize(random() % (record.size() + 1));
    const auto row = view::decode_usage_row("s", {}, record);
    if (!row) continue;
    for (const Request& request : requests_of(*row)) {
      EXPECT_LT(request.model, row->names.size());
      EXPECT_GE(request.cost_nano_usd, Request::kUnknown);
    }
  }
}

// ---- keeping it fresh

std::string said(const UsageReport& report) {
  std::string text = std::to_string(report.total.requests) + " " +
                     std::to_string(report.total.tokens_out) + " " +
                     std::to_string(report.total.cost_recorded_nano_usd);
  for (const UsageGroup& group : report.groups) {
    text += " " + group.name + "=" + std::to_string(group.sum.tokens_out);
  }
  return text;
}

std::string usage_of(Store& store) {
  const auto report =
      UsageStore(store).aggregate({.by = UsageBy::kSession, .project = ProjectScope::all()});
  EXPECT_TRUE(report.ok());
  return report.ok() ? said(*report) : "";
}

/// A process of its own with the store open, its looks at entries counted.
struct Process {
  explicit Process(const std::string& directory)
      : store(open_store("file:" + directory)),
        counting(std::make_shared<CountingBackend>(store.backend())),
        catalogue(
            std::make_shared<view::Catalogue>(counting, file(view::Catalogue::kFile, directory))),
        usage(counting, catalogue, file(view::UsageView::kFile, directory)) {}

  static std::unique_ptr<view::ViewFile> file(const view::ViewSchema& schema,
                                              const std::string& directory) {
    return std::make_unique<view::ViewFile>(schema, fs::PosixFs::open(directory).value(),
                                            directory);
  }
  std::uint64_t looks() {
    counting->looked = 0;
    const auto rows = usage.fresh_rows();
    EXPECT_TRUE(rows.ok());
    return counting->looked;
  }

  Store store;
  std::shared_ptr<CountingBackend> counting;
  std::shared_ptr<view::Catalogue> catalogue;
  view::UsageView usage;
};

class UsageViewTest : public testing::Test {
 protected:
  std::string url() const { return "file:" + directory_.path(); }
  std::string file() const { return directory_.path() + "/usage.db"; }

  ScratchDir directory_;
};

TEST_F(UsageViewTest, ReadsWhatIsNewAndNothingElse) {
  {
    Process first(directory_.path());
    for (int i = 0; i < 20; ++i) {
      const std::string id = "s" + std::to_string(i);
      make_session(first.store, id);
      std::vector<NewEntry> talk;
      for (int n = 0; n < 100; ++n) talk.push_back(answer(id + std::to_string(n), n));
      append(first.store, id, talk);
    }
    EXPECT_GE(first.looks(), 2000u);
    EXPECT_EQ(first.looks(), 0u);
    append(first.store, "s3", {answer("new", 1)});
    EXPECT_LE(first.looks(), 6u) << "the new one and the last of the old ones, for two views";
  }
  Process second(directory_.path());
  EXPECT_EQ(second.looks(), 0u) << "usage.db is enough";
  append(second.store, "s4", {answer("newer", 1)});
  EXPECT_LE(second.looks(), 6u + 101) << "the catalogue may have to read one session";
  EXPECT_EQ(second.looks(), 0u);
}

TEST_F(UsageViewTest, GoingOnIsTheSameAsFromTheBeginning) {
  Store store = open_store(url());
  std::mt19937 random(5);
  for (int step = 0; step < 60; ++step) {
    const std::string id = "s" + std::to_string(random() % 4);
    if (!store.sessions().describe_session(id).ok()) make_session(store, id);
    std::vector<NewEntry> entries;
    for (unsigned i = 0; i <= random() % 4; ++i) {
      entries.push_back(
          answer("r" + std::to_string(random() % 12), static_cast<int>(random() % 99)));
    }
    if (random() % 5 == 0) {
      entries.push_back(
          entry_of("session_info", R"({"projectId":"p)" + std::to_string(step) + "\"}"));
    }
    append(store, id, entries);
    if (random() % 2 == 0) continue;
    Store fresh(store.backend());
    ASSERT_EQ(usage_of(store), usage_of(fresh)) << step;
    const auto by_project =
        UsageStore(store).aggregate({.by = UsageBy::kProject, .project = ProjectScope::all()});
    const auto expected =
        UsageStore(fresh).aggregate({.by = UsageBy::kProject, .project = ProjectScope::all()});
    ASSERT_EQ(by_project->groups, expected->groups) << step;
  }
}

TEST_F(UsageViewTest, SessionsThatAreGoneAndOthersOfTheirName) {
  Store store = open_store(url());
  for (const char* id : {"a", "b"}) {
    make_session(store, id);
    append(store, id, {answer(id, 5)});
  }
  EXPECT_EQ(usage_of(store), "2 10 200000000 a=5 b=5");
  std::filesystem::remove(directory_.path() + "/sessions/a.jsonl");
  Store second = open_store(url());
  EXPECT_EQ(usage_of(second), "1 5 100000000 b=5");
  make_session(second, "a");
  append(second, "a", {answer("other", 7)});
  Store third = open_store(url());
  EXPECT_EQ(usage_of(third), "2 12 200000000 a=7 b=5");
  // Replaced before anybody saw that it was gone.
  std::filesystem::remove(directory_.path() + "/sessions/b.jsonl");
  Store fourth = open_store(url());
  make_session(fourth, "b");
  append(fourth, "b", {answer("third", 1), answer("fourth", 2)});
  EXPECT_EQ(usage_of(fourth), "3 10 300000000 a=7 b=3");
}

TEST_F(UsageViewTest, TheFileForgetsWhatIsGone) {
  Store store = open_store(url());
  for (const char* id : {"a", "b"}) {
    make_session(store, id);
    append(store, id, {answer(id, 5)});
  }
  usage_of(store);
  const auto rows = [&] {
    auto connection = sql::Connection::open(file(), {.create = false});
    return connection->number("SELECT count(*) FROM sessions").value();
  };
  EXPECT_EQ(rows(), 2);
  std::filesystem::remove(directory_.path() + "/sessions/a.jsonl");
  usage_of(store);
  EXPECT_EQ(rows(), 1);
}

TEST_F(UsageViewTest, WhatCannotBeReadIsSaidAndTheRestCounts) {
  Store store = open_store(url());
  make_session(store, "a");
  append(store, "a", {answer("r1", 5)});
  const auto entries = store.sessions().load_session_entries("a");
  ASSERT_TRUE(store.sessions().branch_from_entry("a", entries->back().id, {.new_id = "fork"}).ok());
  append(store, "fork", {answer("r2", 7)});
  EXPECT_EQ(usage_of(store), "2 12 200000000 a=5 fork=7");
  std::filesystem::rename(directory_.path() + "/sessions/a.jsonl", directory_.path() + "/away");
  write_file(directory_.path() + "/sessions/b.jsonl", "");
  Store second = open_store(url());
  append(second, "b", {answer("r3", 9)});
  // Under its old name it would be known what the fork said.
  std::filesystem::rename(directory_.path() + "/sessions/fork.jsonl",
                          directory_.path() + "/sessions/fork2.jsonl");
  const auto report = UsageStore(second).aggregate({.project = ProjectScope::all()});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->total.tokens_out, 9u);
  ASSERT_EQ(report->unread.size(), 1u);
  EXPECT_EQ(report->unread[0].session_id, "fork2");
  EXPECT_FALSE(report->unread[0].problem.empty());
}

TEST_F(UsageViewTest, AnyDamageOfTheFileIsMended) {
  std::string expected;
  {
    Store store = open_store(url());
    for (const char* id : {"a", "b", "c"}) {
      make_session(store, id);
      append(store, id, {answer(std::string("r") + id, 3), answer("shared", 4)});
    }
    expected = usage_of(store);
  }
  const std::string sound = read_file(file());
  ASSERT_FALSE(sound.empty());
  std::mt19937 random(7);
  const auto answers_with = [&](const std::string& bytes) {
    write_file(file(), bytes);
    Store store = open_store(url());
    return usage_of(store) == expected && usage_of(store) == expected;
  };
  for (std::size_t at = random() % 23; at < sound.size(); at += 1 + random() % 23) {
    std::string bytes = sound;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    ASSERT_TRUE(answers_with(bytes)) << "byte " << at;
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, sound.size() - 1}) {
    ASSERT_TRUE(answers_with(sound.substr(0, size))) << "cut off at " << size;
  }
  ASSERT_TRUE(answers_with("no database"));
  // And it is whole again.
  Process after(directory_.path());
  EXPECT_EQ(after.looks(), 0u);
}

TEST_F(UsageViewTest, AFileThatCannotBeWrittenIsDoneWithout) {
  Store store = open_store(url());
  make_session(store, "a");
  append(store, "a", {answer("r1", 5)});
  std::filesystem::create_directory(file());
  EXPECT_EQ(usage_of(store), "1 5 100000000 a=5");
  append(store, "a", {answer("r2", 6)});
  EXPECT_EQ(usage_of(store), "2 11 200000000 a=11");
}

}  // namespace
}  // namespace quipu::test
