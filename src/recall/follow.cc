#include "recall/follow.h"

#include <vector>

#include "base/crc32c.h"
#include "base/time_text.h"
#include "base/try.h"
#include "model/envelope.h"

namespace quipu::recall {
namespace {

// A commit of this size takes some tens of milliseconds, in which others wait.
constexpr std::size_t kStretchEntries = 2000;
constexpr std::size_t kStretchBytes = std::size_t{4} << 20;
// Others take entries in at the same moment: each time this happens, it is further.
constexpr int kConflictsMax = 1000;

sql::Command moving(const sql::Text& move, const FollowCursor& from, const FollowCursor& to) {
  return {.text = move,
          .params = {to.head_crc, to.tail_crc, from.entries, from.emptied, to.entries}};
}

// False: others have moved the cursor meanwhile.
Result<bool> committed(sql::Engine& engine, const search::Writes& writes) {
  auto done = engine.commit(writes.commands, sql::Sync::kLater);
  if (done.ok()) return true;
  if (done.error().code() != Code::kIdConflict) return std::move(done).error();
  return false;
}

enum class Relation : unsigned char {
  kBehind,
  kEven,
  kNone,  // the tables are of another log
};

Result<bool> has_crc(const Lineage& log, Ordinal own, std::int64_t crc) {
  TRY_ASSIGN(const StoredEntry stored, log.own().entry(own));
  return std::int64_t{crc32c(stored.text)} == crc;
}

// Which of the log's entries the tables know.
Result<Relation> compare(const FollowCursor& cursor, const Lineage* log) {
  const Ordinal count = log == nullptr ? 0 : log->own().fold().count;
  if (cursor.entries == 0) return count == 0 ? Relation::kEven : Relation::kBehind;
  // It only grows, and was read after the cursor: one that is shorter is another one.
  if (cursor.entries > std::int64_t{count}) return Relation::kNone;
  const auto entries = static_cast<Ordinal>(cursor.entries);
  TRY_ASSIGN(const bool is_same, has_crc(*log, entries - 1, cursor.tail_crc));
  if (!is_same) return Relation::kNone;
  const FoldState& fold = log->own().fold();
  const Ordinal redaction = fold.last_fact[static_cast<std::size_t>(EntryType::kRedaction)];
  if (redaction != kNone && redaction - fold.base >= entries) return Relation::kNone;
  return entries == count ? Relation::kEven : Relation::kBehind;
}

// Entries as they are read: views into the log, but for what had to be decoded.
struct Stretch {
  std::vector<Envelope> envelopes;
  std::vector<FollowedEntry> entries;
  FollowCursor end;
};

Result<Stretch> read_stretch(const Lineage& log, const FollowCursor& cursor) {
  Stretch stretch;
  const auto from = static_cast<Ordinal>(cursor.entries);
  std::int64_t head_crc = cursor.head_crc;
  const LogView& own = log.own();
  std::size_t bytes = 0;
  Ordinal at = from;
  std::uint32_t crc = 0;
  std::vector<Ordinal> ordinals;
  for (; at < own.fold().count && at - from < kStretchEntries && bytes < kStretchBytes; ++at) {
    TRY_ASSIGN(const StoredEntry stored, own.entry(at));
    bytes += stored.text.size();
    crc = crc32c(stored.text);
    if (at == 0) head_crc = std::int64_t{crc};
    if (log.is_redacted(log.base() + at)) continue;
    Envelope& envelope = stretch.envelopes.emplace_back(read_envelope(stored.text));
    if (stored.adopted) adopt(envelope, stored.text);
    ordinals.push_back(at);
  }
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    const Envelope& envelope = stretch.envelopes[i];
    stretch.entries.push_back({.ordinal = ordinals[i],
                               .type = envelope.type.view(),
                               .payload = envelope.payload,
                               .time_ms = parse_timestamp(envelope.timestamp.view()).value_or(0)});
  }
  stretch.end.entries = std::int64_t{at};
  stretch.end.head_crc = head_crc;
  stretch.end.tail_crc = std::int64_t{crc};
  return stretch;
}

}  // namespace

