// Crashes and failed calls under appends of events, under new segments and under a tail that
// writes the journal.
//
// Whatever happens: what was acknowledged is there once; what was given out is there, in its
// place, so that its cursor goes on; and a tail that goes on from there gives the rest, each
// entry of each session once.
#include <cerrno>

#include "fault/agent_sweep.h"
#include "support/event_reader.h"

namespace quipu::fault {
namespace {

using test::event_of;

constexpr EventOptions kTiny{.segment_bytes = 900};
constexpr std::chrono::milliseconds kNow{0};

struct Known {
  std::vector<std::string> acknowledged;  // ids of events
  std::vector<Event> given;
  /// The disk would not confirm what everybody could read: it may be told of and vanish,
  /// which is told then.
  bool is_unsure = false;
};

void say(Store& store, const std::string& session, const std::string& id, Known& known) {
  const NewEntry entry = test::message(id, "user", "hi");
  const auto said = store.sessions().append_session_entries(session, {&entry, 1});
  if (test::code_of(said) == Code::kDurabilityUnknown) known.is_unsure = true;
}

void append(EventStore& events, const std::string& id, Known& known) {
  const NewEvent event = event_of("t", id);
  if (events.append({&event, 1}).ok()) known.acknowledged.push_back(id);
}

void take(EventTail& tail, Known& known) {
  for (;;) {
    auto events = tail.next(kNow);
    if (!events.ok() || events->empty()) return;
    for (Event& event : *events) known.given.push_back(std::move(event));
  }
}

void work(Store& store, Known& known) {
  EventStore events(store, kTiny);
  auto tail = events.tail({}, {.batch = 2});
  if (!tail.ok()) return;
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    append(events, "e" + number, known);
    say(store, kSession, "m" + number, known);
    take(*tail, known);
    if (i != 1) continue;
    const auto made = store.sessions().create_session({.id = "s2"});
    if (test::code_of(made) == Code::kDurabilityUnknown) known.is_unsure = true;
  }
  append(events, "last", known);
}

std::vector<std::string> lines(const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const Event& event : events) all.push_back(event.cursor + " " + event.id);
  return all;
}

void judge(Store& store, const Known& known) {
  EventStore events(store, kTiny);
  // A log that lost its end and not its size is noticed when somebody goes on with it.
  Known ignored;
  if (known.is_unsure) say(store, kSession, "after", ignored);
  const std::string cursor = known.given.empty() ? std::string() : known.given.back().cursor;
  auto tail = events.tail(cursor);
  ASSERT_TRUE(tail.ok()) << tail.error().message();
  Known rest;
  take(*tail, rest);
  std::vector<Event> all = known.given;
  all.insert(all.end(), rest.given.begin(), rest.given.end());

  auto again = events.tail();
  ASSERT_TRUE(again.ok());
  const std::vector<Event> whole = test::all_of(*again);
  ASSERT_EQ(lines(whole), lines(all));
  test::expect_complete(store, all);
  std::map<std::string, int> times;
  for (const Event& event : all) {
    ++times[event.id];
    const bool is_taken_back =
        event.type == "quipu.session_replaced" || event.type == "quipu.session_removed";
    EXPECT_TRUE(known.is_unsure || !is_taken_back);
  }
  for (const auto& [id, count] : times) ASSERT_EQ(1, count) << id;
  for (const std::string& id : known.acknowledged) ASSERT_EQ(1, times[id]) << id;
  // And it goes on.
  const NewEvent more = event_of("t", "more");
  ASSERT_TRUE(events.append({&more, 1}).ok());
  Known after;
  take(*tail, after);
  ASSERT_EQ(1u, after.given.size());
  ASSERT_EQ("more", after.given[0].id);
}

const Sweep<Known> kSweep{work, judge};

TEST(EventsSweep, ACrashSkipsNothingAndRepeatsNothing) { kSweep.crash_everywhere(); }

TEST(EventsSweep, NeitherDoesAFailedCall) {
  for (const int error : {ENOSPC, EIO}) kSweep.fail_everywhere(error);
}

// One process is killed after every call in turn while another goes on.
TEST(EventsSweep, OneWhoTailsIsKilledAndOthersGoOn) {
  const SimDisk prepared = disk_with_session();
  for (std::uint64_t call = 0;; call += calls_apart()) {
    SCOPED_TRACE("after call " + std::to_string(call));
    SimDisk disk = prepared;
    Known known;
    auto process = disk.process();
    fs::SimFs& victim = *process;
    Handle first(2);
    Handle second(3);
    ASSERT_TRUE(first.open(std::move(process)).ok());
    ASSERT_TRUE(second.open(disk.process()).ok());
    auto tail = EventStore(second.store(), kTiny).tail();
    ASSERT_TRUE(tail.ok());
    Known others;
    take(*tail, others);
    victim.set_faults({.crash_after = call});
    work(first.store(), known);
    const bool is_over = !victim.dead();
    take(*tail, others);
    // What the first was given stands in what the second got.
    ASSERT_LE(known.given.size(), others.given.size());
    const auto whole = lines(others.given);
    const auto seen = lines(known.given);
    ASSERT_TRUE(std::equal(seen.begin(), seen.end(), whole.begin()));
    // Nor is it lost with the power: what was given out is on the disk, whoever wrote it.
    others.is_unsure = true;
    SeenImages images;
    for (const fs::CrashPolicy& policy : fs::all_crash_policies()) {
      SimDisk after = disk.crash(policy, 1);
      if (!images.insert(policy, after)) continue;
      SCOPED_TRACE(fs::name(policy));
      Handle third(4);
      ASSERT_TRUE(third.open(after.process()).ok());
      judge(third.store(), others);
    }
    judge(second.store(), known);
    if (::testing::Test::HasFailure()) return;
    if (is_over) {
      EXPECT_GT(call, 100u);
      return;
    }
  }
}

}  // namespace
}  // namespace quipu::fault
