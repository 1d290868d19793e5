// A real store as a HistoryTarget, asked through its public API alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "quipu/store.h"
#include "support/history_target.h"

namespace quipu::test {

/// The wall time of every store under test.
inline constexpr std::int64_t kNowMs = 1'772'357'400'000;
inline constexpr const char* kNow = "2026-03-01T09:30:00.000Z";

/// A clock whose wall time stands still.
class StandingClock : public Clock {
 public:
  std::int64_t unix_ms() override { return kNowMs; }
  std::chrono::nanoseconds monotonic() override { return Clock::system().monotonic(); }
  void sleep(std::chrono::nanoseconds duration) override { Clock::system().sleep(duration); }
};

/// An empty directory, removed with everything in it at the end. In memory
/// where the system has such a place: nothing here is about power cuts.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Which of the two ways in an append takes.
enum class Door { kLines, kEntries };

/// Aborts the test run when the store itself can't be opened.
class StoreTarget : public HistoryTarget {
 public:
  /// A directory, or any other URL; made when missing.
  StoreTarget(std::string url, Door door);

  Result<SessionHandle> create(const std::string& id) override;
  Result<AppendResult> append(const std::string& session, const std::vector<std::string>& lines,
                              const AppendOptions& options) override;
  Result<SessionHandle> fork(const std::string& session, const std::string& entry,
                             const ForkOptions& options) override;
  /// Asks every way there is and fails with `internal` when two ways of asking
  /// for the same thing answer differently.
  Result<SessionView> view(const std::string& session) override;
  Result<std::vector<std::string>> sessions() override;
  void write_foreign(const std::string& session, const std::string& line) override;
  void reopen() override;

  void set_door(Door door) { door_ = door; }
  SessionStore& api() { return store_->sessions(); }
  Store& store() { return *store_; }
  bool in_memory() const { return url_ == "memory:"; }

 private:
  void open();

  std::string url_;
  Door door_;
  StandingClock clock_;
  std::optional<Store> store_;
};

/// The line as a NewEntry, or nothing when it says what a NewEntry cannot.
std::optional<NewEntry> as_new_entry(const std::string& line);

/// Removes the offset indexes of a file store.
void remove_indexes(const std::string& directory);

}  // namespace quipu::test
