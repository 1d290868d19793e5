// Copies between all engines: random histories arrive byte for byte, and once.
#include "quipu/copy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "backend/backend.h"
#include "contract/random_history.h"
#include "quipu/attachments.h"
#include "quipu/events.h"
#include "store/header_entry.h"
#include "support/event_reader.h"
#include "support/fresh_store.h"
#include "support/scale.h"

namespace quipu::test {
namespace {

struct Pair {
  Engine from;
  Engine to;
};

const char* name_of(Engine engine) {
  switch (engine) {
    case Engine::kMemory:
      return "memory";
    case Engine::kFile:
      return "file";
    case Engine::kSqlite:
      return "sqlite";
    case Engine::kPostgres:
      return "postgres";
  }
  return "";
}

std::vector<Pair> all_pairs() {
  constexpr Engine kEngines[] = {Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                 Engine::kPostgres};
  std::vector<Pair> pairs;
  for (const Engine from : kEngines) {
    for (const Engine to : kEngines) pairs.push_back({from, to});
  }
  return pairs;
}

std::uint64_t first_seed() {
  const char* text = std::getenv("QUIPU_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
}

void expect_same(StoreTarget& from, StoreTarget& to) {
  const auto sessions = from.sessions();
  ASSERT_TRUE(sessions.ok());
  ASSERT_EQ(*sessions, to.sessions().value());
  for (const std::string& session : *sessions) {
    const auto one = from.view(session);
    const auto other = to.view(session);
    ASSERT_TRUE(one.ok() && other.ok()) << session;
    EXPECT_EQ("", difference(*one, *other)) << session;
    ASSERT_EQ(one->rows.size(), other->rows.size());
    for (std::size_t i = 0; i < one->rows.size(); ++i) {
      EXPECT_EQ(one->rows[i].json, other->rows[i].json) << session;
    }
    const auto verified = to.api().verify_session(session);
    ASSERT_TRUE(verified.ok());
    EXPECT_TRUE(verified->problems.empty()) << verified->problems.front().detail;
  }
}

class Copies : public ::testing::TestWithParam<Pair> {};

TEST_P(Copies, ARandomHistoryArrivesByteForByte) {
  const auto count = static_cast<std::uint64_t>(std::max(1.0, 6 * test_scale()));
  const std::uint64_t first = first_seed();
  std::cout << count << " histories from QUIPU_TEST_SEED=" << first << std::endl;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("QUIPU_TEST_SEED=" + std::to_string(seed));
    const RandomStores source(GetParam().from);
    Tally tally;
    ASSERT_EQ("", play(random_ops(seed, 12 + seed % 28), source.handles(), tally));
    StoreTarget& from = *source.handles().front();
    const FreshStore place(GetParam().to, 1);
    StoreTarget to(place.url(), Door::kLines);

    const auto copied = copy_store(from.store(), to.store());
    ASSERT_TRUE(copied.ok()) << copied.error().message();
    EXPECT_TRUE(copied->problems.empty());
    EXPECT_EQ(0u, copied->entries_present);
    expect_same(from, to);

    const auto again = copy_store(from.store(), to.store());
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(0u, again->entries_added);
    EXPECT_EQ(copied->entries_added, again->entries_present);
  }
}

std::string pair_name(const ::testing::TestParamInfo<Pair>& one) {
  return std::string(name_of(one.param.from)) + "_to_" + name_of(one.param.to);
}

INSTANTIATE_TEST_SUITE_P(Engines, Copies, ::testing::ValuesIn(all_pairs()), pair_name);

class CopyTest : public ::testing::Test {
 protected:
  void say(StoreTarget& store, const std::string& session, const std::string& id,
           const std::string& text) {
    const auto added = store.append(
        session,
        {R"({"id":")" + id + R"(","type":"message","payload":{"role":"user","content":")" + text +
         R"("}})"},
        {});
    ASSERT_TRUE(added.ok()) << added.error().message();
  }

  FreshStore from_place_{Engine::kFile};
  FreshStore to_place_{Engine::kSqlite};
  StoreTarget from_{from_place_.url(), Door::kLines};
  StoreTarget to_{to_place_.url(), Door::kLines};
};

