#include "base/clock.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/fork_count.h"
#include "base/siphash.h"

namespace quipu {
namespace {

class SystemClock final : public Clock {
 public:
  std::int64_t unix_ms() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::floor<std::chrono::milliseconds>(now).count();
  }
  std::chrono::nanoseconds monotonic() override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  void sleep(std::chrono::nanoseconds duration) override { std::this_thread::sleep_for(duration); }
};

// Where the kernel refuses (a sandbox without the call), ids must still be
// unique: time, process and a counter, hashed.
void fill_without_kernel(std::span<std::byte> bytes) {
  static std::atomic<std::uint64_t> counter{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  const SipKey key{
      static_cast<std::uint64_t>(now),
      static_cast<std::uint64_t>(ticks) ^ (static_cast<std::uint64_t>(::getpid()) << 32)};
  while (!bytes.empty()) {
    const std::uint64_t count = counter.fetch_add(1, std::memory_order_relaxed);
    char input[sizeof count];
    std::memcpy(input, &count, sizeof count);
    const std::uint64_t word = siphash(key, std::string_view(input, sizeof input));
    const std::size_t part = std::min(bytes.size(), sizeof word);
    std::memcpy(bytes.data(), &word, part);
    bytes = bytes.subspan(part);
  }
}

void fill_from_kernel(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return fill_without_kernel(bytes);
    }
  }
}

// Invariants: 1. no byte is handed out twice; 2. not even in parent and child
// after a fork, which inherit the same buffer.
//
// The lock is only tried: a child forked while another thread held it would
// wait for ever. Whoever does not get it asks the kernel directly.
class SystemRandom final : public Random {
 public:
  void fill(std::span<std::byte> bytes) override {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || bytes.size() > buffer_.size() / 4) return fill_from_kernel(bytes);
    const std::uint64_t now = fork_count();
    if (now != filled_at_ || used_ == 0 || bytes.size() > buffer_.size() - used_) {
      fill_from_kernel(buffer_);
      filled_at_ = now;
      used_ = 0;
    }
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(used_), bytes.size(), bytes.begin());
    used_ += bytes.size();
  }

 private:
  std::mutex mutex_;  // guards everything below
  std::array<std::byte, 4096> buffer_{};
  std::size_t used_ = 0;         // nothing: never filled
  std::uint64_t filled_at_ = 0;  // fork_count() of the process that filled it
};

}  // namespace

// Never destroyed: other static objects may still use them while the process ends.
Clock& Clock::system() {
  static Clock& clock = *new SystemClock;
  return clock;
}

Random& Random::system() {
  static Random& random = *new SystemRandom;
  return random;
}

}  // namespace quipu
