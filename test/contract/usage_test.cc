// Usage on all engines: what counts, and that it counts once.
#include "quipu/usage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>

#include "quipu/copy.h"
#include "support/agent_store.h"
#include "support/fresh_store.h"

namespace quipu::test {
namespace {

std::string used(int in, const std::string& more = {}) {
  return R"({"tokensIn":)" + std::to_string(in) + more + "}";
}

NewEntry answer(const std::string& request, const std::string& usage,
                const std::string& model = "m", const std::string& day = "2026-03-01") {
  NewEntry entry;
  entry.type = "message";
  entry.timestamp = day + "T12:00:00.000Z";
  entry.payload = R"({"role":"assistant","content":"ok","model":")" + model + R"(","requestId":")" +
                  request + R"(","usage":)" + usage + "}";
  return entry;
}

UsageRecord record(const std::string& request, std::uint64_t in) {
  UsageRecord record;
  record.request_id = request;
  record.timestamp = "2026-03-01T12:00:00.000Z";
  record.model = "m";
  record.usage.tokens_in = in;
  return record;
}

class UsageContract : public testing::TestWithParam<Engine> {
 protected:
  UsageContract() : place_(GetParam()) { open(); }

  void open() {
    store_.reset();
    store_.emplace(Store::open(place_.url(), {.create = true, .clock = &clock_}).value());
  }
  /// `memory:` is gone with the process.
  void reopen() {
    if (GetParam() != Engine::kMemory) open();
  }

  void session(const std::string& id, const std::string& agent = {},
               const std::string& project = {}) {
    NewSession session;
    session.id = id;
    session.agent_id = agent;
    session.project_id = project;
    ASSERT_TRUE(store_->sessions().create_session(session).ok());
  }
  void append(const std::string& id, const std::vector<NewEntry>& entries) {
    const auto stored = store_->sessions().append_session_entries(id, entries);
    ASSERT_TRUE(stored.ok()) << stored.error().message();
  }
  UsageReport report(UsageQuery query = {.project = ProjectScope::all()}) {
    auto report = UsageStore(*store_).aggregate(query);
    EXPECT_TRUE(report.ok()) << report.error().message();
    return report.ok() ? std::move(report).value() : UsageReport();
  }
  /// "name:requests:tokens_in" of each group, and the total's.
  std::string by(UsageBy by) {
    const UsageReport all = report({.by = by, .project = ProjectScope::all()});
    std::string text;
    for (const UsageGroup& group : all.groups) {
      text += group.name + ":" + std::to_string(group.sum.requests) + ":" +
              std::to_string(group.sum.tokens_in) + " ";
    }
    return text + "= " + std::to_string(all.total.requests) + ":" +
           std::to_string(all.total.tokens_in);
  }

  ManualClock clock_;
  FreshStore place_;
  std::optional<Store> store_;
};

TEST_P(UsageContract, NothingAtFirst) {
  EXPECT_EQ(by(UsageBy::kDay), "= 0:0");
  session("a");
  EXPECT_EQ(by(UsageBy::kDay), "= 0:0");
  EXPECT_FALSE(report().total.has_cost());
}

TEST_P(UsageContract, TheLastLineOfARequestCounts) {
  session("a");
  append("a", {answer("r1", used(1)), answer("r1", used(5)), answer("r2", used(7))});
  EXPECT_EQ(by(UsageBy::kSession), "a:2:12 = 2:12");
  // Also when it comes after somebody has asked, and in another process.
  append("a", {answer("r1", used(6))});
  reopen();
  EXPECT_EQ(by(UsageBy::kSession), "a:2:13 = 2:13");
}

TEST_P(UsageContract, WithoutAKeyEachEntryIsARequest) {
  session("a");
  NewEntry entry = answer("", used(3));
  append("a", {entry, entry});
  EXPECT_EQ(by(UsageBy::kSession), "a:2:6 = 2:6");
}

TEST_P(UsageContract, ForksAndCopiesCountOnce) {
  session("a");
  append("a", {answer("r1", used(10)), answer("r2", used(20))});
  const auto entries = store_->sessions().load_session_entries("a");
  const std::string head = entries->back().id;
  ASSERT_TRUE(store_->sessions().branch_from_entry("a", head, {.new_id = "fork"}).ok());
  ASSERT_TRUE(
      store_->sessions().branch_from_entry("a", head, {.new_id = "copy", .detach = true}).ok());
  append("fork", {answer("r3", used(40))});
  append("copy", {answer("r4", used(80))});
  EXPECT_EQ(by(UsageBy::kSession), "a:2:30 copy:1:80 fork:1:40 = 4:150");
}