TEST_F(CopyTest, WhatWasAddedSinceIsAdded) {
  ASSERT_TRUE(from_.create("s1").ok());
  say(from_, "s1", "a", "one");
  ASSERT_TRUE(copy_store(from_.store(), to_.store()).ok());
  say(from_, "s1", "b", "two");
  const auto more = copy_store(from_.store(), to_.store());
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(1u, more->entries_added);
  expect_same(from_, to_);
}

TEST_F(CopyTest, WhatWentOnInBothPlacesIsMerged) {
  ASSERT_TRUE(from_.create("s1").ok());
  say(from_, "s1", "a", "one");
  ASSERT_TRUE(copy_store(from_.store(), to_.store()).ok());
  say(from_, "s1", "b", "here");
  say(to_, "s1", "c", "there");
  const auto more = copy_store(from_.store(), to_.store());
  ASSERT_TRUE(more.ok());
  EXPECT_TRUE(more->problems.empty());
  EXPECT_EQ(4u, to_.view("s1")->rows.size());
}

TEST_F(CopyTest, AnEntryWithOtherContentIsAProblemOfItsSession) {
  for (StoreTarget* store : {&from_, &to_}) {
    ASSERT_TRUE(store->create("s1").ok());
    ASSERT_TRUE(store->create("s2").ok());
  }
  say(from_, "s1", "a", "here");
  const auto copied = copy_store(from_.store(), to_.store());
  ASSERT_TRUE(copied.ok());
  ASSERT_EQ(2u, copied->problems.size());  // their headers have ids of their own
  EXPECT_EQ("s1", copied->problems[0].session_id);
  EXPECT_EQ(Code::kIdConflict, copied->problems[0].error.code());
  EXPECT_EQ(1u, to_.view("s1")->rows.size());
}

TEST_F(CopyTest, AForkBringsAlongWhatItGoesOnFrom) {
  ASSERT_TRUE(from_.create("s1").ok());
  ASSERT_TRUE(from_.create("other").ok());
  say(from_, "s1", "a", "one");
  ForkOptions options;
  options.new_id = "a-fork";  // before its parent in every list
  ASSERT_TRUE(from_.fork("s1", "a", options).ok());
  CopyOptions only;
  only.sessions = {"a-fork"};
  std::size_t told = 0;
  only.progress = [&](std::size_t done, std::size_t total) {
    told = done;
    EXPECT_EQ(2u, total);
  };
  const auto copied = copy_store(from_.store(), to_.store(), only);
  ASSERT_TRUE(copied.ok());
  EXPECT_EQ(2u, copied->sessions);
  EXPECT_EQ(2u, told);
  EXPECT_EQ((std::vector<std::string>{"a-fork", "s1"}), to_.sessions().value());
  EXPECT_EQ("", difference(from_.view("a-fork").value(), to_.view("a-fork").value()));
}

TEST_F(CopyTest, AttachmentsComeAlong) {
  ASSERT_TRUE(from_.create("s1").ok());
  const std::string bytes(3 << 20, 'x');
  const auto put = Attachments(from_.store()).put(bytes);
  ASSERT_TRUE(put.ok());
  const auto named = from_.append(
      "s1",
      {R"({"id":"a","type":"message","payload":{"role":"user","content":[{"type":"attachment","mediaType":"text/plain","sha256":")" +
       put->sha256 + R"("}]}})"},
      {});
  ASSERT_TRUE(named.ok());
  CopyOptions only;
  only.sessions = {"s1"};
  const auto copied = copy_store(from_.store(), to_.store(), only);
  ASSERT_TRUE(copied.ok());
  EXPECT_EQ(1u, copied->attachments_added);
  EXPECT_EQ(bytes, Attachments(to_.store()).get(put->sha256).value());
}

NewEntry fact(std::string id) {
  NewEntry entry;
  entry.id = std::move(id);
  entry.type = "fact.note";
  return entry;
}

// What a store keeps beside its sessions, as those keep it who have one.
void keep(Store& store, const std::string& log, const std::string& id) {
  Backend& backend = *store.backend();
  if (!backend.survey(log).ok()) {
    SessionHeader header;
    header.version = kSchemaVersion;
    header.session_id = log;
    const std::string first = header_entry(header, backend.filler());
    ASSERT_TRUE(backend.create(log, {&first, 1}).ok());
  }
  const NewEntry entry = fact(id);
  const auto batch = admit_entries({&entry, 1}, backend.filler());
  ASSERT_TRUE(backend.append(log, *batch, {}).ok());
}

