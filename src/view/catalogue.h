// The catalogue: one row for every session, made fresh by whoever asks.
//
// Invariants
//   1. What exists is what the backend's survey says. A row without a log is
//      dropped, a log without a row is folded.
//   2. A row is shown only when its log is unchanged since it was folded
//      (`is_fresh`), or after it was folded again.
//   3. The file (ViewFile) is a cache of rows and decides nothing.
//   4. `described_` holds rows that were made since the last list, newer than
//      those of `rows_` and of the file. The next list goes on from them.
//
// Appends do not touch it: freshness is pulled by reads and never pushed.
// Between lists rows stay in memory, so what other processes write to the file
// is of no interest: it could only say what the survey says anyway.
//
// Thread-safety: every call from every thread. One at a time makes all rows
// fresh; whoever asks for one session does not wait for it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/mutex.h"
#include "view/session_row.h"
#include "view/view_file.h"

namespace quipu::view {

class Catalogue {
 public:
  /// Where rows are kept.
  static const ViewSchema kFile;

  /// `file` null: in memory only.
  Catalogue(std::shared_ptr<Backend> backend, std::unique_ptr<ViewFile> file)
      : backend_(std::move(backend)), file_(std::move(file)) {}

  /// Makes every row fresh. Fails only when the logs cannot be listed.
  Result<void> refresh() EXCLUDES(listing_, mutex_);

  /// From the rows as they are; see SessionStore::list_sessions.
  Result<Page<SessionSummary>> query(const SessionFilter& filter, const PageRequest& page)
      EXCLUDES(mutex_);

  /// The two of them.
  Result<Page<SessionSummary>> list(const SessionFilter& filter, const PageRequest& page);

  /// Drops the row of a session whose log was repaired: what it says may come from an index
  /// that did not fit, and the log is as it was.
  void forget(const std::string& session_id) EXCLUDES(listing_, mutex_);

  /// One session, at the price of what is new in its log since its row was made.
  Result<SessionSummary> describe(const std::string& session_id) EXCLUDES(mutex_);

 private:
  void load() REQUIRES(mutex_);
  Result<RowPointer> fold(const SurveyedLog& log, const SessionRow* known);
  RowPointer known_row(const std::string& session_id) EXCLUDES(mutex_);
  void keep(const RowPointer& row, const SessionRow* known) EXCLUDES(mutex_);
  void sort() REQUIRES(mutex_);
  SessionSummary shown(const SessionRow& row) const REQUIRES(mutex_);

  const std::shared_ptr<Backend> backend_;
  Mutex listing_;  // before `mutex_`
  Mutex mutex_;
  const std::unique_ptr<ViewFile> file_ GUARDED_BY(mutex_);
  bool loaded_ GUARDED_BY(mutex_) = false;
  std::vector<RowPointer> rows_ GUARDED_BY(mutex_);                        // by id
  std::vector<RowPointer> newest_ GUARDED_BY(mutex_);                      // the same, newest first
  std::unordered_map<std::string, std::string> parts_ GUARDED_BY(mutex_);  // see kinship.h
  std::map<std::string, RowPointer> described_ GUARDED_BY(mutex_);
};

}  // namespace quipu::view
