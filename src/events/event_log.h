// EventLog: the rolling log that events are kept in.
//
// Invariants:
//   1. Segment n is the log `system/events.<n, eight digits>`. Numbers have no gaps: the
//      oldest are dropped first, and n+1 is made after n is closed.
//   2. A segment is closed by a `run_start`. Everybody appends with an empty fence, which
//      refuses what comes after one: so a closed segment never changes, and whoever has
//      seen n+1 and then reads n to its end has seen all of n.
//   3. A segment begins with the positions (positions.h) at the end of the one before.
//   4. Nobody appends to a segment other than the newest that a listing showed.
//
// Thread-safety: every call from every thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/mutex.h"
#include "events/positions.h"
#include "quipu/events.h"

namespace quipu::events {

/// The store can be read and not written.
bool is_read_only(Code code);
/// Wrong with the session that was read, and not with the store: others can be told of.
bool is_of_one_session(Code code);
/// One of these: what its log holds is wrong, and stays so until it looks different.
bool is_of_content(Code code);

/// An entry of a segment without its payload's meaning.
bool is_bookkeeping(std::string_view type);

class EventLog {
 public:
  EventLog(std::shared_ptr<Backend> backend, const EventOptions& options)
      : backend_(std::move(backend)), options_(options) {}

  Backend& backend() { return *backend_; }

  static std::string log_id(std::uint64_t number);
  static bool is_segment(std::string_view log_id);
  /// Of the segments that are there, oldest first.
  Result<std::vector<std::uint64_t>> numbers();
  Result<bool> exists(std::uint64_t number);
  Result<std::shared_ptr<const Lineage>> read(std::uint64_t number);
  Result<EventSegment> describe(std::uint64_t number);
  Result<void> drop(std::uint64_t number) { return backend_->drop_system(log_id(number)); }

  /// The segment to append to: made when there is none, the next one when it is full.
  Result<std::uint64_t> newest() EXCLUDES(mutex_);
  /// Durable on return. Nothing when the segment is not the newest any more: ask for that
  /// again. Entries that are stored already are passed over.
  Result<std::optional<AppendResult>> append(std::uint64_t number,
                                             std::span<const NewEntry> entries) EXCLUDES(mutex_);

  /// Appends events. `may_be_stored`: their ids are looked for in older segments, too.
  Result<EventsAppended> append_events(std::span<const NewEntry> entries, bool may_be_stored)
      EXCLUDES(mutex_);

 private:
  /// The segment that was the newest last time.
  struct Newest {
    std::uint64_t number = 0;
    std::int64_t begun_ms = 0;
    std::uint64_t head_bytes = 0;  // header and positions
  };

  Result<Newest> look(std::uint64_t number);
  Result<bool> is_full(const Newest& segment);
  /// Closes it, unless it is, and makes the next, unless it is there.
  Result<void> roll(std::uint64_t number);
  Result<void> make(std::uint64_t number, const Positions& positions);
  Result<Positions> positions_after(std::uint64_t number);
  /// Which of these are stored in segments before this one.
  Result<std::vector<bool>> stored_before(std::uint64_t number, std::span<const NewEntry> entries)
      EXCLUDES(mutex_);

  const std::shared_ptr<Backend> backend_;
  const EventOptions options_;

  Mutex mutex_;
  std::optional<Newest> newest_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::shared_ptr<const Lineage>> closed_ GUARDED_BY(mutex_);
};

}  // namespace quipu::events
