// Writers that are killed with SIGKILL at any moment, on the real file system,
// while other writers and readers go on: nothing that was acknowledged is
// lost, and nobody ever sees a part of a batch.
//
// The same binary is the parent, the writers and the readers. What a writer was
// told, it notes in memory that outlives it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "fault/fixed_world.h"

extern char** environ;

namespace quipu::fault {
namespace {

constexpr unsigned kWriters = 3;
constexpr unsigned kReaders = 2;
constexpr unsigned kSessions = 2;
constexpr std::uint32_t kBatchesMax = 1 << 20;
constexpr std::uint32_t kTailRead = 64;

struct Shared {
  std::atomic<std::uint32_t> next_batch[kWriters];
  std::atomic<std::uint8_t> acknowledged[kWriters][kBatchesMax];
  std::atomic<std::uint64_t> reads;
  std::atomic<std::uint64_t> complaints;
  char first_complaint[512];
  std::atomic<bool> stop;
};

Shared* map_shared(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(Shared)) != 0) std::abort();
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<Shared*>(memory);
}

void complain(Shared& shared, const std::string& what) {
  if (shared.complaints.fetch_add(1) == 0) {
    std::strncpy(shared.first_complaint, what.c_str(), sizeof shared.first_complaint - 1);
  }
}

std::string store_url(const std::string& engine, const std::string& directory) {
  return engine + directory + "/store";
}

std::string session_of(unsigned writer, std::uint32_t batch) {
  return "s" + std::to_string((writer + batch / 8) % kSessions);
}

std::size_t size_of(std::uint32_t batch) { return 1 + batch % 5; }

std::string key_of(unsigned writer, std::uint32_t batch) {
  return "w" + std::to_string(writer) + "-" + std::to_string(batch);
}

std::vector<NewEntry> make_batch(unsigned writer, std::uint32_t batch) {
  std::vector<NewEntry> entries(size_of(batch));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].id = key_of(writer, batch) + "-" + std::to_string(i);
    entries[i].type = "message";
    entries[i].payload = "{\"batch\":\"" + key_of(writer, batch) +
                         "\",\"place\":" + std::to_string(i) +
                         ",\"size\":" + std::to_string(entries.size()) + ",\"text\":\"" +
                         std::string(batch * 37 % 3000, 'x') + "\"}";
  }
  return entries;
}

int write_until_killed(const std::string& url, Shared& shared, unsigned writer) {
  auto store = Store::open(url);
  if (!store.ok()) {
    complain(shared, "a writer cannot open: " + store.error().message());
    return 1;
  }
  while (!shared.stop) {
    const std::uint32_t batch = shared.next_batch[writer]++;
    if (batch >= kBatchesMax) return 0;
    AppendOptions options;
    if (batch % 4 != 0) options.durability = Durability::kRelaxed;
    const auto append = [&] {
      return store->sessions().append_session_entries(session_of(writer, batch),
                                                      make_batch(writer, batch), options);
    };
    auto done = append();
    // On a machine with much other work the others may be faster for as long as it waits.
    for (int tries = 0; !done.ok() && done.error().code() == Code::kBusy && tries < 10; ++tries) {
      done = append();
    }
    if (!done.ok()) {
      complain(shared, "append: " + done.error().message());
      return 1;
    }
    shared.acknowledged[writer][batch] = 1;
  }
  return 0;
}

// Whether entries come as whole batches. The first may be cut by the range.
std::string check_batches(const std::vector<Entry>& entries, bool from_start) {
  std::size_t at = 0;
  while (at < entries.size()) {
    const Entry& first = entries[at];
    if (first.type == "session_header") {
      ++at;
      continue;
    }
    unsigned writer = 0;
    unsigned batch = 0;
    unsigned place = 0;
    if (std::sscanf(first.id.c_str(), "w%u-%u-%u", &writer, &batch, &place) != 3) {
      return "an entry of nobody: " + first.id;
    }
    if (place != 0 && (from_start || at != 0)) return "a batch begins with " + first.id;
    const auto expected = make_batch(writer, batch);
    for (; place < expected.size(); ++place, ++at) {
      if (at == entries.size()) return "a part of batch " + key_of(writer, batch);
      if (entries[at].id != expected[place].id || entries[at].payload != expected[place].payload) {
        return "expected " + expected[place].id + ", found " + entries[at].id;
      }
    }
  }
  return {};
}

