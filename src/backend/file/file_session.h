// FileSession: the writing side of one session in a file store.
//
// Threads that want to append to one session at the same time share one batch
// on disk: the first becomes the leader, plans the batches of all that wait,
// seals them as one and pays one write and one sync for them. One sealed batch,
// not several: recovery allows only one that is not yet durable.
#pragma once

#include <condition_variable>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/plan.h"
#include "base/mutex.h"
#include "log/session_lock.h"
#include "log/writer.h"

namespace quipu::file {

/// What all sessions of a store share.
struct FileStore {
  fs::Fs& fs;
  log::LockFile& locks;
  Clock& clock;
  Random& random;
  SipKey key;
};

log::LogPaths paths_of(const std::string& session_id);

class FileSession {
 public:
  FileSession(const FileStore& store, std::string session_id)
      : store_(store), paths_(paths_of(session_id)) {}

  /// `inherited` is asked for when the log has to be opened.
  using FindInherited = std::function<Result<std::shared_ptr<const Ancestry>>()>;

  Result<AppendResult> append(const Batch& batch, const AppendOptions& options,
                              const FindInherited& inherited);

  /// Runs `work` as the only writer of the session in any process, with the log
  /// open, caught up and its torn tail cut off.
  Result<void> exclusively(const FindInherited& inherited,
                           const std::function<Result<void>(log::LogWriter&)>& work);
  /// Runs `work` with all writers kept out and the log left as it is.
  Result<void> undisturbed(const std::function<Result<void>()>& work);

  Result<void> close();

 private:
  struct Request {
    const Batch& batch;
    const AppendOptions& options;
    std::optional<Result<AppendResult>> result;
    bool done = false;  // guarded by mutex_; the result is the leader's until then
  };

  void lead(const FindInherited& inherited);
  void run(std::span<Request* const> group, const FindInherited& inherited);
  Result<void> run_locked(std::span<Request* const> group, const FindInherited& inherited);
  Result<std::size_t> plan_some(std::span<Request* const> group);
  Result<void> open_writer(const FindInherited& inherited);
  void take_turn();
  void end_turn();

  FileStore store_;
  log::LogPaths paths_;

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Request*> waiting_ GUARDED_BY(mutex_);
  bool busy_ GUARDED_BY(mutex_) = false;

  // Touched only by the thread whose turn it is (`busy_`).
  std::vector<Request*> group_;
  std::unique_ptr<log::LogWriter> writer_;
  std::shared_ptr<const Ancestry> inherited_;
};

}  // namespace quipu::file
