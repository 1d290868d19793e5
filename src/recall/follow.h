// Following a log: tables of the index database that say what the log says.
//
// A cursor in the tables tells how many entries of the log are in them, and the checksums of
// the first and the last. Before anything is asked, the entries behind it are taken in, a stretch a
// commit; the commit fails when others have moved the cursor meanwhile, and what they took in
// is looked at instead. When the log is not the one that the cursor speaks of (another
// one was put in its place, or something in it was redacted), the tables are emptied first.
//
// So an append knows nothing of the tables, nothing is lost when a process ends between the
// two, and tables made from nothing are the same as those that grew.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backend/lineage.h"
#include "base/mutex.h"
#include "base/try.h"
#include "recall/embedding_outbox.h"
#include "search/index_database.h"

namespace quipu::recall {

struct FollowedEntry {
  Ordinal ordinal = 0;
  std::string_view type{};
  std::string_view payload{};
  std::int64_t time_ms = 0;  // 0: not said
};

/// How far a log has been read.
struct FollowCursor {
  std::int64_t entries = 0;
  /// Checksums of the first and of the last of them.
  std::int64_t head_crc = 0;
  std::int64_t tail_crc = 0;
  /// Another one whenever the tables were emptied, or made.
  std::int64_t emptied = 0;
  bool operator==(const FollowCursor&) const = default;
};

class Follower {
 public:
  virtual ~Follower() = default;

  /// Among them a table of one row from the beginning that these are about: zeros, and any number
  /// as `emptied`.
  virtual const search::IndexTables& tables() const = 0;
  /// Gives `entries`, `head_crc`, `tail_crc` and `emptied`.
  virtual sql::Text read_cursor() const = 0;
  /// Sets `head_crc` and `tail_crc` to $1 and $2 and, if `entries` and `emptied` were $3 and $4,
  /// `entries` to $5; else to null, where none may be: that is how the commit is made to fail.
  /// `emptied` is compared because tables that were emptied and filled again meanwhile look as
  /// they did, and what was read of them in between does not.
  virtual sql::Text move_cursor() const = 0;

  /// Empties the tables, and counts that in `emptied`.
  virtual void clear(search::Writes& writes) const = 0;
  /// With the last of the log's entries: takes away what was kept for texts that were there when
  /// the tables were emptied, and are not in the log any more.
  virtual Result<void> finish(sql::Engine& engine, search::Writes& writes) const = 0;
  /// What taking in the entries means for the tables, which `engine` shows as they are.
  virtual Result<void> take(sql::Engine& engine, std::span<const FollowedEntry> entries,
                            search::Writes& writes) const = 0;
};

/// The log as it is now; null: there is none.
using ReadLog = std::function<Result<std::shared_ptr<const Lineage>>()>;

struct Followed {
  std::shared_ptr<const Lineage> log{};
  FollowCursor cursor{};
};

/// Brings the tables, which must be there, up to the log.
Result<Followed> follow(sql::Engine& engine, const ReadLog& read_log, const Follower& follower);

/// As Follower::read_cursor says.
Result<FollowCursor> read_cursor(sql::Engine& engine, const sql::Text& read);
/// For a commit that must not happen when the cursor is not there any more: it fails with
/// `id_conflict`. `move` is Follower::move_cursor.
sql::Command holding(const sql::Text& move, const FollowCursor& at);

/// Tables that follow a log, ready to be asked.
///
/// Thread-safety: every call from every thread.
class FollowedTables {
 public:
  FollowedTables(std::shared_ptr<search::IndexDatabase> database, ReadLog read_log,
                 const Follower& follower)
      : database_(std::move(database)), read_log_(std::move(read_log)), follower_(follower) {}

  /// Calls `work(engine, followed)` on tables that say what the log says. Tables that are
  /// damaged are made anew, a connection that was lost is replaced, and it is called again; so it
  /// is when others have emptied the tables meanwhile, to make them anew.
  template <class Work>
  auto use(Work&& work) -> decltype(work(std::declval<sql::Engine&>(), Followed())) {
    int times_emptied = 0;
    for (bool is_again = false;;) {
      bool is_lost = false;
      bool is_emptied = false;
      auto answer = attempt(work, is_lost, is_emptied);
      if (is_emptied && ++times_emptied < kTimesEmptiedMax) continue;
      if (is_emptied) return Error(Code::kBusy, "others make the index anew all the time");
      if (answer.ok() || is_again) return answer;
      const bool is_damaged = answer.error().code() == Code::kCorrupt;
      if (!is_damaged && !is_lost) return answer;
      if (is_damaged) TRY(database_->discard());
      is_again = true;
    }
  }

  /// Brings the tables up to the log. For who has appended something that others must not go on
  /// with: texts that wait in the outbox go to the endpoint whoever works on it.
  Result<void> refresh() {
    return use([](sql::Engine&, const Followed&) { return Result<void>(); });
  }

  /// Makes the tables anew. Others go on using them.
  Result<void> rebuild();

 private:
  static constexpr int kTimesEmptiedMax = 100;

  template <class Work>
  auto attempt(Work& work, bool& is_lost, bool& is_emptied)
      -> decltype(work(std::declval<sql::Engine&>(), Followed())) {
    TRY(database_->prepare(embedding_tables()));
    TRY(database_->prepare(follower_.tables()));
    TRY_ASSIGN(const auto engine, database_->lease());
    auto followed = catch_up(*engine);
    if (followed.ok()) {
      auto answer = work(*engine, *followed);
      is_lost = !engine->is_usable();
      is_emptied = !is_lost && was_emptied(*engine, *followed);
      return answer;
    }
    // No such tables: others have dropped them since they were prepared.
    is_lost = !engine->is_usable() || followed.error().code() == Code::kInvalidArgument;
    return std::move(followed).error();
  }

  Result<Followed> catch_up(sql::Engine& engine) EXCLUDES(mutex_);
  bool was_emptied(sql::Engine& engine, const Followed& since) const;
  Result<void> empty();

  const std::shared_ptr<search::IndexDatabase> database_;
  const ReadLog read_log_;
  const Follower& follower_;
  Mutex mutex_;  // one at a time takes entries in: others would do the same work in vain
};

}  // namespace quipu::recall
