// Copying sessions from one store to another, whatever they live in.
//
// Entries arrive byte for byte, in the order of their log, with their ids, so a copy is the
// same sessions in another place: same tree, same head, same context. Forks bring along
// the sessions that they go on from. Lines that other programs wrote into a log file get
// what an entry needs and they lack.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

struct CopyOptions {
  /// Empty: everything that is in the store. Otherwise these sessions, what they go on
  /// from, the attachments that they name, and the projects.
  std::vector<std::string> sessions{};
  /// Told after each session, with how many of how many are done.
  std::function<void(std::size_t done, std::size_t total)> progress{};
};

/// What could not be copied, and why. The rest was.
struct CopyProblem {
  std::string session_id;
  Error error;
};

struct CopyReport {
  std::size_t sessions = 0;
  std::uint64_t entries_added = 0;
  /// Found there already, the same.
  std::uint64_t entries_present = 0;
  std::size_t attachments_added = 0;
  std::vector<CopyProblem> problems;
};

/// Copies, then reads every entry on both sides and compares. Repeated, it adds what is
/// missing and nothing else: that is how one that was interrupted is gone on with, and how
/// a copy is brought up to date. A session that has gone on in both places gets the
/// entries that it lacks, at its end. Fails when a store cannot be read or written at all;
/// what is wrong with one session is in the report.
Result<CopyReport> copy_store(Store& from, Store& to, const CopyOptions& options = {});

}  // namespace quipu
