// Events: a rolling log of what happened, and the store's own changes as a feed in it.
//
// Programs append events of their own. Whoever tails gets them together with what was
// done to the store's sessions, by whatever process, in one order that is the same for
// everybody, and can go on from any place in it:
//
//   quipu::EventStore events(*store);
//   auto tail = events.tail(saved_cursor);
//   for (;;) {
//     auto batch = tail->next(std::chrono::seconds(10));
//     for (const quipu::Event& event : *batch) handle(event);
//     save(tail->cursor());
//   }
//
// Nothing is skipped and nothing repeated, across processes, restarts and kills: nobody is
// told of changes by those who make them, but whoever tails compares what the store has
// with what the feed has said, and adds the difference to the log (docs/events.md). So a
// store that nobody tails pays nothing, and a change that nobody was there to see is in
// the feed when somebody comes.
//
// The log is kept in segments, which follow each other by size and age. Old ones are
// removed by `prune` and by nothing else.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

namespace events {
class EventLog;
}

/// An event to append.
struct NewEvent {
  /// As the id of an entry; it must not begin with "quipu:". Empty: a UUIDv7.
  std::string id{};
  /// Required, at most kEventTypeBytesMax bytes. Those that begin with "quipu." are the
  /// store's own.
  std::string type{};
  /// RFC 3339, UTC. Empty: now.
  std::string timestamp{};
  /// Who says it. Empty: absent.
  std::string source{};
  /// A JSON object.
  std::string payload = "{}";
};

inline constexpr std::size_t kEventTypeBytesMax = 256;

/// An event from one JSON object: `type`, and where they are given `id`, `timestamp`,
/// `source`, `payload`. `invalid_argument` for everything else.
Result<NewEvent> read_event(std::string_view json);

/// An event of the log.
///
/// The store's own have these types and payloads:
///
///   quipu.session_created    {session, ordinal, entry, type}  its header was stored
///   quipu.entry_appended     {session, ordinal, entry, type}  any other entry
///   quipu.session_changed    {session, ordinal, entry, type}  a `session_info`: title, tags,
///                                                             archived …
///   quipu.entry_redacted     {session, ordinal, entry, type, target}
///   quipu.session_replaced   {session}   its log is not the one that the feed has told of
///                                        (restored, cut off): forget that; what it has now
///                                        follows from its first entry on
///   quipu.session_removed    {session}
///   quipu.memory_changed     {log, ordinal, entry, type}      an entry of a log of the store's
///                                        own, `log`: something was remembered or forgotten;
///                                        and knowledge_changed, usage_changed, projects_changed
///   quipu.memory_replaced, quipu.memory_removed {log}, and so on: as for sessions
///   quipu.pruned             {before}    segments before this number are gone
///
/// `ordinal` is the number of the entry among those that the session sees, `entry` its id
/// and `type` its type. An entry that is not there any more, or cannot be read, has neither.
/// Entries of one session come in the order of its log, each once; their timestamps are their
/// own.
struct Event {
  /// To go on right after this event.
  std::string cursor;
  std::string id;
  std::string type;
  std::string timestamp;
  std::string source;  // empty: absent
  std::string payload;
};

/// When the next segment is begun: by whoever appends first beyond either limit. Processes
/// may differ.
struct EventOptions {
  /// Of events, in bytes of the log.
  std::uint64_t segment_bytes = std::uint64_t{16} << 20;
  /// Since the segment was begun.
  std::chrono::hours segment_age{24 * 7};
};

struct EventsAppended {
  /// In the order of the events, filled-in ones included.
  std::vector<std::string> ids;
  std::size_t appended = 0;
  /// Stored before, the same: nothing was added for them.
  std::size_t already_present = 0;
};

struct TailOptions {
  /// Without a cursor: what is appended from now on, instead of everything that is kept.
  bool from_now = false;
  /// Only events of these types; empty: of all.
  std::vector<std::string> types{};
  /// Only events whose payload has this `session`; empty: all. Those of a session in the
  /// store have.
  std::string session{};
  /// At most so many events at once.
  std::size_t batch = 1000;
};

/// One segment of the log.
struct EventSegment {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  std::int64_t begun_ms = 0;
  /// Nothing is appended to it any more; the newest is open.
  bool closed = false;
  /// When the next was begun; 0 while it is open.
  std::int64_t closed_ms = 0;
};

struct PruneOptions {
  /// Segments that were closed before this time are removed (Unix time in ms; 0: none).
  std::int64_t closed_before_ms = 0;
  /// The oldest are removed until the rest has at most so many bytes.
  std::optional<std::uint64_t> bytes_max{};
  /// Says what would be removed, and removes nothing.
  bool dry_run = false;
};

struct PruneReport {
  std::vector<EventSegment> removed;
  std::vector<EventSegment> kept;
};

