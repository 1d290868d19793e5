// Events and the feed of the store's changes, on every engine.
#include "quipu/events.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "backend/backend.h"
#include "contract/random_history.h"
#include "quipu/memory.h"
#include "quipu/usage.h"
#include "support/event_reader.h"
#include "support/fresh_store.h"
#include "support/scale.h"

namespace quipu::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Lines = std::vector<std::string>;

class Events : public ::testing::TestWithParam<Engine> {
 protected:
  Store& store() { return store_; }
  EventStore events(const EventOptions& options = {}) { return EventStore(store_, options); }
  // The store as another process has it; where there are no others, the same.
  Store another() {
    if (GetParam() == Engine::kMemory) return Store(store_.backend());
    return must(Store::open(place_.url(), {.clock = &clock_}));
  }
  void say(const std::string& session, const std::string& id) {
    const NewEntry entry = message(id, "user", "hi");
    must(store_.sessions().append_session_entries(session, {&entry, 1}));
  }
  void create(const std::string& session) {
    must(store_.sessions().create_session({.id = session}));
  }
  Lines append(EventStore& events, const Lines& types) {
    std::vector<NewEvent> batch;
    for (const std::string& type : types) batch.push_back(event_of(type));
    return must(events.append(batch)).ids;
  }
  Lines all(const std::string& cursor = {}) {
    auto tail = must(EventStore(store_).tail(cursor));
    return told(all_of(tail));
  }

  ManualClock clock_;
  FreshStore place_{GetParam()};
  Store store_ = must(Store::open(place_.url(), {.create = true, .clock = &clock_}));
};

// A segment that takes one batch.
constexpr EventOptions kTiny{.segment_bytes = 1};

TEST_P(Events, ComeAsTheyWereAppended) {
  NewEvent full = event_of("deploy", "e1", R"({"a": [1, 2]})");
  full.source = "ci";
  full.timestamp = "2026-03-01T09:30:00.000Z";
  EventStore store = events();
  const NewEvent batch[] = {full, event_of("plain")};
  const EventsAppended done = must(store.append(batch));
  EXPECT_EQ(2u, done.appended);
  ASSERT_EQ(2u, done.ids.size());
  EXPECT_EQ("e1", done.ids[0]);

  auto tail = must(store.tail());
  const auto got = all_of(tail);
  ASSERT_EQ(2u, got.size());
  EXPECT_EQ("e1", got[0].id);
  EXPECT_EQ("deploy", got[0].type);
  EXPECT_EQ("ci", got[0].source);
  EXPECT_EQ("2026-03-01T09:30:00.000Z", got[0].timestamp);
  EXPECT_EQ(R"({"a": [1, 2]})", got[0].payload);
  EXPECT_EQ(done.ids[1], got[1].id);
  EXPECT_EQ("", got[1].source);
  EXPECT_FALSE(got[1].timestamp.empty());
  EXPECT_EQ(got[1].cursor, tail.cursor());
  EXPECT_FALSE(tail.journal_problem());
}

TEST_P(Events, TellOfAllThatIsDoneToSessions) {
  create("s1");
  say("s1", "a");
  must(events().append(std::vector{event_of("between")}));
  NewEntry info;
  info.id = "i";
  info.type = "session_info";
  info.payload = R"({"title":"T","archived":true})";
  must(store().sessions().append_session_entries("s1", {&info, 1}));
  ForkOptions fork;
  fork.new_id = "s2";
  must(store().sessions().branch_from_entry("s1", "a", fork));
  say("s2", "b");
  NewEntry redaction;
  redaction.id = "r";
  redaction.type = "redaction";
  redaction.payload = R"({"targetEntryId":"a","reason":"secret"})";
  must(store().sessions().append_session_entries("s1", {&redaction, 1}));

  auto tail = must(events().tail());
  const auto got = all_of(tail);
  ASSERT_EQ(7u, got.size());
  EXPECT_EQ("between", told(got[0]));  // it was in the log before anybody looked
  EXPECT_EQ("quipu.session_created", got[1].type);
  EXPECT_EQ("s1", member_of(got[1], "session"));
  EXPECT_EQ("entry_appended s1/1 a", told(got[2]));
  EXPECT_EQ("message", member_of(got[2], "type"));
  EXPECT_EQ("session_changed s1/2 i", told(got[3]));
  EXPECT_EQ("entry_redacted s1/3 r", told(got[4]));
  EXPECT_EQ("a", member_of(got[4], "target"));
  EXPECT_EQ("quipu.session_created", got[5].type);
  EXPECT_EQ("1", member_of(got[5], "ordinal"));  // after what it inherits
  EXPECT_EQ("entry_appended s2/2 b", told(got[6]));
  expect_complete(store(), got);
  std::set<std::string> ids;
  for (const Event& event : got) ids.insert(event.id);
  EXPECT_EQ(got.size(), ids.size());
}

