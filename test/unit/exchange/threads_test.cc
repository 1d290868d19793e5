// Several sources at a time, and several importers.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "quipu/import.h"
#include "support/memory_host.h"

namespace quipu {
namespace {

constexpr int kSources = 60;

void fill(MemoryHost& host) {
  for (int i = 0; i < kSources; ++i) {
    const std::string id = "s" + std::to_string(i);
    std::string text = R"({"type":"session","version":3,"id":")" + id +
                       R"(","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/data/)" +
                       std::to_string(i % 3) + "\"}\n";
    for (int n = 0; n < 20; ++n) {
      text += R"({"type":"message","id":"m)" + std::to_string(n) + R"(","parentId":)" +
              (n == 0 ? "null" : "\"m" + std::to_string(n - 1) + "\"") +
              R"(,"timestamp":"2026-03-01T09:30:01.000Z","message":{"role":"user","content":"hi"}})"
              "\n";
    }
    host.files["/s/2026_" + id + ".jsonl"] = text;
  }
}

// A machine on which, once it is slow, one file cannot be opened before another one was.
class SlowHost : public MemoryHost {
 public:
  std::string slow;
  std::string awaited;
  bool is_slow = false;

  Result<std::unique_ptr<fs::HostFile>> open(const std::string& path) override {
    std::unique_lock lock(mutex_);
    if (!is_slow) return MemoryHost::open(path);
    was_opened_ = was_opened_ || path == awaited;
    opened_.notify_all();
    if (path == slow) opened_.wait(lock, [&] { return was_opened_; });
    return MemoryHost::open(path);
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool was_opened_ = false;
};

// Two files say that they are the same session, and the first comes later than the second.
TEST(ImportThreads, TheFirstSourceHasTheNameWhicheverIsFaster) {
  for (int round = 0; round < 20; ++round) {
    SlowHost host;
    const std::string text =
        R"({"type":"session","version":3,"id":"x","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/"})"
        "\n";
    host.slow = "/s/a.jsonl";
    host.awaited = "/s/b.jsonl";
    host.files = {{host.slow, text}, {host.awaited, text}};
    auto store = Store::open("memory:").value();
    Importer importer(store, &host);
    const auto found = importer.find({.agents = {}, .paths = {"/s"}, .since_ms = 0});
    ASSERT_TRUE(found.ok());
    host.is_slow = true;
    std::map<std::string, std::string> sessions;
    const auto done = importer.run(found->sources, {.project_id = {}, .threads = 2},
                                   [&](const ImportReport& report) {
                                     sessions[report.source] = report.session_id;
                                     return true;
                                   });
    ASSERT_TRUE(done.ok());
    EXPECT_EQ("pi.x", sessions["/s/a.jsonl"]);
    EXPECT_TRUE(sessions["/s/b.jsonl"].starts_with("pi.x.")) << sessions["/s/b.jsonl"];
  }
}

// Each knows another mark of it, or has none when it begins.
TEST(ImportThreads, ASourceThatGrowsIsTakenOnceByHoweverMany) {
  constexpr int kRounds = 40;
  constexpr int kImporters = 3;
  const std::string path = "/s/2026_s1.jsonl";
  MemoryHost host;
  std::string& text = host.files[path];
  text =
      R"({"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T09:30:00.000Z","cwd":"/"})"
      "\n";
  auto store = Store::open("memory:").value();
  for (int round = 0; round < kRounds; ++round) {
    text += R"({"type":"message","id":"m)" + std::to_string(round) +
            R"(","parentId":null,"timestamp":"2026-03-01T09:30:01.000Z",)"
            R"("message":{"role":"user","content":"hi"}})"
            "\n";
    std::vector<std::thread> importers;
    for (int i = 0; i < kImporters; ++i) {
      importers.emplace_back([&] {
        const auto done =
            Importer(store, &host)
                .run({{.agent = "pi", .path = path, .part = {}, .files = {path}, .session_id = {}}},
                     {.project_id = {}, .threads = 1}, [&](const ImportReport& report) {
                       EXPECT_FALSE(report.error) << report.error->message();
                       return true;
                     });
        EXPECT_TRUE(done.ok());
      });
    }
    for (std::thread& importer : importers) importer.join();
  }
  std::set<std::string> records;
  const auto entries = store.sessions().load_session_entries("pi.s1");
  ASSERT_TRUE(entries.ok());
  for (const Entry& entry : *entries) {
    if (!entry.type.starts_with("pi.message")) continue;
    EXPECT_TRUE(records.insert(entry.id).second);
    EXPECT_EQ(std::string::npos, entry.id.find('~')) << entry.id;
  }
  EXPECT_EQ(records.size(), std::size_t{kRounds});
}

// The same file lies in two places: there is one session.
TEST(ImportThreads, CopiesOfAFileAreOneSession) {
  MemoryHost host;
  fill(host);
  const auto copies = host.files;
  for (const auto& [path, text] : copies) host.files["/t" + path.substr(2)] = text;
  auto store = Store::open("memory:").value();
  Importer importer(store, &host);
  const auto found = importer.find({.agents = {}, .paths = {"/s", "/t"}, .since_ms = 0});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(2u * kSources, found->sources.size());
  std::set<std::string> sessions;
  const auto done = importer.run(found->sources, {.project_id = {}, .threads = 4},
                                 [&](const ImportReport& report) {
                                   EXPECT_FALSE(report.error) << report.error->message();
                                   EXPECT_EQ(report.source[1] == 's' ? 21u : 0u, report.added);
                                   sessions.insert(report.session_id);
                                   return true;
                                 });
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(static_cast<std::size_t>(kSources), sessions.size());
}

TEST(ImportThreads, AllSourcesArriveOnce) {
  MemoryHost host;
  fill(host);
  auto store = Store::open("memory:").value();
  std::atomic<std::uint64_t> added = 0;
  const auto import = [&] {
    Importer importer(store, &host);
    auto found = importer.find({.agents = {}, .paths = {"/s"}, .since_ms = 0});
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(found->sources.size(), static_cast<std::size_t>(kSources));
    auto done = importer.run(found->sources, {.project_id = {}, .threads = 4},
                             [&](const ImportReport& report) {
                               EXPECT_FALSE(report.error) << report.error->message();
                               added += report.added;
                               return true;
                             });
    EXPECT_TRUE(done.ok());
  };
  import();
  EXPECT_EQ(added, kSources * 21u);
  import();
  EXPECT_EQ(added, kSources * 21u);
}

}  // namespace
}  // namespace quipu