std::vector<std::string> kept(Store& store, const std::string& log) {
  std::vector<std::string> ids;
  const auto lineage = store.backend()->lineage(log);
  if (!lineage.ok()) return ids;
  for (Ordinal own = 1; own < (*lineage)->own().fold().count; ++own) {
    ids.push_back((*lineage)->own().id(own).value());
  }
  return ids;
}

TEST_F(CopyTest, WhatTheStoreKeepsBesideSessionsComesAlong) {
  keep(from_.store(), "system/notes", "a");
  keep(from_.store(), "system/others", "b");
  ASSERT_TRUE(copy_store(from_.store(), to_.store()).ok());
  EXPECT_EQ((std::vector<std::string>{"system/notes", "system/others"}),
            to_.store().backend()->list_system().value());
  EXPECT_EQ(std::vector<std::string>{"a"}, kept(to_.store(), "system/notes"));
}

TEST_F(CopyTest, WhatBothStoresKeepIsMerged) {
  keep(from_.store(), "system/notes", "a");
  keep(to_.store(), "system/notes", "b");
  const auto copied = copy_store(from_.store(), to_.store());
  ASSERT_TRUE(copied.ok()) << copied.error().message();
  EXPECT_EQ((std::vector<std::string>{"b", "a"}), kept(to_.store(), "system/notes"));
  EXPECT_EQ(0u, copy_store(from_.store(), to_.store())->entries_added);
}

TEST_F(CopyTest, WhoeverNamesSessionsGetsProjectsAndNothingElse) {
  ASSERT_TRUE(from_.create("s1").ok());
  keep(from_.store(), "system/notes", "a");
  keep(from_.store(), "system/projects", "p");
  CopyOptions only;
  only.sessions = {"s1"};
  ASSERT_TRUE(copy_store(from_.store(), to_.store(), only).ok());
  EXPECT_EQ(std::vector<std::string>{"system/projects"},
            to_.store().backend()->list_system().value());
}

// Their places are each store's own, and so is what it tells of its sessions.
TEST_F(CopyTest, EventsComeAlong) {
  ASSERT_TRUE(from_.create("s1").ok());
  const auto append = [](Store& store, const std::string& type, const std::string& id) {
    const NewEvent event{.id = id, .type = type, .source = "test", .payload = R"({"n":1})"};
    ASSERT_TRUE(EventStore(store, {.segment_bytes = 1}).append({&event, 1}).ok());
  };
  const auto types = [](Store& store) {
    std::vector<std::string> all;
    auto tail = must(EventStore(store).tail());
    for (const Event& event : all_of(tail)) all.push_back(event.type);
    return all;
  };
  append(from_.store(), "a", "1");
  ASSERT_EQ((std::vector<std::string>{"a", "quipu.session_created"}), types(from_.store()));
  append(from_.store(), "b", "2");
  append(to_.store(), "c", "3");
  const auto copied = copy_store(from_.store(), to_.store());
  ASSERT_TRUE(copied.ok()) << copied.error().message();
  EXPECT_EQ(0u, copy_store(from_.store(), to_.store())->entries_added);
  EXPECT_EQ((std::vector<std::string>{"c", "a", "b", "quipu.session_created"}), types(to_.store()));
}

TEST_F(CopyTest, ToItselfItIsRefused) {
  StoreTarget same(from_place_.url(), Door::kLines);
  const auto copied = copy_store(from_.store(), same.store());
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(Code::kInvalidArgument, copied.error().code());
}

TEST_F(CopyTest, ASessionThatIsNotThereIsAProblem) {
  CopyOptions only;
  only.sessions = {"nowhere"};
  const auto copied = copy_store(from_.store(), to_.store(), only);
  ASSERT_TRUE(copied.ok());
  ASSERT_EQ(1u, copied->problems.size());
  EXPECT_EQ(Code::kNotFound, copied->problems[0].error.code());
}

}  // namespace
}  // namespace quipu::test