TEST_P(Events, TellOfTheLogsOfTheStoresOwn) {
  MemoryStore memory(store());
  MemoryNode node;
  node.id = "n";
  node.text = "remember";
  must(memory.upsert({&node, 1}));
  auto tail = must(events().tail());
  const auto remembered = all_of(tail);
  ASSERT_EQ(2u, remembered.size());  // a header before it
  EXPECT_EQ("fact.quipu.memory", member_of(remembered[1], "type"));
  const Lines ids{"n"};
  must(memory.forget(ids));
  UsageRecord record;
  record.request_id = "r";
  must(UsageStore(store()).add({&record, 1}));
  const auto got = all_of(tail);
  ASSERT_EQ(3u, got.size());
  EXPECT_EQ("quipu.memory_changed", got[0].type);
  EXPECT_EQ("memory", member_of(got[0], "log"));
  EXPECT_EQ("fact.quipu.forget", member_of(got[0], "type"));
  EXPECT_EQ("quipu.usage_changed", got[1].type);  // its header
  EXPECT_EQ("quipu.usage_changed", got[2].type);
  EXPECT_EQ("usage", member_of(got[2], "type"));
  EXPECT_TRUE(all_of(tail).empty());
}

TEST_P(Events, GoOnAfterEveryCursor) {
  create("s1");
  for (int i = 0; i < 5; ++i) say("s1", "a" + std::to_string(i));
  EventStore store_events = events(kTiny);
  append(store_events, {"x", "y"});
  append(store_events, {"z"});
  TailOptions few;
  few.batch = 2;
  auto tail = must(store_events.tail({}, few));
  const auto got = all_of(tail);
  ASSERT_EQ(9u, got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(got[i].cursor);
    auto rest = must(events().tail(got[i].cursor));
    const auto after = all_of(rest);
    ASSERT_EQ(got.size() - i - 1, after.size());
    for (std::size_t k = 0; k < after.size(); ++k) {
      EXPECT_EQ(got[i + 1 + k].cursor, after[k].cursor);
      EXPECT_EQ(got[i + 1 + k].id, after[k].id);
    }
  }
}

TEST_P(Events, AreTheSameForEverybody) {
  Store other = another();
  auto mine = must(events().tail());
  auto theirs = must(EventStore(other).tail());
  create("s1");
  auto first = all_of(mine);
  say("s1", "a");
  auto second = all_of(theirs);
  append(*std::make_unique<EventStore>(other), {"x"});
  say("s1", "b");
  for (Event& event : all_of(mine)) first.push_back(std::move(event));
  for (Event& event : all_of(theirs)) second.push_back(std::move(event));
  ASSERT_EQ(4u, first.size());
  EXPECT_EQ(told(first), told(second));
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].cursor, second[i].cursor);
}

TEST_P(Events, AreStoredOnce) {
  EventStore store_events = events(kTiny);
  const NewEvent a = event_of("t", "a", R"({"n":1})");
  must(store_events.append({&a, 1}));
  append(store_events, {"other"});  // in the next segment
  const auto again = must(store_events.append({&a, 1}));
  EXPECT_EQ(0u, again.appended);
  EXPECT_EQ(1u, again.already_present);
  EXPECT_EQ(Lines{"a"}, again.ids);

  const NewEvent both[] = {a, event_of("t", "b")};
  const auto half = must(EventStore(another(), kTiny).append(both));
  EXPECT_EQ(1u, half.appended);
  EXPECT_EQ(1u, half.already_present);
  EXPECT_EQ((Lines{"a", "b"}), half.ids);

  const NewEvent changed = event_of("t", "a", R"({"n":2})");
  EXPECT_EQ(Code::kIdConflict, code_of(store_events.append({&changed, 1})));
  EXPECT_EQ((Lines{"t", "other", "t"}), all());
}

