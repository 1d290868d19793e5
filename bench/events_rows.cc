#include "quipu/events.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "measure.h"
#include "rows.h"

namespace quipu::bench {
namespace {

using Kind = Bar::Kind;
using std::chrono::milliseconds;

constexpr std::size_t kSessionsMax = 1'000;
constexpr std::size_t kBatch = 512;
const std::string kSession = "s0";

Store open_events_store(const Fixture& fixture) {
  return must(Store::open(fixture.file("events").string(), {.create = true}), "open");
}

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

double cpu_ns() {
  rusage used{};
  check(::getrusage(RUSAGE_SELF, &used) == 0, "getrusage");
  const auto ns = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

std::size_t drain(EventTail& tail) {
  for (std::size_t events = 0;;) {
    const auto more = must(tail.next(milliseconds::zero()), "tail");
    if (more.empty()) return events;
    events += more.size();
  }
}

// Events that programs append: batches, one after the other.
std::vector<Row> throughput(Store& store, std::size_t batches) {
  EventStore events(store);
  std::vector<NewEvent> batch(kBatch);
  for (NewEvent& event : batch) {
    event.type = "request.done";
    event.source = "bench";
    event.payload = R"({"model":"m","tokensIn":1200,"tokensOut":80,"latencyMs":912,"ok":true})";
  }
  TailOptions from_now;
  from_now.from_now = true;
  auto tail = must(events.tail({}, from_now), "tail");
  const double stored = median_cost(batches, [&](std::size_t) {
    check(must(events.append(batch), "append").appended == kBatch, "events were lost");
  });
  const Stopwatch watch;
  check(drain(tail) == kBatch * batches, "events were skipped");
  const double read = watch.nanoseconds() / static_cast<double>(batches);
  return {{.name = "events: appended in batches of 512, durable",
           .unit = Unit::kPerSecond,
           .ours = kBatch * 1e9 / stored},
          {.name = "events: read by a tail that catches up",
           .unit = Unit::kPerSecond,
           .ours = kBatch * 1e9 / read}};
}

void append(Store& store) {
  NewEntry entry;
  entry.type = "message";
  entry.payload = R"({"role":"user","content":"hi"})";
  must(store.sessions().append_session_entries(kSession, {&entry, 1}), "append");
}

// Another process tails. From the beginning of an append to the event in the other process's
// hands: both make something durable on the way.
std::vector<Row> latency(const Fixture& fixture, std::size_t appends) {
  std::array<int, 2> ends{};
  check(::pipe(ends.data()) == 0, "pipe");
  const pid_t child = ::fork();
  check(child >= 0, "fork");
  if (child == 0) {
    Store store = open_events_store(fixture);
    TailOptions from_now;
    from_now.from_now = true;
    auto tail = must(EventStore(store).tail({}, from_now), "tail");
    std::int64_t at = 0;
    for (std::size_t seen = 0; seen <= appends; ++seen) {
      // The first says that it is ready.
      const bool is_good = ::write(ends[1], &at, sizeof at) == sizeof at;
      if (!is_good || seen == appends) break;
      while (must(tail.next(milliseconds(10'000)), "tail").empty()) {
      }
      at = now_ns();
    }
    ::_exit(0);
  }
  const auto receive = [&] {
    std::int64_t at = 0;
    check(::read(ends[0], &at, sizeof at) == sizeof at, "the other process ended");
    return at;
  };
  Store store = open_events_store(fixture);
  receive();
  std::vector<double> costs;
  for (std::size_t i = 0; i < appends; ++i) {
    const std::int64_t began = now_ns();
    append(store);
    costs.push_back(static_cast<double>(receive() - began));
  }
  int status = 0;
  check(::waitpid(child, &status, 0) == child && status == 0, "the other process failed");
  for (const int end : ends) ::close(end);
  std::sort(costs.begin(), costs.end());
  return {{.name = "events: append here, event in another process, p50", .ours = median(costs)},
          {.name = "events: append here, event in another process, slowest",
           .ours = costs.back(),
           .bar = Bar{Kind::kOursAtMost, 200e6}}};
}

Row idle(Store& store, std::size_t sessions, milliseconds time) {
  auto tail = must(EventStore(store).tail(), "tail");
  drain(tail);
  const double before = cpu_ns();
  check(must(tail.next(time), "tail").empty(), "something happened");
  const double seconds = std::chrono::duration<double>(time).count();
  return {.name = "events: a tail that waits, " + std::to_string(sessions) +
                  " sessions, CPU per second",
          .ours = (cpu_ns() - before) / seconds,
          .bar = Bar{Kind::kOursAtMost, 10e6}};
}

}  // namespace

std::vector<Row> events_rows(Fixture& fixture) {
  const bool is_small = fixture.sizes().catalogue_sessions < kSessionsMax;
  const std::size_t sessions = std::min(kSessionsMax, fixture.sizes().catalogue_sessions);
  Store store = open_events_store(fixture);
  for (std::size_t i = 0; i < sessions; ++i) {
    must(store.sessions().create_session({.id = "s" + std::to_string(i)}), "create");
  }
  append(store);
  fixture.scratch().settle();
  auto first = must(EventStore(store).tail(), "tail");
  const Stopwatch watch;
  check(drain(first) == sessions + 1, "entries were skipped");
  const double told = watch.nanoseconds() / static_cast<double>(sessions);
  std::vector<Row> rows{{.name = "events: first tail of a store, per session", .ours = told}};
  const auto add = [&](std::vector<Row> more) {
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  };
  add(throughput(store, is_small ? 5 : 200));
  must(store.close(), "close");
  add(latency(fixture, is_small ? 5 : 300));
  Store again = open_events_store(fixture);
  rows.push_back(idle(again, sessions, is_small ? milliseconds(200) : milliseconds(10'000)));
  must(again.close(), "close");
  return rows;
}

}  // namespace quipu::bench
