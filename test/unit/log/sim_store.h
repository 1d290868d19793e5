// A file store on a simulated disk, for tests of what it asks of the disk.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/file/file_backend.h"
#include "base/clock.h"
#include "fs/sim_fs.h"
#include "log/seal.h"
#include "quipu/store.h"

namespace quipu::log {

/// Time moves only when somebody sleeps.
class FakeClock : public Clock {
 public:
  std::int64_t unix_ms() override { return 1'772'357'400'000; }
  std::chrono::nanoseconds monotonic() override { return now; }
  void sleep(std::chrono::nanoseconds duration) override {
    now += duration;
    ++sleeps;
  }
  std::chrono::nanoseconds now{0};
  int sleeps = 0;
};

class CountingRandom : public Random {
 public:
  explicit CountingRandom(std::uint64_t seed = 1) : state_(seed) {}
  void fill(std::span<std::byte> bytes) override {
    for (auto& byte : bytes) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      byte = static_cast<std::byte>(state_ >> 56);
    }
  }

 private:
  std::uint64_t state_;
};

inline constexpr const char* kLogPath = "sessions/s.jsonl";
inline constexpr const char* kIndexPath = "sessions/s.idx";

/// One process with the store open. `raw()` is its file system, for faults.
class SimStore {
 public:
  explicit SimStore(fs::SimDisk& disk, std::uint64_t seed = 1) : random_(seed) {
    auto process = disk.process();
    raw_ = process.get();
    auto backend =
        file::FileBackend::open(std::move(process), clock, random_,
                                {.create = true, .lock_wait = std::chrono::milliseconds(50)});
    if (!backend.ok()) {
      ADD_FAILURE() << backend.error().message();
      std::abort();
    }
    store_.emplace(std::move(backend).value());
  }

  SessionStore& api() { return store_->sessions(); }
  fs::SimFs& raw() { return *raw_; }
  Result<void> close() { return store_->close(); }

  Result<AppendResult> append(const std::vector<std::string>& lines,
                              const AppendOptions& options = {}) {
    const std::vector<std::string_view> views(lines.begin(), lines.end());
    return api().append_session_lines("s", views, options);
  }

  /// Ids of all visible entries but the header; "!" when reading fails.
  std::vector<std::string> ids(const std::string& session = "s") {
    std::vector<std::string> ids;
    const auto entries = api().load_session_entries(session);
    if (!entries.ok()) return {"!" + entries.error().message()};
    for (const Entry& entry : *entries) {
      if (entry.type != "session_header") ids.push_back(entry.id);
    }
    return ids;
  }

  FakeClock clock;

 private:
  CountingRandom random_;
  fs::SimFs* raw_ = nullptr;
  std::optional<Store> store_;
};

inline std::string entry(const std::string& id, const std::string& more = "") {
  return R"({"id":")" + id + R"(","type":"message","timestamp":"2026-03-01T09:30:00.000Z")" +
         R"(,"payload":{"role":"user","content":")" + more + "\"}}";
}

using Ids = std::vector<std::string>;

inline NewSession named(std::string id) {
  NewSession session;
  session.id = std::move(id);
  return session;
}

inline AppendOptions expecting_tail(std::string id) {
  AppendOptions options;
  options.expected_tail = std::move(id);
  return options;
}

inline AppendOptions relaxed() {
  AppendOptions options;
  options.durability = Durability::kRelaxed;
  return options;
}

}  // namespace quipu::log