TEST_P(Events, MustBeProper) {
  EventStore store_events = events();
  const auto code = [&](const NewEvent& event) {
    return code_of(store_events.append({&event, 1}));
  };
  EXPECT_EQ(Code::kInvalidArgument, code(event_of("")));
  EXPECT_EQ(Code::kInvalidArgument, code(event_of("quipu.entry_appended")));
  EXPECT_EQ(Code::kInvalidArgument, code(event_of("t", "quipu:entries:s:0:0")));
  EXPECT_EQ(Code::kInvalidArgument, code(event_of(std::string(257, 't'))));
  EXPECT_EQ(Code::kInvalidArgument, code(event_of("t", "", "[]")));
  EXPECT_EQ(Code::kInvalidArgument, code(event_of("t", "", "{")));
  const NewEvent twice[] = {event_of("t", "a"), event_of("t", "a")};
  EXPECT_EQ(Code::kBadBatch, code_of(store_events.append(twice)));
  EXPECT_EQ(0u, must(store_events.append({})).appended);
  EXPECT_TRUE(all().empty());
  // Types that mean something in a session mean nothing here.
  append(store_events, {"run_start", "redaction", "session_header", "head", "message"});
  append(store_events, {"after"});
  EXPECT_EQ((Lines{"run_start", "redaction", "session_header", "head", "message", "after"}), all());
}

TEST_P(Events, RollBySize) {
  create("s1");
  EventStore store_events = events({.segment_bytes = 4000});
  auto tail = must(store_events.tail());
  std::vector<Event> got;
  for (int i = 0; i < 40; ++i) {
    append(store_events, {"e" + std::to_string(i)});
    say("s1", "m" + std::to_string(i));
    for (Event& event : all_of(tail)) got.push_back(std::move(event));
  }
  const auto segments = must(store_events.segments());
  EXPECT_GT(segments.size(), 3u);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    EXPECT_EQ(i + 1, segments[i].number);
    EXPECT_EQ(i + 1 < segments.size(), segments[i].closed);
    EXPECT_LT(segments[i].bytes, 6000u);
  }
  EXPECT_EQ(81u, got.size());
  expect_complete(store(), got);
  auto again = must(store_events.tail());
  EXPECT_EQ(told(got), told(all_of(again)));
}

TEST_P(Events, RollByAge) {
  EventStore store_events = events({.segment_age = hours(2)});
  append(store_events, {"a"});
  clock_.advance(hours(1));
  append(store_events, {"b"});
  EXPECT_EQ(1u, must(store_events.segments()).size());
  clock_.advance(hours(1));
  append(store_events, {"c"});
  EXPECT_EQ(2u, must(store_events.segments()).size());
  clock_.advance(hours(10));  // nothing happens by itself
  EXPECT_EQ(2u, must(store_events.segments()).size());
  EXPECT_EQ((Lines{"a", "b", "c"}), all());
}

// The positions that a segment begins with are not its events.
TEST_P(Events, ManySessionsDoNotFillASegment) {
  for (int i = 0; i < 30; ++i) create("session-" + std::to_string(i));
  EventStore store_events = events({.segment_bytes = 1500});
  auto tail = must(store_events.tail());
  EXPECT_EQ(30u, all_of(tail).size());
  for (int i = 0; i < 10; ++i) append(store_events, {"t"});
  const auto segments = must(store_events.segments());
  ASSERT_GE(segments.size(), 2u);
  EXPECT_LE(segments.size(), 4u);
  EXPECT_GT(segments.back().bytes, 1500u);
  EXPECT_EQ(10u, all_of(tail).size());
}