TEST_P(UsageContract, OfSeveralSessionsTheOldestCounts) {
  session("z");
  clock_.advance(std::chrono::seconds(1));
  session("a");
  append("a", {answer("r1", used(1)), answer("r2", used(2))});
  append("z", {answer("r1", used(4))});
  EXPECT_EQ(by(UsageBy::kSession), "a:1:2 z:1:4 = 2:6");
}

TEST_P(UsageContract, FactsOfASessionCountToo) {
  session("a", "agent", "project");
  NewEntry fact;
  fact.type = "usage";
  fact.payload = R"({"requestId":"r1","model":"m","agentId":"liar","usage":{"tokensIn":4}})";
  append("a", {answer("r2", used(1)), fact});
  EXPECT_EQ(by(UsageBy::kAgent), "agent:2:5 = 2:5");
}

TEST_P(UsageContract, RedactedTextWasPaidFor) {
  session("a");
  append("a", {answer("r1", used(10))});
  const auto entries = store_->sessions().load_session_entries("a");
  NewEntry redaction;
  redaction.type = "redaction";
  redaction.payload = R"({"targetEntryId":")" + entries->back().id + R"(","reason":"x"})";
  append("a", {redaction});
  EXPECT_EQ(by(UsageBy::kModel), "m:1:10 = 1:10");
}

TEST_P(UsageContract, GroupsFiltersAndRanges) {
  session("a", "one", "p1");
  session("b", "two", "p2");
  append("a",
         {answer("r1", used(1), "m1", "2026-02-28"), answer("r2", used(2), "m2", "2026-03-01")});
  append("b", {answer("r3", used(4), "m1", "2026-03-02"), answer("r4", used(8), "", "2027-01-01")});
  EXPECT_EQ(by(UsageBy::kDay),
            "2026-02-28:1:1 2026-03-01:1:2 2026-03-02:1:4 2027-01-01:1:8 = 4:15");
  EXPECT_EQ(by(UsageBy::kWeek), "2026-W09:2:3 2026-W10:1:4 2026-W53:1:8 = 4:15");
  EXPECT_EQ(by(UsageBy::kMonth), "2026-02:1:1 2026-03:2:6 2027-01:1:8 = 4:15");
  EXPECT_EQ(by(UsageBy::kAgent), "one:2:3 two:2:12 = 4:15");
  EXPECT_EQ(by(UsageBy::kProject), "p1:2:3 p2:2:12 = 4:15");
  // A request that names no model is one of the session's.
  EXPECT_EQ(by(UsageBy::kModel), "m1:3:13 m2:1:2 = 4:15");

  EXPECT_EQ(report({.project = ProjectScope::of("p1")}).total.tokens_in, 3u);
  EXPECT_EQ(report({.project = ProjectScope::none()}).total.requests, 0u);
  EXPECT_EQ(report({.project = ProjectScope::all(), .agent = "two"}).total.tokens_in, 12u);
  EXPECT_EQ(report({.project = ProjectScope::all(), .model = "*2"}).total.tokens_in, 2u);
  constexpr std::int64_t kMarch = 1'772'323'200'000;
  EXPECT_EQ(report({.project = ProjectScope::all(), .from_ms = kMarch}).total.tokens_in, 14u);
  EXPECT_EQ(report({.project = ProjectScope::all(), .to_ms = kMarch}).total.tokens_in, 1u);

  const UsageReport divided =
      report({.by = UsageBy::kMonth, .then_by = UsageBy::kModel, .project = ProjectScope::all()});
  ASSERT_EQ(divided.groups.size(), 3u);
  ASSERT_EQ(divided.groups[1].parts.size(), 2u);
  EXPECT_EQ(divided.groups[1].parts[0].name, "m1");
  EXPECT_EQ(divided.groups[1].parts[0].sum.tokens_in, 4u);
  EXPECT_EQ(divided.groups[1].parts[1].sum.tokens_in, 2u);
}

// A copy in another project does not count there, whoever asks: parts add up to the whole.
TEST_P(UsageContract, ProjectsAddUp) {
  session("a", {}, "p1");
  session("b", {}, "p2");
  append("a", {answer("r1", used(1))});
  append("b", {answer("r1", used(1)), answer("r2", used(2))});
  EXPECT_EQ(report({.project = ProjectScope::of("p1")}).total.tokens_in, 1u);
  EXPECT_EQ(report({.project = ProjectScope::of("p2")}).total.tokens_in, 2u);
  EXPECT_EQ(report().total.tokens_in, 3u);
}

