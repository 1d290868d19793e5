// Note: what one record says of its session as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/message.h"

namespace quipu::dialect {

/// How a session came from another.
enum class Relation : unsigned char { kForkedFrom, kSpawnedBy, kContinuedIn };

struct Kinship {
  Relation relation = Relation::kForkedFrom;
  /// The other's id in its own agent's words; ours is `session_id_of(agent, id)`.
  /// Empty: the one that another record names, of the same relation.
  std::string session;
  std::string entry;  // where, if known: a record's id, or a tool call's
};

/// What was used by one request, once. Records that repeat `key` say it again: the
/// last one counts. `key` is the same in copies of the session.
struct UsageNote {
  std::string key;  // empty: this record and no other
  Usage usage;
  std::string model;
  std::string provider;
};

/// Absent members say nothing. Of several records the last wins, except where a
/// title that a person gave stands against one that was made up.
struct Note {
  /// The dialect's own, from one record of a session to the next: the caller hands it
  /// on, in the order of the records, and begins with none. Where nobody does, each
  /// record is noted as if it were the first.
  std::string memory;
  /// The user asked something here: what, or its beginning. Not what an agent puts
  /// into the user's mouth.
  std::optional<std::string> prompt;
  /// How often more in the same record.
  std::uint32_t further_prompts = 0;
  std::optional<std::string> title;
  bool title_is_given = false;
  /// The record that the title speaks of: a session that does not have it has a title
  /// of another in its file. Empty: the session.
  std::string title_at{};
  std::optional<std::string> cwd;
  std::optional<std::string> model;
  std::optional<std::string> provider;
  std::optional<bool> archived;
  std::optional<std::vector<std::string>> tags;
  /// The session of another agent that holds the model's side of this one.
  std::optional<std::string> sdk_session_id;
  std::vector<UsageNote> usage;
  std::vector<Kinship> kin;
};

}  // namespace quipu::dialect
