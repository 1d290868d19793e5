#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "measure.h"
#include "quipu/context.h"
#include "rows.h"

namespace quipu::bench {
namespace {

constexpr std::uint32_t kTailEntries = 50;
constexpr double kBytesPerEntry = 40;
constexpr double kFixedBytes = 16 << 20;

// A line such as "RssAnon:    1234 kB".
std::uint64_t kilobytes(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size(), nullptr, 10);
  }
  throw CheckFailed(key + " is not in " + file);
}

std::uint64_t anonymous_bytes() { return kilobytes("/proc/self/smaps_rollup", "Anonymous:") << 10; }

// The most seen while it lives; looks often, because what is freed is given back.
class PeakMemory {
 public:
  PeakMemory() : sampler_([this] { sample(); }) {}
  ~PeakMemory() { stop(); }
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

  std::uint64_t stop() {
    done_ = true;
    if (sampler_.joinable()) sampler_.join();
    return peak_;
  }

 private:
  void sample() {
    while (!done_) {
      peak_ = std::max<std::uint64_t>(peak_, kilobytes("/proc/self/status", "RssAnon:") << 10);
    }
  }

  std::atomic<bool> done_ = false;
  std::atomic<std::uint64_t> peak_ = 0;
  std::thread sampler_;
};

std::uint64_t tail_of(Store& store, const std::string& session) {
  const auto summary = must(store.sessions().session_ends(session), "session_ends");
  const std::uint32_t first = summary.entries - std::min(summary.entries, kTailEntries);
  const auto tail = must(store.sessions().load_session_entries(session, {.first = first}), "load");
  check(tail.size() == std::min(summary.entries, kTailEntries), "a tail of another size");
  return anonymous_bytes();
}

std::uint64_t path_of(Store& store, const std::string& session) {
  const auto tree = must(store.sessions().session_tree(session), "session_tree");
  const auto path = tree.path(tree.head().value());
  check(!path.empty(), "an empty path");
  return anonymous_bytes();
}

std::uint64_t resume_of(Store& store, const std::string& session) {
  const auto context = must(build_context(store, session, {}), "build_context");
  check(context.messages > 0, "an empty context");
  return anonymous_bytes();
}

std::uint64_t append_to(Store& store, const std::string& session) {
  const NewEntry entry = message(R"({"role":"user","content":"more"})");
  const auto result = must(store.sessions().append_session_entries(session, {&entry, 1}), "append");
  check(result.durable, "an append that is not durable");
  return anonymous_bytes();
}

// A new program: a forked child would start with the benchmark's own memory.
double probe(const std::string& store, const std::string& operation, const std::string& session) {
  std::array<int, 2> ends{};
  check(::pipe(ends.data()) == 0, "pipe");
  const pid_t child = ::fork();
  check(child >= 0, "fork");
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl("/proc/self/exe", "quipu_bench", "--memory-probe", operation.c_str(), store.c_str(),
            session.c_str(), static_cast<char*>(nullptr));
    ::_exit(1);
  }
  ::close(ends[1]);
  std::array<char, 64> text{};
  const ssize_t got = ::read(ends[0], text.data(), text.size() - 1);
  ::close(ends[0]);
  int status = 0;
  check(::waitpid(child, &status, 0) == child && status == 0 && got > 0,
        "the memory probe failed: " + operation);
  return std::strtod(text.data(), nullptr);
}

}  // namespace

int run_memory_probe(const std::string& operation, const std::string& store_path,
                     const std::string& session) {
  PeakMemory peak;
  if (operation == "import") {
    run_import_probe(store_path, session);
    std::cout << peak.stop() << '\n';
    return 0;
  }
  Store store = must(Store::open(store_path), "open");
  std::uint64_t now = 0;
  if (operation == "append") now = append_to(store, session);
  if (operation == "tail") now = tail_of(store, session);
  if (operation == "resume") now = resume_of(store, session);
  if (operation == "path") now = path_of(store, session);
  check(now > 0, "no such probe: " + operation);
  std::cout << std::max(now, peak.stop()) << '\n';
  return 0;
}

double memory_of_import(const std::string& store, const std::string& place) {
  return probe(store, "import", place);
}

std::vector<Row> memory_rows(Fixture& fixture) {
  const Session& session = fixture.biggest();
  const double entries = session.work.count();
  std::vector<Row> rows;
  for (const std::string operation : {"append", "tail", "path"}) {
    rows.push_back({.name = "anonymous memory, " + operation + " at " +
                            std::to_string(session.work.count()) + " entries",
                    .unit = Unit::kBytes,
                    .ours = probe(fixture.store_path().string(), operation, session.id),
                    .bar = Bar{Bar::Kind::kOursAtMost, kBytesPerEntry * entries + kFixedBytes}});
  }
  Store store = fixture.open_store();
  const auto context = must(build_context(store, session.id, {}), "build_context");
  const auto kept = static_cast<double>(context.request.size());
  rows.push_back(
      {.name = "anonymous memory, resume without compaction at " +
               std::to_string(session.work.count()) + " entries",
       .unit = Unit::kBytes,
       .ours = probe(fixture.store_path().string(), "resume", session.id),
       .bar = Bar{Bar::Kind::kOursAtMost, kBytesPerEntry * entries + kept + kFixedBytes}});
  return rows;
}

}  // namespace quipu::bench
