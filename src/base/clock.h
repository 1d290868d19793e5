// Time and randomness, injected: the two things a test must be able to fix.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quipu {

/// Wall time is a label on entries and never decides anything; waiting is
/// measured on the monotonic clock.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t unix_ms() = 0;
  virtual std::chrono::nanoseconds monotonic() = 0;
  virtual void sleep(std::chrono::nanoseconds duration) = 0;

  /// The machine's clock. Lives for ever, safe from every thread.
  static Clock& system();
};

class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::byte> bytes) = 0;

  /// The kernel's generator (buffered). Lives for ever, safe from every thread.
  static Random& system();
};

}  // namespace quipu