TEST_P(UsageContract, CostsRecordedAndComputedAreKeptApart) {
  session("a");
  append("a", {answer("r1", used(1'000'000, R"(,"costUsd":0.5)")), answer("r2", used(1'000'000)),
               answer("r3", used(1'000'000, R"(,"costUsd":0)")), answer("r4", used(9), "free*")});
  const auto prices = PriceList::parse(
      R"({"version":1,"updated":"2026-01-01","currency":"USD","models":[{"match":"m","inputPerMTok":2}]})");
  ASSERT_TRUE(prices.ok());
  UsageReport all = report({.project = ProjectScope::all(), .prices = &*prices});
  EXPECT_EQ(all.total.cost_recorded_nano_usd, 500'000'000);
  EXPECT_EQ(all.total.cost_computed_nano_usd, 4'000'000'000);
  EXPECT_EQ(all.total.unpriced, 1u);
  ASSERT_EQ(all.unpriced.size(), 1u);
  EXPECT_EQ(all.unpriced[0].name, "free*");
  EXPECT_EQ(all.unpriced[0].sum.tokens_in, 9u);
  all = report();
  EXPECT_EQ(all.total.cost_nano_usd(), 500'000'000);
  EXPECT_EQ(all.total.cost_computed_nano_usd, 0);
  EXPECT_EQ(all.total.unpriced, 3u);
}

TEST_P(UsageContract, EveryDayHasItsPrice) {
  session("a");
  append("a", {answer("r1", used(1'000'000), "m", "2026-03-01"),
               answer("r2", used(1'000'000), "m", "2026-03-02"),
               answer("r3", used(1'000'000), "n", "2026-03-02")});
  const auto prices = PriceList::parse(
      R"({"version":1,"updated":"2026-01-01","currency":"USD","models":[{"match":"m","inputPerMTok":2},)"
      R"({"match":"m","from":"2026-03-02","inputPerMTok":16},{"match":"n","inputPerMTok":128}]})");
  ASSERT_TRUE(prices.ok());
  EXPECT_EQ(report({.project = ProjectScope::all(), .prices = &*prices}).total.cost_nano_usd(),
            146'000'000'000);
}

TEST_P(UsageContract, LatencyWhereItWasMeasured) {
  session("a");
  std::vector<NewEntry> entries;
  for (int i = 1; i <= 200; ++i) {
    entries.push_back(
        answer("r" + std::to_string(i), used(1, R"(,"latencyMs":)" + std::to_string(i))));
  }
  entries.push_back(answer("x", used(1)));
  append("a", entries);
  EXPECT_EQ(report().total.latency,
            (UsageLatency{.requests = 200, .p50_ms = 100, .p90_ms = 180, .p99_ms = 198}));
}

TEST_P(UsageContract, RecordsAreAddedOnce) {
  UsageStore usage(*store_);
  const UsageRecord records[] = {record("q1", 1), record("q2", 2), record("q1", 1)};
  auto added = usage.add(records);
  ASSERT_TRUE(added.ok()) << added.error().message();
  EXPECT_EQ(added->added, 2u);
  EXPECT_EQ(added->present, 1u);
  const UsageRecord again[] = {record("q2", 2), record("q3", 4)};
  added = usage.add(again);
  ASSERT_TRUE(added.ok()) << added.error().message();
  EXPECT_EQ(added->added, 1u);
  EXPECT_EQ(added->present, 1u);
  EXPECT_EQ(by(UsageBy::kModel), "m:3:7 = 3:7");
  reopen();
  EXPECT_EQ(by(UsageBy::kModel), "m:3:7 = 3:7");
  EXPECT_EQ(store_->sessions().session_ids()->size(), 0u) << "it is no session";
}

TEST_P(UsageContract, OtherNumbersOfARecordedRequestAreRefused) {
  UsageStore usage(*store_);
  ASSERT_TRUE(usage.add(std::vector{record("q1", 1)}).ok());
  const auto other = usage.add(std::vector{record("q2", 2), record("q1", 5)});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code(), Code::kIdConflict);
  const auto twice = usage.add(std::vector{record("q3", 2), record("q3", 5)});
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code(), Code::kIdConflict);
  EXPECT_EQ(by(UsageBy::kModel), "m:1:1 = 1:1");
}

TEST_P(UsageContract, BadRecordsAreRefusedWhole) {
  UsageStore usage(*store_);
  UsageRecord bad = record("", 1);
  EXPECT_EQ(usage.add(std::vector{record("q1", 1), bad}).error().code(), Code::kInvalidArgument);
  bad = record("q2", 1);
  bad.timestamp = "yesterday";
  EXPECT_EQ(usage.add(std::vector{bad}).error().code(), Code::kInvalidArgument);
  bad = record("q2", 1);
  bad.usage.cost_usd = -1;
  EXPECT_EQ(usage.add(std::vector{bad}).error().code(), Code::kInvalidArgument);
  bad.usage.cost_usd = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(usage.add(std::vector{bad}).error().code(), Code::kInvalidArgument);
  EXPECT_TRUE(usage.add({}).ok());
  EXPECT_EQ(by(UsageBy::kModel), "= 0:0");
}

