// A store for tests of what agents do with sessions: on both backends, with a
// clock that moves only when told to.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "quipu/quipu.hpp"
#include "support/history_store.h"

namespace quipu::test {

class ManualClock : public Clock {
 public:
  std::int64_t unix_ms() override {
    return kNowMs + std::chrono::duration_cast<std::chrono::milliseconds>(now_).count();
  }
  std::chrono::nanoseconds monotonic() override { return now_; }
  void sleep(std::chrono::nanoseconds duration) override { now_ += duration; }
  void advance(std::chrono::nanoseconds duration) { now_ += duration; }

 private:
  std::chrono::nanoseconds now_{0};
};

/// The value, or the end of the test: for steps that are not what is tested.
template <class T>
T must(Result<T> result) {
  if (result.ok()) return std::move(result).value();
  ADD_FAILURE() << name(result.error().code()) << ": " << result.error().message();
  throw std::runtime_error("a step failed");
}
inline void must(const Result<void>& result) {
  if (result.ok()) return;
  ADD_FAILURE() << name(result.error().code()) << ": " << result.error().message();
  throw std::runtime_error("a step failed");
}

/// The code of an error; nothing for success.
template <class T>
std::optional<Code> code_of(const Result<T>& result) {
  return result.ok() ? std::nullopt : std::optional(result.error().code());
}

inline NewEntry message(std::string id, std::string_view role, std::string_view text) {
  NewEntry entry;
  entry.type = "message";
  entry.id = std::move(id);
  entry.payload =
      R"({"role":")" + std::string(role) + R"(","content":")" + std::string(text) + R"("})";
  return entry;
}

/// `GetParam()`: on files, else in memory.
class AgentStore : public ::testing::TestWithParam<bool> {
 protected:
  AgentStore() { open(); }

  void open() {
    StoreOptions options;
    options.create = true;
    options.clock = &clock_;
    store_.emplace(
        must(Store::open(GetParam() ? "file:" + scratch_.path() + "/store" : "memory:", options)));
  }

  SessionStore& sessions() { return store_->sessions(); }
  std::string new_session(const NewSession& session = {}) {
    return must(sessions().create_session(session)).session_id;
  }
  std::vector<Entry> entries(const std::string& session) {
    return must(sessions().load_session_entries(session));
  }
  /// Without the header.
  std::vector<std::string> types(const std::string& session) {
    std::vector<std::string> types;
    for (const Entry& entry : entries(session)) types.push_back(entry.type);
    types.erase(types.begin());
    return types;
  }
  Entry entry(const std::string& session, const std::string& id) {
    for (Entry& entry : entries(session)) {
      if (entry.id == id) return entry;
    }
    throw std::runtime_error("there is no entry " + id);
  }
  std::string head(const std::string& session) {
    return must(sessions().describe_session(session)).head;
  }

  ManualClock clock_;
  ScratchDir scratch_;
  std::optional<Store> store_;
};

inline std::string backend_name(const ::testing::TestParamInfo<bool>& info) {
  return info.param ? "File" : "Memory";
}

}  // namespace quipu::test
