// Journal: brings the log of events up to date with the sessions.
//
// Nobody is told anything by an append. Whoever tails compares what the sessions look like
// (Backend::survey) with how far they were told (positions.h) and appends the difference.
// Several may do so at once: the id of what is told is made from the session and the
// entry that it begins with, so of two who tell the same one adds nothing, and of two who
// tell differently much one is refused, reads what the other told, and tells the rest.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "events/event_log.h"
#include "events/positions.h"

namespace quipu::events {

class Journal {
 public:
  explicit Journal(EventLog& log) : log_(log), backend_(log.backend()) {}

  /// What may have changed since `catch_up`. The first one looks at everything anyway.
  void note(const LogChanges& changes);

  bool has_work() const { return all_ || !noted_.empty() || !unreadable_.empty(); }
  /// Adds what is new of the sessions that were noted, or of many of them. True: of all that can
  /// be read, or `problem` says why nothing was added. Sessions are left for the next call then.
  Result<bool> catch_up();

  /// The store can be read and not written, as far as is known.
  const std::optional<Error>& problem() const { return problem_; }

  /// Up to where the log is known to be on the disk, because we appended.
  struct Durable {
    std::uint64_t segment = 0;
    Ordinal entries = 0;
  };
  const Durable& durable() const { return durable_; }

 private:
  /// What is to be told of some sessions.
  struct News {
    std::vector<NewEntry> entries;
    std::map<std::string, Position> looked;  // the same as before, in other places
    std::map<std::string, SurveyedLog> seen;
    std::set<std::string> unreadable;  // for now
  };

  Result<void> survey_all();
  bool is_told(const SurveyedLog& log) const;
  /// Reads what the log has got, and where it is now.
  Result<void> fold();
  Result<News> compare(const std::vector<std::string>& sessions);
  Result<void> compare(const std::string& session, News& news);
  /// False: others were faster.
  Result<bool> tell(News news);

  EventLog& log_;
  Backend& backend_;
  Positions positions_;
  std::uint64_t segment_ = 0;  // 0: none was read, or there is none
  Ordinal folded_ = 0;         // of its entries
  bool all_ = true;
  std::set<std::string> noted_;
  // Noted, and to be tried again: they may be readable later and look no different.
  std::set<std::string> unreadable_;
  // Logs whose look differs from their position though they have nothing new: the end is
  // being written, or what they hold cannot be read.
  std::map<std::string, SurveyedLog> seen_;
  std::optional<Error> problem_;
  Durable durable_;
};

}  // namespace quipu::events
