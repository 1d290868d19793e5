#include "backend/sql/sql_view.h"

#include <algorithm>

#include "backend/sql/statements.h"
#include "base/try.h"

namespace quipu::sqlstore {
namespace {

// About a megabyte at a time, by the session's average.
constexpr std::uint64_t kStretchBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kStretchMax = 1024;

Ordinal stretch_length(const LogHead& head) {
  const std::uint64_t average = head.bytes / std::max<Ordinal>(head.fold.count, 1) + 1;
  return static_cast<Ordinal>(std::clamp<std::uint64_t>(kStretchBytes / average, 1, kStretchMax));
}

Error missing(const std::string& session_id, Ordinal own) {
  return {Code::kCorrupt,
          "entry " + std::to_string(own) + " of session " + session_id + " is not in the database"};
}

}  // namespace

SqlView::SqlView(std::shared_ptr<sql::Pool> pool, std::string session_id, LogHead head)
    : pool_(std::move(pool)),
      session_id_(std::move(session_id)),
      head_(std::move(head)),
      stretch_(stretch_length(head_)) {}

Result<SqlView::Stretch> SqlView::fetch(Ordinal first, Ordinal end) const {
  return pool_->reading([&](sql::Engine& engine) -> Result<Stretch> {
    const sql::Param params[] = {session_id_, std::int64_t{first}, std::int64_t{end}};
    TRY_ASSIGN(const auto rows, engine.ask(kReadEntries, params));
    Stretch stretch;
    stretch.reserve(end - first);
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      stretch.push_back({.id = std::string(rows->text(0)),
                         .place = placement(rows->text(1), integer_or_null(*rows, 2),
                                            rows->integer(3), rows->integer(4) != 0),
                         .line = std::string(rows->text(5))});
    }
    if (stretch.size() != end - first) {
      return missing(session_id_, first + static_cast<Ordinal>(stretch.size()));
    }
    return stretch;
  });
}

Result<const SqlView::Row*> SqlView::row(Ordinal own) const {
  if (own >= head_.fold.count) return Error(Code::kInternal, "no such entry");
  const Ordinal first = own - own % stretch_;
  {
    MutexLock lock(mutex_);
    if (const auto known = stretches_.find(first); known != stretches_.end()) {
      return &known->second[own - first];
    }
  }
  // Two threads may fetch the same: the first to come back is kept.
  TRY_ASSIGN(Stretch stretch, fetch(first, std::min(first + stretch_, head_.fold.count)));
  MutexLock lock(mutex_);
  return &stretches_.emplace(first, std::move(stretch)).first->second[own - first];
}

Result<StoredEntry> SqlView::entry(Ordinal own) const {
  TRY_ASSIGN(const Row* found, row(own));
  return StoredEntry{.place = found->place, .text = found->line};
}

Result<std::vector<Placement>> SqlView::places() const {
  return pool_->reading([&](sql::Engine& engine) -> Result<std::vector<Placement>> {
    const sql::Param params[] = {session_id_, std::int64_t{head_.fold.count}};
    TRY_ASSIGN(const auto rows, engine.ask(kReadPlaces, params));
    std::vector<Placement> places;
    places.reserve(head_.fold.count);
    for (;;) {
      TRY_ASSIGN(const bool more, rows->next());
      if (!more) break;
      places.push_back(placement(rows->text(0), integer_or_null(*rows, 1), rows->integer(2),
                                 rows->integer(3) != 0));
    }
    if (places.size() != head_.fold.count) {
      return missing(session_id_, static_cast<Ordinal>(places.size()));
    }
    return places;
  });
}

Result<std::string> SqlView::id(Ordinal own) const {
  if (own + 1 == head_.fold.count) return head_.tail_id;
  if (own + head_.fold.base == head_.fold.head) return head_.head_id;
  TRY_ASSIGN(const Row* found, row(own));
  return found->id;
}

Result<std::optional<Ordinal>> SqlView::find(std::string_view id) const {
  return pool_->reading([&](sql::Engine& engine) -> Result<std::optional<Ordinal>> {
    const sql::Param params[] = {session_id_, id};
    TRY_ASSIGN(const auto found, engine.number(kFindEntry, params));
    if (!found || *found >= head_.fold.count) return std::optional<Ordinal>();
    return std::optional(static_cast<Ordinal>(*found));
  });
}

}  // namespace quipu::sqlstore
