#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <span>

#include "measure.h"
#include "raw_log.h"
#include "rows.h"

namespace quipu::bench {
namespace {

constexpr std::size_t kProcesses = 8;

class Pipe {
 public:
  Pipe() { check(::pipe(ends_.data()) == 0, "pipe"); }
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void put() const { check(::write(ends_[1], "x", 1) == 1, "write to a pipe"); }
  void take() const {
    char byte = 0;
    check(::read(ends_[0], &byte, 1) == 1, "read from a pipe");
  }

 private:
  std::array<int, 2> ends_{};
};

// What a process does before and after the starting shot.
using Worker = std::function<void(std::size_t process, const std::function<void()>& await_start)>;

// From the starting shot to the end of the last process.
double run_processes(const Worker& worker) {
  const Pipe ready;
  const Pipe start;
  std::array<pid_t, kProcesses> children{};
  for (std::size_t process = 0; process < kProcesses; ++process) {
    children[process] = ::fork();
    check(children[process] >= 0, "fork");
    if (children[process] > 0) continue;
    int code = 1;
    try {
      worker(process, [&] {
        ready.put();
        start.take();
      });
      code = 0;
    } catch (const CheckFailed&) {
    }
    if (code != 0) ready.put();  // the parent must not wait for ever
    ::_exit(code);               // the data belongs to the parent
  }
  for (std::size_t i = 0; i < kProcesses; ++i) ready.take();
  const Stopwatch watch;
  for (std::size_t i = 0; i < kProcesses; ++i) start.put();
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    good = ::waitpid(child, &status, 0) == child && status == 0 && good;
  }
  const double cost = watch.nanoseconds();
  check(good, "a process failed");
  return cost;
}

}  // namespace

std::vector<Row> process_rows(Fixture& fixture) {
  const std::size_t appends = fixture.sizes().process_appends;
  std::vector<Session> sessions;
  {
    Store store = fixture.open_store();
    for (std::size_t i = 0; i < kProcesses; ++i) {
      sessions.push_back(fixture.make_session(store, 100));
    }
    must(store.close(), "close");
  }
  fixture.scratch().settle();
  std::vector<Block> blocks(kProcesses);
  std::size_t made_for = ~std::size_t{0};
  const auto prepare = [&](std::size_t round) {
    if (made_for == round) return;
    for (std::size_t i = 0; i < kProcesses; ++i) {
      blocks[i] = fixture.block(sessions[i].work, appends + 1);
    }
    made_for = round;
  };
  const Worker with_store = [&](std::size_t process, const auto& await_start) {
    Store store = fixture.open_store();
    const auto append = [&](const NewEntry& entry) {
      const auto result =
          store.sessions().append_session_entries(sessions[process].id, {&entry, 1});
      check(result.ok() && result->durable, "a durable append failed");
    };
    const std::span<const NewEntry> entries(blocks[process].entries);
    append(entries.front());  // opens the session; opening has a row of its own
    await_start();
    for (const NewEntry& entry : entries.subspan(1)) append(entry);
  };
  const Worker with_raw_calls = [&](std::size_t process, const auto& await_start) {
    RawLog raw(fixture.file("process-" + std::to_string(process) + ".raw"));
    const auto append = [&](const std::string& line) {
      raw.append(line);
      raw.sync();
    };
    const std::span<const std::string> lines(blocks[process].lines);
    append(lines.front());
    await_start();
    for (const std::string& line : lines.subspan(1)) append(line);
  };
  const Worker with_shared_calls = [&](std::size_t process, const auto& await_start) {
    SharedRawLog raw(fixture.file("shared-" + std::to_string(process) + ".raw"));
    const std::span<const std::string> lines(blocks[process].lines);
    raw.append(lines.front(), true);
    await_start();
    for (const std::string& line : lines.subspan(1)) raw.append(line, true);
  };
  const auto turn = [&](const Worker& worker) {
    return [&prepare, &worker](std::size_t round) {
      prepare(round);
      return run_processes(worker);
    };
  };
  const Rounds rounds =
      take_turns(fixture.sizes().process_rounds,
                 {turn(with_store), turn(with_raw_calls), turn(with_shared_calls)});
  Store store = fixture.open_store();
  for (const Session& session : sessions) {
    const auto summary = must(store.sessions().session_ends(session.id), "session_ends");
    check(summary.entries == session.work.count() + 1, "a process lost entries");
  }
  const double total = static_cast<double>(appends * kProcesses) * 1e9;
  return {{.name = "8 processes, 8 sessions, durable / raw",
           .unit = Unit::kPerSecond,
           .ours = total / rounds.cost(0),
           .other = total / rounds.cost(1),
           .ratio = rounds.ratio(1, 0),
           .bar = Bar{Bar::Kind::kRatioAtLeast, 0.9}},
          // What the five calls of an append leave of it, without a store around them.
          {.name = "8 processes, lock, stat, write, fdatasync, unlock / raw",
           .unit = Unit::kPerSecond,
           .ours = total / rounds.cost(2),
           .other = total / rounds.cost(1),
           .ratio = rounds.ratio(1, 2)}};
}

}  // namespace quipu::bench