TEST_P(Events, ArePrunedWhenAskedTo) {
  create("s1");
  EventStore store_events = events(kTiny);
  auto tail = must(store_events.tail());
  all_of(tail);
  for (const char* type : {"a", "b", "c", "d"}) {
    clock_.advance(hours(1));
    append(store_events, {type});
  }
  const auto before = must(store_events.segments());
  ASSERT_EQ(5u, before.size());
  const auto got = all_of(tail);
  ASSERT_EQ(4u, got.size());

  PruneOptions options;
  options.closed_before_ms = before[2].begun_ms + 1;  // the first two
  options.dry_run = true;
  EXPECT_EQ(2u, must(store_events.prune(options)).removed.size());
  EXPECT_EQ(5u, must(store_events.segments()).size());
  options.dry_run = false;
  const auto report = must(store_events.prune(options));
  ASSERT_EQ(2u, report.removed.size());
  EXPECT_EQ(3u, report.kept.front().number);
  EXPECT_EQ(3u, must(store_events.segments()).front().number);

  // One who has read far enough goes on; one who has not is told where to.
  EXPECT_EQ((Lines{"pruned "}), told(all_of(tail)));
  const auto late = store_events.tail(got[0].cursor);
  ASSERT_EQ(Code::kNotFound, code_of(late));
  auto rest = must(store_events.tail(late.error().actual()));
  EXPECT_EQ((Lines{"b", "c", "d", "pruned "}), told(all_of(rest)));
  EXPECT_EQ((Lines{"b", "c", "d", "pruned "}), all());
  // What was told once is not told again.
  say("s1", "m");
  EXPECT_EQ((Lines{"entry_appended s1/1 m"}), told(all_of(tail)));
}

TEST_P(Events, ArePrunedToASize) {
  EventStore store_events = events(kTiny);
  for (const char* type : {"a", "b", "c"}) append(store_events, {type});
  PruneOptions options;
  options.bytes_max = 0;
  EXPECT_EQ(2u, must(store_events.prune(options)).removed.size());  // the newest stays
  options.bytes_max = 1 << 20;
  EXPECT_TRUE(must(store_events.prune(options)).removed.empty());
  EXPECT_TRUE(must(store_events.prune({})).removed.empty());
}

TEST_P(Events, ASlowReaderIsToldThatItsSegmentWasPruned) {
  EventStore store_events = events(kTiny);
  for (const char* type : {"a", "b", "c"}) append(store_events, {type});
  TailOptions one;
  one.batch = 1;
  auto tail = must(store_events.tail({}, one));
  EXPECT_EQ(Lines{"a"}, told(must(tail.next({}))));
  must(EventStore(another()).prune({.bytes_max = 0}));
  const auto next = tail.next({});
  ASSERT_EQ(Code::kNotFound, code_of(next));
  auto rest = must(store_events.tail(next.error().actual()));
  EXPECT_EQ("c", told(all_of(rest)).front());
}

TEST_P(Events, CursorsAreChecked) {
  EventStore store_events = events();
  append(store_events, {"a", "b"});
  auto tail = must(store_events.tail());
  const std::string cursor = must(tail.next({})).front().cursor;
  for (const std::string& bad :
       {std::string("x"), std::string("1.2.3"), cursor + "0", "0" + cursor, cursor + ".",
        std::string(1000, '1'), std::string("\0\0", 2), std::string("....")}) {
    EXPECT_EQ(Code::kInvalidArgument, code_of(store_events.tail(bad))) << bad;
  }
  // Another place than it says.
  const std::size_t dot = cursor.rfind('.');
  const std::string wrong = cursor.substr(0, dot) + ".00000001";
  EXPECT_EQ(Code::kNotFound, code_of(store_events.tail(wrong)));

  FreshStore place(Engine::kFile);
  Store other = must(Store::open(place.url(), {.create = true}));
  const auto foreign = EventStore(other).tail(cursor);
  ASSERT_EQ(Code::kInvalidArgument, code_of(foreign));
  EXPECT_NE(std::string::npos, foreign.error().message().find("another store"));
}