/// One reader of the log: what is there, then what comes.
///
/// Thread-safety: one thread at a time, but for `cancel`. The store must stay open.
class EventTail {
 public:
  EventTail(EventTail&&) noexcept;
  EventTail& operator=(EventTail&&) noexcept;
  ~EventTail();

  /// The next events, at least one; when there are none, waits for so long at most, and
  /// then gives none. 0: does not wait. What it gives is on the disk. Others' appends are
  /// noticed at once on files, within about a tenth of a second elsewhere.
  ///
  /// After an error nothing is lost: the next call goes on at the same place. `not_found`
  /// when events that come next were pruned meanwhile: `Error::actual` is a cursor to go
  /// on from.
  Result<std::vector<Event>> next(std::chrono::milliseconds wait);

  /// After everything that was given out or passed over by the filter.
  std::string cursor() const;

  /// Ends a `next` that waits, which then gives none, and makes all later ones give none.
  /// From any thread.
  void cancel();
  bool is_cancelled() const;

  /// Why changes of sessions are not added to the log, when they are not: the store cannot
  /// be written. What others added is given all the same, and the next call tries again.
  const std::optional<Error>& journal_problem() const;
  /// Lines of the segments read so far that are damaged: events that are lost.
  std::uint32_t damaged() const;

 private:
  friend class EventStore;
  struct State;
  explicit EventTail(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The events of a store. Made where it is needed; keeps little.
///
/// Thread-safety: every call from every thread.
class EventStore {
 public:
  explicit EventStore(const Store& store, const EventOptions& options = {});

  /// Appends events, in this order and side by side; durable on return. All or nothing, but
  /// for those that are stored already: an id that any kept segment has is passed over
  /// when its event is the same in what the caller gave, and is `id_conflict` when it is not.
  /// `invalid_argument`, `too_large`, `bad_batch` for what no entry may be; then as
  /// SessionStore::append_session_entries. An error carries the ids.
  Result<EventsAppended> append(std::span<const NewEvent> events);

  /// A reader that goes on after `cursor`; empty: from the oldest event that is kept.
  /// `invalid_argument` for a cursor that is none, or is of another store. `not_found` when
  /// what comes after it is not there any more, or never was (the store was restored from
  /// an older copy): `Error::actual` is the cursor of the oldest place to go on from.
  Result<EventTail> tail(std::string_view cursor = {}, const TailOptions& options = {});

  /// Oldest first.
  Result<std::vector<EventSegment>> segments();

  /// Removes old segments, whole and oldest first; never the newest. Says so in the log.
  Result<PruneReport> prune(const PruneOptions& options);

 private:
  friend class EventWriter;
  std::shared_ptr<events::EventLog> log_;
};

enum class WhenFull : unsigned char {
  kBusy,  // `add` answers `busy`
  kWait,  // `add` waits until there is room
};

struct EventWriterOptions {
  /// Events are stored when so many wait …
  std::size_t batch_events = 512;
  std::size_t batch_bytes = std::size_t{256} << 10;
  /// … or one has waited for so long.
  std::chrono::milliseconds linger{50};
  /// How many may wait.
  std::size_t buffer_events = 16'384;
  std::size_t buffer_bytes = std::size_t{16} << 20;
  WhenFull when_full = WhenFull::kWait;
  /// Store from a thread of its own. Without it, `add` does when it is time, and what
  /// waits when nothing more is added waits for `flush`.
  bool own_thread = true;
  EventOptions events{};
};

/// A buffer before EventStore::append: adding is cheap, many events are stored at once.
/// What was added and not yet flushed is lost when the process is killed; nothing is lost
/// otherwise: events that could not be stored wait and are tried again.
///
/// Thread-safety: every call from every thread.
class EventWriter {
 public:
  /// The store must stay open.
  explicit EventWriter(const Store& store, const EventWriterOptions& options = {});
  /// Without `close`: stores what waits if it can.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// Takes an event and gives its id. Refused like by EventStore::append, one by one;
  /// `busy` when too many wait: with `kBusy` at once, with `kWait` when storing fails
  /// meanwhile (the message says why).
  Result<std::string> add(NewEvent event);

  /// Everything that was added before is on the disk when this succeeds. After an error it
  /// waits as before. `id_conflict`, once, when events were refused since the last call
  /// because their ids are stored with other content: they are in `refused`, all others
  /// were stored.
  Result<void> flush();

  /// Flushes and ends; adding after it is `invalid_argument`. After an error what was not
  /// stored is in `waiting`, and closing may be tried again.
  Result<void> close();

  /// What is not stored yet, oldest first.
  std::vector<NewEvent> waiting() const;
  /// What never will be.
  std::vector<NewEvent> refused() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quipu