int read_until_stopped(const std::string& url, Shared& shared) {
  auto store = Store::open(url);
  if (!store.ok()) {
    complain(shared, "a reader cannot open: " + store.error().message());
    return 1;
  }
  for (unsigned round = 0; !shared.stop; ++round) {
    const std::string session = "s" + std::to_string(round % kSessions);
    const auto about = store->sessions().describe_session(session);
    if (!about.ok()) {
      complain(shared, "describe: " + about.error().message());
      return 1;
    }
    EntryRange range;
    range.first = about->entries > kTailRead ? about->entries - kTailRead : 0;
    const auto entries = store->sessions().load_session_entries(session, range);
    if (!entries.ok()) {
      complain(shared, "read: " + entries.error().message());
      return 1;
    }
    const std::string wrong = check_batches(*entries, range.first == 0);
    if (!wrong.empty()) complain(shared, "a reader saw: " + wrong);
    ++shared.reads;
  }
  return 0;
}

pid_t start(const std::string& engine, const std::string& directory, const std::string& role,
            unsigned number) {
  std::string program = "kill_loop_test";
  std::string as = "--" + role;
  std::string place = directory;
  std::string which = std::to_string(number);
  std::string on = engine;
  char* arguments[] = {program.data(), as.data(), place.data(), which.data(), on.data(), nullptr};
  pid_t child = -1;
  if (::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ) != 0) {
    std::abort();
  }
  return child;
}

class Loop {
 public:
  /// `engine` is the scheme of the store's URL.
  explicit Loop(std::string engine)
      : engine_(std::move(engine)),
        directory_(make_directory()),
        shared_(*map_shared(directory_ + "/shared")) {
    StoreOptions options;
    options.create = true;
    auto store = Store::open(url(), options);
    if (!store.ok()) std::abort();
    for (unsigned i = 0; i < kSessions; ++i) {
      NewSession session;
      session.id = "s" + std::to_string(i);
      if (!store->sessions().create_session(session).ok()) std::abort();
    }
    for (unsigned i = 0; i < kWriters; ++i) start_writer(i);
    for (unsigned i = 0; i < kReaders; ++i) start_reader(i);
  }
  ~Loop() {
    ::munmap(&shared_, sizeof shared_);
    std::filesystem::remove_all(directory_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Kills a writer somewhere in the batches it is making.
  void kill_one(std::mt19937_64& random) {
    const unsigned victim = static_cast<unsigned>(random() % kWriters);
    const std::uint32_t target = shared_.next_batch[victim] + 1 + random() % 6;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (shared_.next_batch[victim] < target && shared_.complaints == 0 &&
           std::chrono::steady_clock::now() < deadline) {
      ::sched_yield();
    }
    const std::uint64_t spins = random() % 20'000;
    for (std::atomic<std::uint64_t> spin = 0; spin < spins; ++spin) continue;
    ::kill(writers_[victim], SIGKILL);
    ::waitpid(writers_[victim], nullptr, 0);
    writers_[victim] = start(engine_, directory_, "writer", victim);
  }

  void stop() {
    shared_.stop = true;
    for (const pid_t child : writers_) ::waitpid(child, nullptr, 0);
    for (const pid_t child : readers_) ::waitpid(child, nullptr, 0);
  }

  Shared& shared() { return shared_; }
  const std::string& directory() const { return directory_; }
  std::string url() const { return store_url(engine_, directory_); }

 private:
  void start_writer(unsigned number) {
    writers_.push_back(start(engine_, directory_, "writer", number));
  }
  void start_reader(unsigned number) {
    readers_.push_back(start(engine_, directory_, "reader", number));
  }
  static std::string make_directory() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base != nullptr ? base : ".") + "/kill-loop-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    return pattern;
  }

  std::string engine_;
  std::string directory_;
  Shared& shared_;
  std::vector<pid_t> writers_;
  std::vector<pid_t> readers_;
};

struct Count {
  std::uint64_t acknowledged = 0;
  std::uint64_t lost = 0;
  std::uint64_t stored = 0;
  std::uint64_t torn = 0;
};