// A proxy knows what an answer took; a session knows what it was for.
TEST_P(UsageContract, ASessionAndARecordOfOneRequest) {
  session("a", "agent", "project");
  append("a", {answer("q1", used(10)), answer("q2", used(20, R"(,"costUsd":1,"latencyMs":5)"))});
  UsageRecord first = record("q1", 11);
  first.usage.cost_usd = 2;
  first.usage.latency_ms = 7;
  UsageRecord second = record("q2", 22);
  second.usage.cost_usd = 9;
  second.usage.latency_ms = 9;
  UsageRecord third = record("q3", 33);
  third.session_id = "a";
  UsageRecord fourth = record("q4", 44);
  fourth.agent_id = "proxy";
  fourth.session_id = "gone";
  ASSERT_TRUE(UsageStore(*store_).add(std::vector{first, second, third, fourth}).ok());
  const UsageReport all = report();
  EXPECT_EQ(all.total.tokens_in, 10u + 20 + 33 + 44) << "the session's word";
  EXPECT_EQ(all.total.cost_recorded_nano_usd, 3'000'000'000) << "what it does not say";
  EXPECT_EQ(all.total.latency.p50_ms, 5u);
  EXPECT_EQ(all.total.latency.p99_ms, 7u);
  EXPECT_EQ(by(UsageBy::kSession), "a:3:63 gone:1:44 = 4:107");
  EXPECT_EQ(by(UsageBy::kAgent), "agent:3:63 proxy:1:44 = 4:107");
  EXPECT_EQ(by(UsageBy::kProject), ":1:44 project:3:63 = 4:107");
}

// Whatever the order in which sessions come, asked for in between or not: the same sums.
TEST_P(UsageContract, AnyOrderGivesTheSameTotals) {
  const char* given = std::getenv("QUIPU_TEST_SEED");
  const auto seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
  std::cerr << "QUIPU_TEST_SEED=" << seed << '\n';
  std::mt19937 random(static_cast<unsigned>(seed));
  struct Planned {
    std::string session;
    NewEntry entry;
  };
  std::vector<Planned> plan;
  for (int i = 0; i < 60; ++i) {
    const std::string request = "r" + std::to_string(random() % 30);
    // Of one request all speak alike: which of them counts is another test's business.
    plan.push_back({"s" + std::to_string(random() % 5),
                    answer(request, used(std::stoi(request.substr(1)) + 1),
                           "m" + std::to_string(request.size()),
                           "2026-03-0" + std::to_string(1 + std::stoi(request.substr(1)) % 9))});
  }
  std::string expected;
  for (int round = 0; round < 3; ++round) {
    std::shuffle(plan.begin(), plan.end(), random);
    const FreshStore place(GetParam(), 1 + round);
    Store store = Store::open(place.url(), {.create = true}).value();
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(store.sessions().create_session({.id = "s" + std::to_string(i)}).ok());
    }
    for (const Planned& one : plan) {
      ASSERT_TRUE(store.sessions().append_session_entries(one.session, {&one.entry, 1}).ok());
      if (random() % 8 == 0) {
        ASSERT_TRUE(UsageStore(store).aggregate({.project = ProjectScope::all()}).ok());
      }
    }
    const auto all = UsageStore(store).aggregate(
        {.by = UsageBy::kDay, .then_by = UsageBy::kModel, .project = ProjectScope::all()});
    ASSERT_TRUE(all.ok());
    std::string text = std::to_string(all->total.requests);
    for (const UsageGroup& day : all->groups) {
      for (const UsageGroup& model : day.parts) {
        text += " " + day.name + model.name + "=" + std::to_string(model.sum.tokens_in);
      }
    }
    if (round == 0) expected = text;
    EXPECT_EQ(text, expected);
  }
}

TEST_P(UsageContract, ACopiedStoreSaysTheSame) {
  session("a", "agent", "project");
  append("a", {answer("r1", used(10))});
  ASSERT_TRUE(UsageStore(*store_).add(std::vector{record("q1", 1)}).ok());
  Store other = Store::open("memory:").value();
  UsageRecord theirs = record("q2", 2);
  ASSERT_TRUE(UsageStore(other).add(std::vector{theirs}).ok());
  for (int time = 0; time < 2; ++time) {
    const auto copied = copy_store(*store_, other);
    ASSERT_TRUE(copied.ok()) << copied.error().message();
    const auto sums = UsageStore(other).aggregate({.project = ProjectScope::all()});
    ASSERT_TRUE(sums.ok());
    EXPECT_EQ(sums->total.tokens_in, 13u);
  }
}

std::string engine_name(const testing::TestParamInfo<Engine>& engine) {
  constexpr const char* kNames[] = {"Memory", "File", "Sqlite", "Postgres"};
  return kNames[static_cast<int>(engine.param)];
}

INSTANTIATE_TEST_SUITE_P(Stores, UsageContract,
                         testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                         Engine::kPostgres),
                         engine_name);

}  // namespace
}  // namespace quipu::test
