// UsageView: the requests of every log, made fresh by whoever asks; what the catalogue
// is to lists, for usage.
//
// Invariants
//   1. What exists is what the backend's survey says, and the log of usage that is in no
//      session.
//   2. A row is given out only when its log is unchanged since it was folded
//      (`is_fresh`), or after it was folded again. What it says of the session comes from
//      the catalogue, which has read at least as much.
//   3. The file (ViewFile) is a cache of rows and decides nothing.
//
// Not in the catalogue's own rows: lists read all of those, and would read all requests
// with them. Not through the catalogue's rows either: reading them takes longer than all
// the rest of an answer.
//
// Thread-safety: every call from every thread; one at a time makes rows fresh.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "view/catalogue.h"
#include "view/usage_row.h"

namespace quipu::view {

class UsageView {
 public:
  /// Where rows are kept.
  static const ViewSchema kFile;

  /// `file` null: in memory only.
  UsageView(std::shared_ptr<Backend> backend, std::shared_ptr<Catalogue> catalogue,
            std::unique_ptr<ViewFile> file)
      : backend_(std::move(backend)), catalogue_(std::move(catalogue)), file_(std::move(file)) {}

  /// A row for every log, by id; one that cannot be read says so in `problem`. Reads what
  /// was appended since the last time. Fails only when the logs cannot be listed.
  Result<std::vector<UsageRowPointer>> fresh_rows() EXCLUDES(mutex_);

 private:
  void load() REQUIRES(mutex_);
  /// From `rows_` to `now`.
  void save(const std::vector<UsageRowPointer>& now, const std::vector<UsageRowPointer>& changed)
      REQUIRES(mutex_);
  Result<std::vector<SurveyedLog>> survey();
  Result<UsageRowPointer> fold(const SurveyedLog& log, const UsageRow* known);

  const std::shared_ptr<Backend> backend_;
  const std::shared_ptr<Catalogue> catalogue_;
  Mutex mutex_;
  const std::unique_ptr<ViewFile> file_ GUARDED_BY(mutex_);
  bool loaded_ GUARDED_BY(mutex_) = false;
  std::vector<UsageRowPointer> rows_ GUARDED_BY(mutex_);  // by id
};

}  // namespace quipu::view
