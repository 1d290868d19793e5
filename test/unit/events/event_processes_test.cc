// Several processes write sessions and events while others tail, of which some are killed with
// SIGKILL again and again and go on from the last cursor that they noted: everybody gets the
// same events in the same order, each once, and the feed is what the sessions hold.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "support/event_reader.h"
#include "support/fresh_store.h"
#include "support/scale.h"

namespace quipu::test {
namespace {

using Lines = std::vector<std::string>;

constexpr int kWriters = 3;
constexpr EventOptions kSmall{.segment_bytes = 6000};
constexpr const char* kEnd = "end";

int rounds(Engine engine) {
  const double usual = engine == Engine::kPostgres ? 60 : 400;
  return std::max(5, static_cast<int>(usual * test_scale()));
}

// In a process or thread of its own.
void write(const std::string& url, int me, int rounds) {
  Store store = must(Store::open(url));
  EventStore events(store, kSmall);
  const std::string own = "own" + std::to_string(me);
  must(store.sessions().create_session({.id = own}));
  for (int i = 0; i < rounds; ++i) {
    const std::string id = std::to_string(me) + "-" + std::to_string(i);
    const NewEntry batch[] = {message(id + "a", "user", "x"), message(id + "b", "user", "y")};
    must(store.sessions().append_session_entries(i % 3 == 0 ? "shared" : own, batch));
    const NewEvent event = event_of("w" + std::to_string(me), "e" + id);
    if (i % 2 == 0) must(events.append({&event, 1}));
  }
}

std::string line_of(const Event& event) { return event.cursor + " " + event.id + "\n"; }

// Notes each event with its cursor, goes on where the notes end.
void tail_into(const std::string& url, const std::string& notes) {
  std::ifstream before(notes);
  std::string cursor;
  for (std::string line; std::getline(before, line);) cursor = line.substr(0, line.find(' '));
  Store store = must(Store::open(url));
  auto tail = must(EventStore(store, kSmall).tail(cursor, {.batch = 7}));
  const int file = ::open(notes.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  for (;;) {
    std::string lines;
    bool is_over = false;
    for (const Event& event : must(tail.next(std::chrono::seconds(10)))) {
      lines += line_of(event);
      is_over = is_over || event.type == kEnd;
    }
    // One call: a kill comes before or after it.
    if (::write(file, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) return;
    if (is_over) return;
  }
}

template <class Work>
pid_t in_process(Work work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 0;
  try {
    work();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    code = 1;
  }
  ::_exit(code);
}

int end_of_process(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class EventProcesses : public ::testing::TestWithParam<Engine> {};

TEST_P(EventProcesses, EverybodyGetsTheSameAndEverything) {
  const FreshStore place(GetParam());
  ScratchDir scratch;
  {
    must(must(Store::open(place.url(), {.create = true}))
             .sessions()
             .create_session({.id = "shared"}));
  }
  std::vector<pid_t> writers;
  for (int me = 0; me < kWriters; ++me) {
    writers.push_back(in_process([&, me] { write(place.url(), me, rounds(GetParam())); }));
  }
  const std::string whole = scratch.path() + "/whole";
  const std::string killed = scratch.path() + "/killed";
  const pid_t calm = in_process([&] { tail_into(place.url(), whole); });
  // Killed as soon as it has noted something more.
  int kills = 0;
  for (std::size_t noted = 0; !writers.empty();) {
    const pid_t victim = in_process([&] { tail_into(place.url(), killed); });
    while (text_of(killed).size() <= noted && ::waitpid(writers.front(), nullptr, WNOHANG) == 0) {
      ::sched_yield();
    }
    if (text_of(killed).size() <= noted) writers.erase(writers.begin());
    noted = text_of(killed).size();
    ::kill(victim, SIGKILL);
    end_of_process(victim);
    ++kills;
  }
  // With few rounds the writers may be done before it has noted anything.
  EXPECT_GT(kills, test_scale() >= 1 ? kWriters : 0);
  Store store = must(Store::open(place.url()));
  const NewEvent end = event_of(kEnd, "the-end");
  // The last changes are told before it.
  {
    auto tail = must(EventStore(store, kSmall).tail());
    all_of(tail);
  }
  must(EventStore(store, kSmall).append({&end, 1}));
  EXPECT_EQ(0, end_of_process(calm));
  EXPECT_EQ(0, end_of_process(in_process([&] { tail_into(place.url(), killed); })));

  auto tail = must(EventStore(store).tail());
  const auto events = all_of(tail);
  expect_complete(store, events);
  std::string lines;
  std::map<std::string, int> said;
  for (const Event& event : events) {
    lines += line_of(event);
    if (event.type.starts_with("w")) ++said[event.type];
    EXPECT_NE("quipu.session_replaced", event.type);
  }
  EXPECT_EQ(lines, text_of(whole));
  EXPECT_EQ(lines, text_of(killed));
  ASSERT_EQ(std::size_t{kWriters}, said.size());
  for (const auto& [type, count] : said) EXPECT_EQ((rounds(GetParam()) + 1) / 2, count) << type;
  // What the writers said fills one; how much is told of sessions depends on who looks when.
  EXPECT_GT(must(EventStore(store).segments()).size(), test_scale() >= 1 ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(Engines, EventProcesses,
                         ::testing::Values(Engine::kFile, Engine::kSqlite, Engine::kPostgres));

class EventThreads : public ::testing::TestWithParam<Engine> {};

TEST_P(EventThreads, EverybodyGetsTheSameAndEverything) {
  const FreshStore place(GetParam());
  Store store = must(Store::open(place.url(), {.create = true}));
  must(store.sessions().create_session({.id = "shared"}));
  std::vector<std::thread> threads;
  std::atomic<int> writing = kWriters;
  const int rounds = std::max(5, static_cast<int>(40 * test_scale()));
  std::array<std::vector<Event>, 3> seen;
  for (auto& events : seen) {
    threads.emplace_back([&] {
      auto tail = must(EventStore(store, kSmall).tail({}, {.batch = 5}));
      for (bool is_over = false; !is_over;) {
        for (Event& event : must(tail.next(std::chrono::seconds(10)))) {
          is_over = is_over || event.type == kEnd;
          events.push_back(std::move(event));
        }
      }
    });
  }
  for (int me = 0; me < kWriters; ++me) {
    threads.emplace_back([&, me] {
      EventStore events(store, kSmall);
      for (int i = 0; i < rounds; ++i) {
        const std::string id = std::to_string(me) + "-" + std::to_string(i);
        const NewEntry entry = message(id, "user", "x");
        must(store.sessions().append_session_entries("shared", {&entry, 1}));
        const NewEvent event = event_of("w", id);
        must(events.append({&event, 1}));
      }
      if (--writing > 0) return;
      auto tail = must(events.tail());
      all_of(tail);
      const NewEvent end = event_of(kEnd);
      must(events.append({&end, 1}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect_complete(store, seen[0]);
  EXPECT_EQ(static_cast<std::size_t>(2 * kWriters * rounds + 2), seen[0].size());
  for (const auto& events : seen) {
    ASSERT_EQ(seen[0].size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(line_of(seen[0][i]), line_of(events[i]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, EventThreads,
                         ::testing::Values(Engine::kMemory, Engine::kFile, Engine::kSqlite,
                                           Engine::kPostgres));

}  // namespace
}  // namespace quipu::test
