#include "base/fork_count.h"

#include <pthread.h>

#include <atomic>

namespace quipu {
namespace {

std::atomic<std::uint64_t> forks = 0;

// Async-signal-safe: the child of a process with threads may do no more.
void note_fork() { forks.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

std::uint64_t fork_count() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, note_fork);
  static_cast<void>(registered);  // fails for want of memory only
  return forks.load(std::memory_order_relaxed);
}

}  // namespace quipu