TEST_P(Events, AreFiltered) {
  create("s1");
  create("s2");
  say("s1", "a");
  EventStore store_events = events();
  const NewEvent batch[] = {event_of("x"), event_of("y", "", R"({"session":"s1"})")};
  must(store_events.append(batch));
  TailOptions options;
  options.types = {"x", "quipu.entry_appended"};
  auto by_type = must(store_events.tail({}, options));
  EXPECT_EQ((Lines{"x", "entry_appended s1/1 a"}), told(all_of(by_type)));
  options.types = {"x"};
  auto own = must(store_events.tail({}, options));
  EXPECT_EQ(Lines{"x"}, told(all_of(own)));
  // What was passed over does not come again.
  EXPECT_TRUE(all(own.cursor()).empty());
  options.types = {};
  options.session = "s1";
  auto by_session = must(store_events.tail({}, options));
  const auto got = all_of(by_session);
  ASSERT_EQ(3u, got.size());
  EXPECT_EQ("y", got[0].type);
  EXPECT_EQ("s1", member_of(got[2], "session"));
}

TEST_P(Events, FromNowOn) {
  create("s1");
  EventStore store_events = events();
  append(store_events, {"old"});
  TailOptions options;
  options.from_now = true;
  auto tail = must(store_events.tail({}, options));
  EXPECT_TRUE(all_of(tail).empty());
  say("s1", "a");
  append(store_events, {"new"});
  EXPECT_EQ((Lines{"new", "entry_appended s1/1 a"}), told(all_of(tail)));
}

TEST_P(Events, OfAnEmptyStore) {
  auto tail = must(events().tail());
  EXPECT_TRUE(must(tail.next({})).empty());
  const std::string cursor = tail.cursor();
  create("s1");
  auto later = must(events().tail(cursor));
  EXPECT_EQ(1u, all_of(later).size());
}

TEST_P(Events, WaitAsLongAsTheyAreTold) {
  auto tail = must(events().tail());
  const auto began = clock_.monotonic();
  EXPECT_TRUE(must(tail.next(milliseconds(3000))).empty());
  EXPECT_EQ(milliseconds(3000), clock_.monotonic() - began);
}

TEST_P(Events, CanBeCancelled) {
  auto tail = must(events().tail());
  tail.cancel();
  create("s1");
  EXPECT_TRUE(must(tail.next(hours(1))).empty());
  EXPECT_TRUE(tail.is_cancelled());
  EXPECT_EQ(1u, all().size());
}

// Nobody has to look: the store's own clock, and somebody else's append.
TEST_P(Events, WakeWhoeverWaits) {
  Store live = GetParam() == Engine::kMemory ? must(Store::open("memory:"))
                                             : must(Store::open(place_.url()));
  auto tail = must(EventStore(live).tail());
  all_of(tail);
  Store other = GetParam() == Engine::kMemory ? Store(live.backend()) : another();
  std::thread writer([&] { must(other.sessions().create_session({.id = "s1"})); });
  const auto got = must(tail.next(std::chrono::minutes(1)));
  writer.join();
  ASSERT_EQ(1u, got.size());
  EXPECT_EQ("s1", member_of(got[0], "session"));
  std::thread canceller([&] { tail.cancel(); });
  EXPECT_TRUE(must(tail.next(std::chrono::minutes(1))).empty());
  canceller.join();
}

// Whatever is done to sessions: a tail that goes along has told all of it, as has one that
// comes later.
TEST_P(Events, TellOfRandomHistories) {
  const char* text = std::getenv("QUIPU_TEST_SEED");
  const std::uint64_t first =
      text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
  const auto count = static_cast<std::uint64_t>(std::max(1.0, 10 * test_scale()));
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("QUIPU_TEST_SEED=" + std::to_string(seed));
    const RandomStores stores(GetParam());
    Store& played = stores.handles().back()->store();
    EventStore store_events(played, {.segment_bytes = 2000});
    auto along = must(store_events.tail());
    std::vector<Event> events;
    const auto take = [&] {
      for (Event& event : all_of(along)) events.push_back(std::move(event));
    };
    std::atomic<bool> is_over = false;
    std::thread reader([&] {
      while (!is_over) take();
    });
    Tally tally;
    const std::string difference = play(random_ops(seed, 40), stores.handles(), tally);
    is_over = true;
    reader.join();
    ASSERT_EQ("", difference);
    take();
    expect_complete(played, events);
    auto late = must(store_events.tail());
    EXPECT_EQ(told(events), told(all_of(late)));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Events,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres));

}  // namespace
}  // namespace quipu::test
