// Pool: the connections of a store, made when they are needed and used again.
//
// A connection that was lost is replaced. How long that is tried is bounded; between
// tries the pauses grow, so that a server that comes back is not run over.
//
// Thread-safety: every call from every thread; what is lent belongs to one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "sql/engine.h"

namespace quipu::sql {

class Pool {
 public:
  using Open = std::function<Result<std::unique_ptr<Engine>>()>;

  /// `wait`: how long to try to get a connection, and to do again what a lost one was
  /// asked. `most`: so many at a time, who needs another one waits; 0: as many as are needed.
  Pool(Open open, Clock& clock, std::chrono::nanoseconds wait, std::size_t most = 0);
  ~Pool();

  /// Comes back by itself; one that is no longer usable is dropped.
  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<Engine> engine) : pool_(&pool), engine_(std::move(engine)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (engine_) pool_->give_back(std::move(engine_));
    }
    Engine& operator*() const { return *engine_; }
    Engine* operator->() const { return engine_.get(); }

   private:
    Pool* pool_;
    std::unique_ptr<Engine> engine_;
  };

  /// One that was made by other means.
  void take(std::unique_ptr<Engine> engine) EXCLUDES(mutex_);

  /// `not_allowed` in the child of a fork(): its parent's connections are none of its own.
  Result<Lease> lease() EXCLUDES(mutex_);

  /// Asks, and asks again when the connection turns out to be lost. `work` must have no
  /// effect but its answer.
  template <class Work>
  auto reading(Work&& work) -> decltype(work(std::declval<Engine&>())) {
    const std::chrono::nanoseconds deadline = clock_.monotonic() + wait_;
    for (;;) {
      auto leased = lease();
      if (!leased.ok()) return std::move(leased).error();
      auto answer = work(**leased);
      if (answer.ok() || (*leased)->is_usable() || clock_.monotonic() >= deadline) return answer;
    }
  }

 private:
  friend class Lease;
  void give_back(std::unique_ptr<Engine> engine) EXCLUDES(mutex_);
  /// An idle one; null: one may be made.
  Result<std::unique_ptr<Engine>> idle() EXCLUDES(mutex_);
  Result<std::unique_ptr<Engine>> make();

  const Open open_;
  Clock& clock_;
  const std::chrono::nanoseconds wait_;
  const std::size_t most_;
  const std::uint64_t forks_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Engine>> idle_ GUARDED_BY(mutex_);
  std::size_t lent_ GUARDED_BY(mutex_) = 0;
};

}  // namespace quipu::sql
