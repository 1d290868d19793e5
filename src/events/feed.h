// Feed: reads the log of events from a place on, across segments, and makes of its
// entries what readers get: an entry of the journal that says that a session has grown
// becomes an event for each of its entries.
//
// Thread-safety: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json_write.h"
#include "events/cursor.h"
#include "events/event_log.h"
#include "events/positions.h"
#include "quipu/events.h"

namespace quipu::events {

class Feed {
 public:
  /// Whether changes of sessions and the like are given.
  enum class Own : unsigned char { kGiven, kLeftOut };
  Feed(EventLog& log, TailOptions options, Own own = Own::kGiven);

  /// To the oldest place there is.
  Result<void> rewind();
  /// After the last entry there is.
  Result<void> forward();
  /// `not_found` when there is no such place (any more).
  Result<void> seek(const Cursor& cursor);

  /// The next events that pass the filter. None: `at_end`, or many entries were looked at
  /// and none passed.
  Result<std::vector<Event>> read();
  /// Whether the last `read` has come to the end of the log.
  bool at_end() const { return at_end_; }

  const Cursor& cursor() const { return cursor_; }
  std::string cursor_text() const;
  /// Back to where a read began.
  void go_back(const Cursor& cursor);
  /// Lines of the segments read so far that are passed over.
  std::uint32_t damaged() const;
  /// How many entries of the segment have been seen.
  Ordinal seen() const { return segment_ ? segment_->own().fold().count : 0; }

 private:
  /// More of this segment, or the next one; false at the end of the log.
  Result<bool> advance();
  Result<void> load();
  Error gone(std::string_view why);
  Result<std::uint32_t> check_at(const Place& place);

  Result<void> take(std::vector<Event>& events);
  void pass(std::string_view id);
  void give(Event event, std::vector<Event>& events);
  Result<void> take_growth(const EntryText& entry, std::vector<Event>& events);
  Result<void> open_session(const Growth& growth);
  Result<void> find_session(const Growth& growth);
  Result<Event> entry_event(const Growth& growth, Ordinal own, std::string_view noted_at);
  /// What its entry says. After an error nothing was added.
  Result<void> describe(Ordinal own, Event& event, json::Writer& payload) const;

  bool wants_type(std::string_view type) const;
  bool wants_session(std::string_view session) const;

  EventLog& log_;
  Backend& backend_;
  const TailOptions options_;
  const bool wants_own_;

  Cursor cursor_;
  std::shared_ptr<const Lineage> segment_;  // null: to be loaded
  bool at_end_ = false;
  std::uint32_t damaged_ = 0;  // in the segments before this one

  // The session that the last growth was about; null when its entries are not there.
  std::string session_id_;
  std::shared_ptr<const Lineage> session_;
};

}  // namespace quipu::events
