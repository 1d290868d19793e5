// EmbeddingWorker: the thread of a long-living process that keeps an outbox going.
//
// Whoever holds it owns the thread: it ends with the object, and what is under way then is broken
// off and waits in the outbox. Trouble, of the endpoint or of the database, is no reason to end: it
// is in `trouble` and the thread tries again.
//
// Thread-safety: every call from every thread; not after a fork() in the child.
#pragma once

#include <condition_variable>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "recall/embedding_outbox.h"

namespace quipu::recall {

class EmbeddingWorker {
 public:
  /// `outbox` must outlive it.
  explicit EmbeddingWorker(EmbeddingOutbox& outbox);
  ~EmbeddingWorker();
  EmbeddingWorker(const EmbeddingWorker&) = delete;
  EmbeddingWorker& operator=(const EmbeddingWorker&) = delete;

  /// Something was added. Without it the thread looks once a minute.
  void wake() EXCLUDES(mutex_);
  /// What went wrong; nothing when something has gone well since.
  std::optional<Error> trouble() EXCLUDES(mutex_);

 private:
  void run(const std::stop_token& stop) EXCLUDES(mutex_);

  EmbeddingOutbox& outbox_;
  Mutex mutex_;
  std::condition_variable_any woken_;
  bool is_woken_ GUARDED_BY(mutex_) = false;
  std::optional<Error> trouble_ GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace quipu::recall
