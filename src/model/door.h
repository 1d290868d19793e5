// The door: what an append must be before any storage is touched.
//
// Entries come as JSON objects (kept byte for byte) or as NewEntry (encoded in
// our own member order). Both become Drafts; from there on there is one path.
// A draft's stored body is
//
//   fill_id  ++  "parentId":…,   ++  fill_time  ++  rest
//            (when it was missing)
//
// which is the caller's object without its final brace, with what was missing
// put in right after the opening one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/envelope.h"
#include "quipu/entry.h"
#include "quipu/result.h"

namespace quipu {

struct Draft {
  Draft() = default;
  Draft(Draft&&) noexcept = default;
  Draft& operator=(Draft&&) noexcept = default;
  Draft(const Draft&) = delete;  // `rest` may point into `own`, which moves with it
  Draft& operator=(const Draft&) = delete;

  std::string id;  // given or filled in
  bool id_given = false;
  bool timestamp_given = false;
  ParentLink parent_link = ParentLink::kAbsent;
  std::string parent;  // kEntry only
  EntryType type = EntryType::kOther;
  std::string target;  // what a fact points at; `head` and `redaction` always do

  std::string fill_id;    // `{` or `{"id":"…",`
  std::string fill_time;  // empty or `"timestamp":"…",`
  std::string_view rest;  // the caller's bytes, or a part of `own`
  std::string own;        // the encoded NewEntry

  bool is_node() const { return !is_fact(type); }
};

/// Drafts that passed the door together. Views into the caller's lines: they
/// must outlive it.
struct Batch {
  std::vector<Draft> drafts;
  std::size_t bytes = 0;

  std::vector<std::string> ids() const;
};

/// Where filled-in ids and timestamps come from.
struct Filler {
  Clock& clock;
  Random& random;
};

/// Checks each line (`invalid_argument`, `too_large`; the message names it by
/// its position) and the lines against each other (`bad_batch`: duplicate id,
/// own or later entry as parent).
Result<Batch> admit_lines(std::span<const std::string_view> lines, Filler filler);
Result<Batch> admit_entries(std::span<const NewEntry> entries, Filler filler);

/// Whether the members that the caller gave are the same in the stored line.
/// Filled-in members are not compared: a repeat would fill them differently.
bool same_as_stored(const Draft& draft, std::string_view stored);

}  // namespace quipu
