#include "sql/pool.h"

#include <algorithm>

#include "base/fork_count.h"
#include "base/try.h"

namespace quipu::sql {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kIdleMax = 8;
constexpr nanoseconds kFirstTurn = std::chrono::microseconds(50);
constexpr nanoseconds kFirstPause = std::chrono::milliseconds(10);
constexpr nanoseconds kLongestPause = std::chrono::milliseconds(500);

}  // namespace

Pool::Pool(Open open, Clock& clock, nanoseconds wait, std::size_t most)
    : open_(std::move(open)), clock_(clock), wait_(wait), most_(most), forks_(fork_count()) {}

Pool::~Pool() {
  if (fork_count() == forks_) return;
  MutexLock lock(mutex_);
  for (const auto& engine : idle_) engine->abandon();
}

Result<Pool::Lease> Pool::lease() {
  if (fork_count() != forks_) {
    return Error(Code::kNotAllowed, "the store was opened before a fork()")
        .with_hint("open the store in the process that uses it");
  }
  TRY_ASSIGN(auto engine, idle());
  if (engine) return Lease(*this, std::move(engine));
  auto made = make();
  if (made.ok()) return Lease(*this, std::move(made).value());
  MutexLock lock(mutex_);
  --lent_;
  return std::move(made).error();
}

Result<std::unique_ptr<Engine>> Pool::idle() {
  const nanoseconds deadline = clock_.monotonic() + wait_;
  for (nanoseconds pause = kFirstTurn;; pause = std::min(2 * pause, kFirstPause)) {
    {
      MutexLock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Engine> engine = std::move(idle_.back());
        idle_.pop_back();
        ++lent_;
        return engine;
      }
      if (most_ == 0 || lent_ < most_) {
        ++lent_;
        return std::unique_ptr<Engine>();
      }
    }
    if (clock_.monotonic() >= deadline) {
      return Error(Code::kBusy, "all connections of the database are in use");
    }
    clock_.sleep(pause);
  }
}

Result<std::unique_ptr<Engine>> Pool::make() {
  const nanoseconds deadline = clock_.monotonic() + wait_;
  for (nanoseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    auto engine = open_();
    if (engine.ok()) return engine;
    const Code code = engine.error().code();
    const bool may_come_back = code == Code::kStorageGone || code == Code::kBusy;
    if (!may_come_back || clock_.monotonic() + pause >= deadline) return engine;
    clock_.sleep(pause);
  }
}

void Pool::take(std::unique_ptr<Engine> engine) {
  {
    MutexLock lock(mutex_);
    ++lent_;
  }
  give_back(std::move(engine));
}

void Pool::give_back(std::unique_ptr<Engine> engine) {
  if (fork_count() != forks_) {
    engine->abandon();
    return;
  }
  MutexLock lock(mutex_);
  --lent_;
  if (!engine->is_usable()) {
    idle_.clear();  // its siblings were probably lost with it
  } else if (idle_.size() < kIdleMax) {
    idle_.push_back(std::move(engine));
  }
}

}  // namespace quipu::sql
