// Several sources at a time, and several importers.
#include <gtest/gtest.h>

#include <atomic>
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