Result<FollowCursor> read_cursor(sql::Engine& engine, const sql::Text& read) {
  TRY_ASSIGN(const auto rows, engine.ask(read));
  TRY_ASSIGN(const bool is_there, rows->next());
  if (!is_there) return Error(Code::kCorrupt, "an index lacks its cursor");
  return FollowCursor{.entries = rows->integer(0),
                      .head_crc = rows->integer(1),
                      .tail_crc = rows->integer(2),
                      .emptied = rows->integer(3)};
}

sql::Command holding(const sql::Text& move, const FollowCursor& at) { return moving(move, at, at); }

Result<Followed> follow(sql::Engine& engine, const ReadLog& read_log, const Follower& follower) {
  for (int conflicts = 0; conflicts < kConflictsMax;) {
    // In this order: the log is no older than what the cursor speaks of. That holds with a replica,
    // too: the store's own logs are never read from it.
    TRY_ASSIGN(const FollowCursor cursor, read_cursor(engine, follower.read_cursor()));
    TRY_ASSIGN(std::shared_ptr<const Lineage> log, read_log());
    TRY_ASSIGN(const Relation relation, compare(cursor, log.get()));
    if (relation == Relation::kEven) return Followed{.log = std::move(log), .cursor = cursor};

    search::Writes writes;
    Stretch stretch;  // what the commands refer to
    if (relation == Relation::kBehind) {
      TRY_ASSIGN(stretch, read_stretch(*log, cursor));
    }
    writes.commands.push_back(moving(follower.move_cursor(), cursor, stretch.end));
    if (relation == Relation::kBehind) {
      TRY(follower.take(engine, stretch.entries, writes));
      const bool is_last = stretch.end.entries == std::int64_t{log->own().fold().count};
      if (is_last) TRY(follower.finish(engine, writes));
    } else {
      follower.clear(writes);
    }
    TRY_ASSIGN(const bool is_done, committed(engine, writes));
    if (!is_done) ++conflicts;
  }
  return Error(Code::kBusy, "others bring the index up to date all the time");
}

Result<Followed> FollowedTables::catch_up(sql::Engine& engine) {
  const MutexLock lock(mutex_);
  return follow(engine, read_log_, follower_);
}

// Whether they are not those any more that `since` speaks of.
bool FollowedTables::was_emptied(sql::Engine& engine, const Followed& since) const {
  const auto cursor = read_cursor(engine, follower_.read_cursor());
  // No such tables: they are about to be made.
  if (!cursor.ok()) return cursor.error().code() == Code::kInvalidArgument;
  return cursor->emptied != since.cursor.emptied;
}

// The cursor goes back in the same commit: whoever comes next takes the log in again.
Result<void> FollowedTables::empty() {
  TRY(database_->prepare(embedding_tables()));
  TRY(database_->prepare(follower_.tables()));
  TRY_ASSIGN(const auto engine, database_->lease());
  for (int conflicts = 0; conflicts < kConflictsMax; ++conflicts) {
    TRY_ASSIGN(const FollowCursor cursor, read_cursor(*engine, follower_.read_cursor()));
    search::Writes writes;
    writes.commands.push_back(moving(follower_.move_cursor(), cursor, {}));
    follower_.clear(writes);
    TRY_ASSIGN(const bool is_done, committed(*engine, writes));
    if (is_done) return {};
  }
  return Error(Code::kBusy, "others bring the index up to date all the time");
}

Result<void> FollowedTables::rebuild() {
  // Dropped only when they are damaged or incomplete: others would find no tables.
  if (auto emptied = empty(); !emptied.ok()) {
    const Code code = emptied.error().code();
    if (code != Code::kCorrupt && code != Code::kInvalidArgument) return emptied;
    auto dropped = database_->drop(follower_.tables());
    if (!dropped.ok() && dropped.error().code() == Code::kCorrupt) dropped = database_->discard();
    TRY(dropped);
  }
  return refresh();
}

}  // namespace quipu::recall
