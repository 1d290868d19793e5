// SqlView: one log at one moment. A log only grows, so a moment is a number of entries.
//
// Entries are fetched in stretches, when one of them is asked for, and kept as long as the
// view lives or until its reader is done with them: a row at a time would be a round trip an
// entry.
//
// Thread-safety: every call from every thread.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backend/lineage.h"
#include "backend/sql/log_head.h"
#include "base/mutex.h"
#include "sql/pool.h"

namespace quipu::sqlstore {

class SqlView : public LogView {
 public:
  SqlView(std::shared_ptr<sql::Pool> pool, std::string session_id, LogHead head);

  const FoldState& fold() const override { return head_.fold; }
  /// As far as it has been read.
  std::uint32_t damaged() const override EXCLUDES(mutex_);
  std::uint64_t settled_bytes() const override { return head_.bytes; }
  Result<StoredEntry> entry(Ordinal own) const override EXCLUDES(mutex_);
  void done_before(Ordinal own) const override EXCLUDES(mutex_);
  Result<std::vector<Placement>> places() const override;
  Result<std::string> id(Ordinal own) const override;
  Result<std::optional<Ordinal>> find(std::string_view id) const override;

 private:
  /// Texts, each copied once and never moved.
  class Texts {
   public:
    /// As much as is expected, for a start.
    explicit Texts(std::size_t bytes) : expected_(bytes) {}
    std::string_view add(std::string_view text);

   private:
    std::size_t expected_;
    char* next_ = nullptr;
    std::size_t left_ = 0;
    std::vector<std::unique_ptr<char[]>> blocks_;
  };
  struct Row {
    Placement place;
    std::string_view line;
    bool damaged = false;
  };
  struct Stretch {
    std::vector<Row> rows;
    Texts lines;
  };

  Result<std::unique_ptr<const Stretch>> fetch(Ordinal first, Ordinal end) const;

  const std::shared_ptr<sql::Pool> pool_;
  const std::string session_id_;
  const LogHead head_;
  const Ordinal length_;  // entries in a stretch
  // What has been fetched is read without the mutex.
  mutable std::vector<std::atomic<const Stretch*>> stretches_;
  mutable std::atomic<const Stretch*> tail_{nullptr};  // the last entry alone
  mutable std::atomic<Ordinal> let_go_{0};             // the stretches before it
  mutable Mutex mutex_;
  mutable std::vector<std::unique_ptr<const Stretch>> owned_ GUARDED_BY(mutex_);
  mutable std::set<Ordinal> damaged_ GUARDED_BY(mutex_);
};

}  // namespace quipu::sqlstore
