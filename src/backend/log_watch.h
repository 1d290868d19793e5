// LogWatch: says when something was stored, by whatever process.
//
// It is a wake-up call and no more: what is told may have been seen already, and nothing
// rests on being told. Who wants to know what is new compares (Backend::survey).
//
// Thread-safety: one thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "quipu/result.h"

namespace quipu {

struct LogChanges {
  std::vector<std::string> logs;  // by id
  /// More may have changed than is said here: look at everything.
  bool all = false;
};

class LogWatch {
 public:
  virtual ~LogWatch() = default;
  /// Waits until something changes or the time is over. What changed between two calls
  /// is told by the second.
  virtual Result<LogChanges> wait(std::chrono::milliseconds time) = 0;
};

/// Asks again and again, ten times a second, for a text that is another one after every
/// change.
class PollingWatch final : public LogWatch {
 public:
  using Stamp = std::function<Result<std::string>()>;
  PollingWatch(Clock& clock, Stamp stamp) : clock_(clock), stamp_(std::move(stamp)) {}
  Result<LogChanges> wait(std::chrono::milliseconds time) override;

 private:
  Clock& clock_;
  const Stamp stamp_;
  std::string last_;
};

}  // namespace quipu