// Bytes taken out of a log are whole in quarantine, with a record of why.
void check_quarantine(const std::string& directory, Count& count) {
  if (!std::filesystem::exists(directory + "/store/quarantine")) return;  // a database has none
  for (const auto& file : std::filesystem::directory_iterator(directory + "/store/quarantine")) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto feed = text.find('\n');
    const auto at = text.find("\"bytes\":");
    ASSERT_NE(feed, std::string::npos);
    ASSERT_LT(at, feed);
    EXPECT_EQ(std::stoull(text.substr(at + 8)), text.size() - feed - 1) << file.path();
    ++count.torn;
  }
}

Count check_everything(Loop& loop) {
  Count count;
  auto store = Store::open(loop.url());
  if (!store.ok()) {
    ADD_FAILURE() << store.error().message();
    return count;
  }
  std::map<std::string, bool> stored;
  for (unsigned i = 0; i < kSessions; ++i) {
    const std::string id = "s" + std::to_string(i);
    const auto repaired = store->sessions().repair_session(id);
    EXPECT_TRUE(repaired.ok() && repaired->remaining.empty()) << id;
    const auto report = store->sessions().verify_session(id);
    EXPECT_TRUE(report.ok() && report->problems.empty()) << id;
    const auto entries = store->sessions().load_session_entries(id);
    if (!entries.ok()) {
      ADD_FAILURE() << entries.error().message();
      continue;
    }
    EXPECT_EQ(check_batches(*entries, true), "");
    for (const Entry& entry : *entries) {
      if (entry.id.ends_with("-0")) stored[entry.id.substr(0, entry.id.size() - 2)] = true;
    }
  }
  count.stored = stored.size();
  Shared& shared = loop.shared();
  for (unsigned writer = 0; writer < kWriters; ++writer) {
    const std::uint32_t end = std::min(shared.next_batch[writer].load(), kBatchesMax);
    for (std::uint32_t batch = 0; batch < end; ++batch) {
      if (!shared.acknowledged[writer][batch]) continue;
      ++count.acknowledged;
      if (!stored.contains(key_of(writer, batch))) ++count.lost;
    }
  }
  check_quarantine(loop.directory(), count);
  return count;
}

void expect_nothing_lost(const char* engine, double most) {
  const auto kills = static_cast<std::uint64_t>(std::max(20.0, most * test_scale()));
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  Loop loop(engine);
  std::uint64_t done = 0;
  for (; done < kills && loop.shared().complaints == 0; ++done) loop.kill_one(random);
  loop.stop();
  const Count count = check_everything(loop);
  const Shared& shared = loop.shared();
  std::printf(
      "%llu kills, %llu batches acknowledged, %llu stored, %llu lost, %llu torn tails in "
      "quarantine, %llu reads, %llu complaints\n",
      static_cast<unsigned long long>(done), static_cast<unsigned long long>(count.acknowledged),
      static_cast<unsigned long long>(count.stored), static_cast<unsigned long long>(count.lost),
      static_cast<unsigned long long>(count.torn),
      static_cast<unsigned long long>(shared.reads.load()),
      static_cast<unsigned long long>(shared.complaints.load()));
  EXPECT_EQ(shared.complaints.load(), 0u) << shared.first_complaint;
  EXPECT_EQ(count.lost, 0u);
  EXPECT_EQ(done, kills);
  EXPECT_GT(count.acknowledged, kills);
  EXPECT_GT(shared.reads.load(), 0u);
}

TEST(KillLoop, NothingAcknowledgedIsLost) { expect_nothing_lost("file:", 2000); }

TEST(KillLoop, NothingAcknowledgedIsLostInSqlite) { expect_nothing_lost("sqlite:", 200); }

}  // namespace

int child_main(const std::string& role, const std::string& directory, unsigned number,
               const std::string& engine) {
  Shared* const shared = map_shared(directory + "/shared");
  const std::string url = store_url(engine, directory);
  return role == "--writer" ? write_until_killed(url, *shared, number)
                            : read_until_stopped(url, *shared);
}

}  // namespace quipu::fault

int main(int argc, char** argv) {
  const std::string role = argc == 5 ? argv[1] : "";
  if (role == "--writer" || role == "--reader") {
    return quipu::fault::child_main(role, argv[2], static_cast<unsigned>(std::atoi(argv[3])),
                                    argv[4]);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
