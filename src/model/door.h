// The door: what an append must be before any storage is touched.
//
// Entries come as JSON objects (kept byte for byte) or as NewEntry (encoded in
// our own member order). Both become Drafts; from there on there is one path.
// A draft's stored body is
//
//   start  ++  rest  ++  ,"meta":…
//
// without the final brace. `start` is the opening brace and what was filled in,
// for a NewEntry everything before its payload; `rest` the caller's members or
// payload. Whatever is long stays where the caller has it until it is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/envelope.h"
#include "model/id_table.h"
#include "quipu/entry.h"
#include "quipu/result.h"

namespace quipu {

struct Draft {
  Draft() = default;
  Draft(Draft&&) noexcept = default;
  Draft& operator=(Draft&&) noexcept = default;
  Draft(const Draft&) = delete;  // nobody should need one
  Draft& operator=(const Draft&) = delete;

  Text id;  // given or filled in
  bool id_given = false;
  bool timestamp_given = false;
  ParentLink parent_link = ParentLink::kAbsent;
  Text parent;  // kEntry only
  EntryType type = EntryType::kOther;
  Text target;  // what a fact points at; `head` and `redaction` always do

  std::string start;
  std::size_t parent_at = 0;  // where in `start` a missing `"parentId":…,` goes in
  std::string_view rest;
  std::string_view meta;  // empty: none, or among the rest

  bool is_node() const { return !is_fact(type); }
  /// The size of the body, before a parent is put in.
  std::size_t bytes() const;
  /// Writes the body. `parent_member` is put in; empty: it was given, or there is none.
  void append_body(std::string& out, std::string_view parent_member) const;
};

/// Drafts that passed the door together. Views into what the caller gave, which
/// must outlive it.
struct Batch {
  std::vector<Draft> drafts;
  std::size_t bytes = 0;
  IdTable places;  // of the drafts by their ids; empty for one that names no parent

  std::vector<std::string> ids() const;
};

/// Where filled-in ids and timestamps come from. All entries of a batch get the
/// same time.
struct Filler {
  Clock& clock;
  Random& random;
};

/// Checks each line (`invalid_argument`, `too_large`; the message names it by
/// its position) and the lines against each other (`bad_batch`: duplicate id,
/// own or later entry as parent).
Result<Batch> admit_lines(std::span<const std::string_view> lines, Filler filler);
Result<Batch> admit_entries(std::span<const NewEntry> entries, Filler filler);

/// Whether the members that the caller gave are the same in the line stored
/// under the draft's id. Filled-in members are not compared: a repeat would fill
/// them differently.
bool same_as_stored(const Draft& draft, std::string_view stored);

}  // namespace quipu
