// Backend: the contract of a storage engine. What all of them answer is in
// test/contract; how a session looks across logs is in lineage.h; what a batch
// does is in plan.h. A backend stores lines, finds them again, and keeps
// writers of one session apart.
//
// Thread-safety: every call from every thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/attachment.h"
#include "backend/lineage.h"
#include "backend/log_watch.h"
#include "base/clock.h"
#include "model/door.h"
#include "model/envelope.h"
#include "model/session_header.h"
#include "quipu/inspect.h"
#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

/// One session's log as the storage shows it, without a look inside. While
/// `device`, `inode`, `bytes` and `modified_ms` stay the same, so do the entries
/// that are settled (LogView::settled_bytes) at `bytes`.
struct SurveyedLog {
  std::string session_id{};
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// In the measure of LogView::settled_bytes.
  std::uint64_t bytes = 0;
  std::int64_t modified_ms = 0;
};

/// A session in the making. Nobody sees it before `Backend::create_all`, and
/// nothing is left of one that never comes there.
///
/// Thread-safety: one thread at a time.
class NewLog {
 public:
  explicit NewLog(std::string session_id) : session_id_(std::move(session_id)) {}
  virtual ~NewLog() = default;

  const std::string& session_id() const { return session_id_; }

  /// Adds an entry, the header first. It is taken as it is: what is added must pass
  /// the door.
  virtual Result<void> add(const EntryParts& entry) = 0;
  /// After the last entry.
  virtual Result<void> finish() = 0;

 private:
  const std::string session_id_;
};

/// Logs of the store's own: `system/<name>`. They are logs like all others and
/// take every call, but are no sessions: `list` and `survey` leave them out, and
/// no session id has a slash.
inline constexpr std::string_view kSystemPrefix = "system/";

/// `not_found`.
Error no_session(const std::string& session_id);

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const std::string& store_id() const = 0;
  /// Where ids and timestamps come from.
  virtual Filler filler() = 0;

  /// Ids of all sessions, sorted.
  virtual Result<std::vector<std::string>> list() = 0;
  /// All sessions, sorted by id, at the price of a look at the directory. One that
  /// is there and cannot be looked at has its id alone; asking for it says why.
  virtual Result<std::vector<SurveyedLog>> survey() = 0;
  /// One of them, or of the store's own. What is viewed after that is not older.
  virtual Result<SurveyedLog> survey(const std::string& session_id) = 0;

  /// Ids of all logs of the store's own (kSystemPrefix), sorted.
  virtual Result<std::vector<std::string>> list_system() = 0;
  /// Removes a log of the store's own with its entries. Whoever appends to it later is
  /// told `not_found`. Views that were given out stay as they are, where the storage
  /// keeps them.
  virtual Result<void> drop_system(const std::string& log_id) = 0;

  /// Makes a session from complete JSON objects, the header first, all or
  /// nothing and durable. `id_conflict` when it exists.
  virtual Result<void> create(const std::string& session_id,
                              std::span<const std::string> entries) = 0;

  /// Begins a session that `create_all` is to make.
  virtual Result<std::unique_ptr<NewLog>> new_log(const std::string& session_id);

  /// Makes several sessions, each as `create` does, while the disk is waited for once.
  /// All are this backend's, and finished. Which of them exist already and are left as
  /// they are, by their places. After an error some of the others may have been made.
  virtual Result<std::vector<std::size_t>> create_all(std::vector<std::unique_ptr<NewLog>> logs);

  /// What the first entry says; a default header when it is none.
  virtual Result<SessionHeader> header(const std::string& session_id) = 0;

  /// The own log of a session. `inherited` is what its header names; null when
  /// that is nothing.
  virtual Result<std::shared_ptr<const LogView>> view(
      const std::string& session_id, std::shared_ptr<const Ancestry> inherited) = 0;

  virtual Result<AppendResult> append(const std::string& session_id, const Batch& batch,
                                      const AppendOptions& options) = 0;

  /// For as long as this backend lives.
  virtual std::unique_ptr<LogWatch> watch();

  /// Makes durable whatever of the session can be read: before something durable
  /// refers to it.
  virtual Result<void> settle(const std::string& session_id) = 0;

  /// Shared by all sessions. Lives as long as the backend.
  virtual AttachmentStore& attachments() = 0;

  virtual Result<MigrationResult> migrate(const std::string& session_id) = 0;
  virtual Result<VerifyReport> verify(const std::string& session_id) = 0;
  virtual Result<RepairReport> repair(const std::string& session_id) = 0;
  virtual Result<std::vector<DumpLine>> dump(const std::string& session_id) = 0;

  virtual Result<void> close() = 0;

  /// The session across its logs.
  Result<std::shared_ptr<const Lineage>> lineage(const std::string& session_id);
  /// What the session inherits; null when it is no fork.
  Result<std::shared_ptr<const Ancestry>> ancestry(const std::string& session_id);

 protected:
  /// What was added to a log that the `new_log` of this class began.
  static std::span<const std::string> entries_of(const NewLog& log);

 private:
  Result<std::shared_ptr<const Lineage>> lineage(const std::string& session_id, int forks);
  Result<std::shared_ptr<const Ancestry>> ancestry(const std::string& session_id, int forks);
};

}  // namespace quipu
