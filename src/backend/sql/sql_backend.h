// The contract on a database, whichever: SQLite and PostgreSQL differ in the drivers of
// src/sql and nowhere here.
//
//   entries                                   the log, verbatim: the truth
//   heads, lineage                            where logs end, what forks go on from
//   attachments, attachment_chunks            large parts of payloads
//   sessions, messages, message_parts,        computed from entries, in the same
//   session_runtime_state, projects             transaction; for people and other programs
//   quipu_schema, quipu_store                 version of all this; id of the store
//
// Appends are optimistic: see sql_append.h.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "backend/backend.h"
#include "backend/sql/log_head.h"
#include "backend/sql/sql_append.h"
#include "backend/sql/sql_attachments.h"
#include "base/mutex.h"
#include "sql/pool.h"
#include "sql/upgrade.h"

namespace quipu::sqlstore {

struct SqlBackendOptions {
  bool create = false;
  /// How long an append tries again when others are faster or the server is away.
  std::chrono::nanoseconds wait = std::chrono::seconds(5);
};

/// A place in the order in which entries of all sessions were committed.
struct FeedEntry {
  std::string cursor;
  std::string session_id;
  Ordinal ordinal = 0;
  std::string id;
};

class SqlBackend : public Backend {
 public:
  /// `replica`, if there is one, is asked for what is only read; what this process has seen
  /// newer, and logs of the store's own, are asked of the first.
  static Result<std::shared_ptr<SqlBackend>> open(sql::Pool::Open primary, sql::Pool::Open replica,
                                                  Clock& clock, Random& random,
                                                  const SqlBackendOptions& options);

  const std::string& store_id() const override { return store_id_; }
  Filler filler() override { return {.clock = clock_, .random = random_}; }

  Result<std::vector<std::string>> list() override;
  Result<std::vector<SurveyedLog>> survey() override;
  Result<SurveyedLog> survey(const std::string& session_id) override;
  Result<std::vector<std::string>> list_system() override;
  Result<void> drop_system(const std::string& log_id) override;
  Result<void> create(const std::string& session_id, std::span<const std::string> entries) override;
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

  /// The connections to the database.
  const std::shared_ptr<sql::Pool>& connections() const { return primary_; }

  /// What was committed after `cursor` (empty: everything), in an order in which nothing
  /// appears later before something that was given out.
  Result<std::vector<FeedEntry>> feed(std::string_view cursor, std::size_t limit);

 private:
  /// What this process believes of a session.
  struct Session {
    Mutex mutex;  // one append at a time
    std::optional<LogHead> head GUARDED_BY(mutex);
    std::optional<std::shared_ptr<const Ancestry>> inherited GUARDED_BY(mutex);
    std::atomic<std::int64_t> seen{0};  // entries that this process has seen

    void has_seen(std::int64_t entries);
  };

  SqlBackend(sql::Pool::Open primary, sql::Pool::Open replica, Clock& clock, Random& random,
             const SqlBackendOptions& options);

  Result<void> load(const SqlBackendOptions& options, const sql::Pool::Open& primary);
  Result<void> check_writable() const;
  std::shared_ptr<Session> session(const std::string& session_id) EXCLUDES(mutex_);
  bool is_behind(const std::unordered_map<std::string, std::int64_t>& entries) EXCLUDES(mutex_);
  Result<LogHead> head_of(sql::Pool& pool, const std::string& session_id);
  /// Looks where the session stands. With `turn` others wait until that is dropped.
  Result<void> look(const std::string& session_id, Session& session, std::shared_ptr<void>* turn)
      REQUIRES(session.mutex);
  /// Tries until it is known what became of the batch, or for as long as the store waits. `unsure`
  /// is the error of an attempt whose answer was lost.
  Result<void> append(Session& known, const Batch& batch, const AppendOptions& options,
                      AppendResult& result, std::optional<Error>& unsure) REQUIRES(known.mutex);
  /// Whether an entry is there whose id was filled in for this batch, so that nobody else has it.
  Result<bool> has_made_up_id(const std::string& session_id, const Batch& batch);
  Result<void> commit(std::span<const sql::Command> commands, sql::Sync sync);
  /// The new log as commands.
  Result<std::unique_ptr<SqlAppend>> planned_log(const std::string& session_id,
                                                 std::span<const std::string> entries);
  /// Commits new logs. False when one of them exists, and was not made by this very call.
  Result<bool> make(std::span<const sql::Command> commands, const std::string& session_id,
                    const LogHead& head);

  Clock& clock_;
  Random& random_;
  const std::chrono::nanoseconds wait_;
  const std::shared_ptr<sql::Pool> primary_;
  const std::shared_ptr<sql::Pool> replica_;  // the same without one
  SqlAttachments attachments_;
  std::string store_id_;
  std::optional<Error> not_writable_;
  /// Something was committed that did not wait for the disk.
  std::atomic<bool> is_unsettled_{false};

  Mutex mutex_;
  // Most recently used first.
  std::list<std::pair<std::string, std::shared_ptr<Session>>> sessions_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, decltype(sessions_)::iterator> by_id_ GUARDED_BY(mutex_);
};

}  // namespace quipu::sqlstore
