// The file store: one sealed JSONL log a session, in one directory.
//
//   quipu.json               format version, store id, incarnation
//   store.lck                lock bytes; never deleted
//   sessions/<id>.jsonl      the log: the truth
//   sessions/<id>.idx        its offset index: disposable
//   attachments/<sha256>     large parts of payloads, shared by all sessions
//   system/<name>.jsonl      logs of the store's own; the same files otherwise
//   quarantine/ trash/       nothing vanishes
//   views.db usage.db        computed from the logs: see src/view
//
// The directory is the authority on what exists. Readers never write.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "backend/file/file_attachments.h"
#include "backend/file/file_session.h"
#include "backend/file/new_log.h"
#include "base/mutex.h"
#include "fs/fs.h"
#include "log/session_lock.h"
#include "log/snapshot.h"

namespace quipu::file {

inline constexpr int kStoreFormat = 1;

struct FileBackendOptions {
  bool create = false;
  std::chrono::milliseconds lock_wait{5000};
};

class FileBackend : public Backend {
 public:
  /// Opens the store in the root of `fs`; makes it there when told to.
  static Result<std::shared_ptr<Backend>> open(std::unique_ptr<fs::Fs> fs, Clock& clock,
                                               Random& random, const FileBackendOptions& options);

  const std::string& store_id() const override { return store_id_; }
  Filler filler() override { return {.clock = clock_, .random = random_}; }

  Result<std::vector<std::string>> list() override;
  Result<std::vector<SurveyedLog>> survey() override;
  Result<SurveyedLog> survey(const std::string& session_id) override;
  Result<std::vector<std::string>> list_system() override;
  Result<void> drop_system(const std::string& log_id) override;
  Result<void> create(const std::string& session_id, std::span<const std::string> entries) override;
  Result<std::unique_ptr<NewLog>> new_log(const std::string& session_id) override;
  Result<std::vector<std::size_t>> create_all(std::vector<std::unique_ptr<NewLog>> logs) override;
  Result<SessionHeader> header(const std::string& session_id) override;
  Result<std::shared_ptr<const LogView>> view(const std::string& session_id,
                                              std::shared_ptr<const Ancestry> inherited) override;
  Result<AppendResult> append(const std::string& session_id, const Batch& batch,
                              const AppendOptions& options) override;
  std::unique_ptr<LogWatch> watch() override;
  Result<void> settle(const std::string& session_id) override;
  AttachmentStore& attachments() override { return attachments_; }
  Result<MigrationResult> migrate(const std::string& session_id) override;
  Result<VerifyReport> verify(const std::string& session_id) override;
  Result<RepairReport> repair(const std::string& session_id) override;
  Result<std::vector<DumpLine>> dump(const std::string& session_id) override;
  Result<void> close() override;

 private:
  FileBackend(std::unique_ptr<fs::Fs> fs, Clock& clock, Random& random)
      : fs_(std::move(fs)), clock_(clock), random_(random), attachments_(*fs_) {}

  Result<void> load(const FileBackendOptions& options);
  /// Before the first write: nothing that is acknowledged may stand in a directory
  /// whose own name could be lost. Readers need not wait for a disk.
  Result<void> settle_names();
  /// After names were made or changed.
  Result<void> sync_names(const std::string& directory);
  std::shared_ptr<FileSession> session(const std::string& session_id);
  Result<std::unique_ptr<FileNewLog>> begin(const std::string& session_id);
  void close_idle(std::shared_ptr<FileSession> oldest);
  /// Refers to `session_id`: for the length of one call.
  FileSession::FindInherited inherited_of(const std::string& session_id);
  Result<VerifyReport> verify_once(const std::string& session_id);
  Result<std::vector<std::string>> quarantine_damage(const std::string& session_id);

  std::unique_ptr<fs::Fs> fs_;
  Clock& clock_;
  Random& random_;
  FileAttachments attachments_;
  std::string store_id_;
  SipKey key_;
  std::unique_ptr<log::LockFile> locks_;
  std::atomic<bool> names_settled_ = false;

  Mutex mutex_;
  // Open sessions, most recently used first; the oldest idle ones are closed so
  // that a store of many sessions does not run out of file descriptors.
  std::list<std::pair<std::string, std::shared_ptr<FileSession>>> sessions_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, decltype(sessions_)::iterator> by_id_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<const log::LogSnapshot>> snapshots_ GUARDED_BY(mutex_);
  // Of a session that was closed to make room: close() must report it.
  std::optional<Error> late_failure_ GUARDED_BY(mutex_);
};

}  // namespace quipu::file
