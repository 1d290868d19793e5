// Locks between processes: one byte of store.lck per session.
//
// OFD locks: the kernel frees them when their holder dies, so there is no
// stale lock to guess about. The file is never deleted or replaced. A lock is
// an optimisation for order; what makes appends safe is the chain.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "fs/fs.h"
#include "quipu/result.h"

namespace quipu::log {

class LockFile {
 public:
  /// `file` may be the reason why there is none: `acquire` answers with it.
  LockFile(Result<std::unique_ptr<fs::File>> file, Clock& clock, std::chrono::milliseconds wait);

  /// Held until destroyed.
  class Held {
   public:
    Held(fs::File* file, std::uint64_t byte) : file_(file), byte_(byte) {}
    Held(Held&& other) noexcept : file_(other.file_), byte_(other.byte_) { other.file_ = nullptr; }
    Held& operator=(Held&&) = delete;
    ~Held();

   private:
    fs::File* file_;
    std::uint64_t byte_;
  };

  /// Waits for other processes, at most as long as the store allows, then
  /// `busy`. Threads of one process must take turns before they come here: they
  /// share the lock.
  Result<Held> acquire(std::string_view session_id);

 private:
  Result<std::unique_ptr<fs::File>> opened_;
  Clock& clock_;
  std::chrono::nanoseconds wait_;
  std::uint64_t forks_;  // when it was opened
};

/// A collision makes two sessions wait for each other, nothing more.
std::uint64_t lock_byte(std::string_view session_id);

}  // namespace quipu::log
