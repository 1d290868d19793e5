// What the feed has told of each session, and the entries of the log that say so.
//
// The log of events is also the journal of the store's changes. Its entries of the
// store's own are facts of these types, written by whoever tails (journal.h):
//
//   fact.quipu.entries    a session's log has grown: one Growth
//   fact.quipu.replaced   it is another log than the one that was told of
//   fact.quipu.removed    it is gone
//   fact.quipu.positions  how far all sessions, or some, were told: at the head of every
//                         segment, so that a segment can be read without those before it
//   fact.quipu.pruned     old segments were removed
//
// Positions are folded from these, so every process that has read the log agrees on what
// was told. `generation` counts the logs that a session has had.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/fold.h"
#include "quipu/entry.h"

namespace quipu::events {

inline constexpr std::string_view kTypePrefix = "fact.";
inline constexpr std::string_view kOwnTypes = "quipu.";
inline constexpr std::string_view kOwnIds = "quipu:";
inline constexpr std::string_view kGrowth = "fact.quipu.entries";
inline constexpr std::string_view kReplaced = "fact.quipu.replaced";
inline constexpr std::string_view kRemoved = "fact.quipu.removed";
inline constexpr std::string_view kPositions = "fact.quipu.positions";
inline constexpr std::string_view kPruned = "fact.quipu.pruned";

/// How far one session was told.
struct Position {
  std::uint64_t generation = 0;
  Ordinal entries = 0;  // of its own log
  std::string tail;     // the last of them
  /// The log as it looked when it held just these (SurveyedLog): what looks the same
  /// has nothing new.
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ms = 0;
};

/// Entries that a session's own log has got.
struct Growth {
  std::string session;
  Ordinal first = 0;  // of its own log
  Ordinal base = 0;   // what it inherits, before them
  Position then;      // where it stands with them

  Ordinal count() const { return then.entries - first; }
};

/// As entries of the log. Their ids say what is told, so that the same cannot be told
/// twice: of two who tell what follows entry 7 of a session, one is refused.
NewEntry growth_entry(const Growth& growth);
NewEntry replaced_entry(const std::string& session, std::uint64_t generation);
NewEntry removed_entry(const std::string& session, std::uint64_t generation);

/// Nothing when the payload is not one.
std::optional<Growth> read_growth(std::string_view payload);

class Positions {
 public:
  /// Null: nothing was told of it.
  const Position* find(const std::string& session) const;
  const std::map<std::string, Position>& all() const { return all_; }

  /// Takes in one entry of the log. Those that are about something else change nothing.
  void take(std::string_view type, std::string_view payload);

  /// As entries for the head of a segment.
  std::vector<NewEntry> checkpoint() const;
  /// One entry that says where these sessions stand; it holds for those of them that
  /// have not got further when it is read.
  static NewEntry entry_of(const std::map<std::string, Position>& positions);

 private:
  void take_growth(std::string_view payload);
  void take_end(std::string_view payload);
  void take_positions(std::string_view payload);

  std::map<std::string, Position> all_;
};

}  // namespace quipu::events
