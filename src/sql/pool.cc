#include "sql/pool.h"

#include <algorithm>

#include "base/fork_count.h"

namespace quipu::sql {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kIdleMax = 8;
constexpr nanoseconds kFirstPause = std::chrono::milliseconds(10);
constexpr nanoseconds kLongestPause = std::chrono::milliseconds(500);

}  // namespace

Pool::Pool(Open open, Clock& clock, nanoseconds wait)
    : open_(std::move(open)), clock_(clock), wait_(wait), forks_(fork_count()) {}

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
  {
    MutexLock lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Engine> engine = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(engine));
    }
  }
  const nanoseconds deadline = clock_.monotonic() + wait_;
  for (nanoseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    auto engine = open_();
    if (engine.ok()) return Lease(*this, std::move(engine).value());
    const Code code = engine.error().code();
    const bool may_come_back = code == Code::kStorageGone || code == Code::kBusy;
    if (!may_come_back || clock_.monotonic() + pause >= deadline) return std::move(engine).error();
    clock_.sleep(pause);
  }
}

void Pool::give_back(std::unique_ptr<Engine> engine) {
  if (fork_count() != forks_) {
    engine->abandon();
    return;
  }
  if (!engine->is_usable()) {
    // Its siblings were probably lost with it.
    MutexLock lock(mutex_);
    idle_.clear();
    return;
  }
  MutexLock lock(mutex_);
  if (idle_.size() < kIdleMax) idle_.push_back(std::move(engine));
}

}  // namespace quipu::sql
