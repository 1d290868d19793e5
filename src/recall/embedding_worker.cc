#include "recall/embedding_worker.h"

#include <algorithm>
#include <chrono>

#include "base/guarded.h"

namespace quipu::recall {
namespace {

using std::chrono::milliseconds;

/// Others may add, too, and a database may come back.
constexpr milliseconds kLook{60 * 1000};
constexpr milliseconds kLookAfterError{5 * 1000};

}  // namespace

EmbeddingWorker::EmbeddingWorker(EmbeddingOutbox& outbox)
    : outbox_(outbox), thread_([this](const std::stop_token& stop) { run(stop); }) {}

EmbeddingWorker::~EmbeddingWorker() = default;

void EmbeddingWorker::wake() {
  const MutexLock lock(mutex_);
  is_woken_ = true;
  woken_.notify_all();
}

std::optional<Error> EmbeddingWorker::trouble() {
  const MutexLock lock(mutex_);
  return trouble_;
}

void EmbeddingWorker::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    // An exception would end the process.
    auto progress = guarded([&] { return outbox_.step(stop); });
    const MutexLock lock(mutex_);
    milliseconds wait = kLookAfterError;
    if (progress.ok()) {
      wait = std::min(progress->next.value_or(kLook), kLook);
      // A step that had to wait says nothing new.
      if (progress->trouble || progress->embedded > 0) trouble_ = std::move(progress->trouble);
    } else {
      trouble_ = std::move(progress).error();
    }
    woken_.wait_for(mutex_, stop, wait, [this]() REQUIRES(mutex_) { return is_woken_; });
    is_woken_ = false;
  }
}

}  // namespace quipu::recall
