// SqlView: one log at one moment. A log only grows, so a moment is a number of entries.
//
// Entries are fetched in stretches, when one of them is asked for, and kept as long as the
// view lives: a row at a time would be a round trip an entry.
//
// Thread-safety: every call from every thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backend/lineage.h"
#include "backend/sql/log_head.h"
#include "base/mutex.h"
#include "sql/pool.h"

namespace quipu::sqlstore {

class SqlView : public LogView {
 public:
  SqlView(std::shared_ptr<sql::Pool> pool, std::string session_id, LogHead head);

  const FoldState& fold() const override { return head_.fold; }
  std::uint32_t damaged() const override { return 0; }
  std::uint64_t settled_bytes() const override { return head_.bytes; }
  Result<StoredEntry> entry(Ordinal own) const override;
  Result<std::vector<Placement>> places() const override;
  Result<std::string> id(Ordinal own) const override;
  Result<std::optional<Ordinal>> find(std::string_view id) const override;

 private:
  struct Row {
    std::string id;
    Placement place;
    std::string line;
  };
  using Stretch = std::vector<Row>;

  Result<const Row*> row(Ordinal own) const EXCLUDES(mutex_);
  Result<Stretch> fetch(Ordinal first, Ordinal end) const;

  const std::shared_ptr<sql::Pool> pool_;
  const std::string session_id_;
  const LogHead head_;
  const Ordinal stretch_;  // entries in one
  mutable Mutex mutex_;
  mutable std::map<Ordinal, Stretch> stretches_ GUARDED_BY(mutex_);  // never taken out
};

}  // namespace quipu::sqlstore
