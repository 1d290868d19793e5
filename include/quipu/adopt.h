// Adoption: a database of CodePilot gets the tables of its storage design, a phase at a time.
//
//   phase | what it adds
//   ------+------------------------------------------------------------------
//     0   | projects; each session has its project and its `sdk_cwd`
//     1   | message_parts beside the old `content`, and kept in step with it
//     2   | session_runtime_state: work in progress, queue, open permissions
//     3   | archive, parents and summaries of sessions, with their indexes
//
// A phase includes those before it. Nothing that is there is removed or gets another
// meaning, so programs that know none of this go on reading and writing; triggers do for
// them what they do not do themselves. docs/adopt.md has the columns and the rules.
//
// Thread-safety: every call from every thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quipu/result.h"

namespace quipu {

inline constexpr int kAdoptPhaseLast = 3;

struct AdoptOptions {
  /// The last phase to take, 0 to `kAdoptPhaseLast`.
  int phase = kAdoptPhaseLast;
  /// Where the adopted copy goes; empty: `FILE.adopted.db`. Never over a file that is there; but
  /// when an earlier call made that copy, this one goes on in it, with backups as in place.
  std::string out{};
  /// Work on the file itself. Before each phase it is saved as `FILE.before-phase-N`, or
  /// `FILE.before-phase-N.1` and so on when that is taken. Whoever has it open must close it.
  bool in_place = false;
  /// Do all of it on a copy that is thrown away, and say what was done.
  bool dry_run = false;
};

/// Rows that were made or filled in, tables and so on that were made.
struct AdoptChange {
  std::string what;
  std::uint64_t count = 0;
};

struct AdoptedPhase {
  int phase = 0;
  /// Nothing was left to do.
  bool was_done = false;
  std::vector<AdoptChange> changes{};
  /// The file as it was before. Empty: there was no need, or the original is untouched.
  std::string backup{};
};

struct AdoptReport {
  /// The database with the phases in it; in place, the file itself. Empty: none was written,
  /// because nothing was to do or this was a dry run.
  std::string adopted;
  std::vector<AdoptedPhase> phases;
};

/// Takes the phases that `file` has not taken yet, each whole or not at all: what a crash or
/// an error leaves is the last phase that was whole, and the next call goes on from there.
/// At the end of each phase what it made is compared with what it was made from.
///
/// Errors: `not_found`; `invalid_argument` for a file that is no database of CodePilot, or a
/// phase that there is not; `unsupported` for one that a newer version adopted, or in which
/// one of the tables has another shape; `id_conflict` when `out` exists; `busy` in place when
/// another program has the file open; `corrupt` for a damaged file, or when what a phase made
/// is not what it was made from; `no_space`. Without `in_place` the file is never changed,
/// whatever the error; in place, phases that were whole before the error stay.
///
/// Durable on return.
Result<AdoptReport> adopt_codepilot(const std::string& file, const AdoptOptions& options);

}  // namespace quipu
