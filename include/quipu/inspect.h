// Verify, repair, dump: what a log is made of, and whether it is sound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quipu {

/// Something wrong in one log.
struct Problem {
  /// A stable word: "torn_tail", "damaged_line", "incomplete_batch", "unknown_parent",
  /// "duplicate_id", "bad_index", "missing_header", "missing_parent_session", "unknown_head",
  /// "newer_version".
  std::string kind;
  std::uint64_t offset = 0;  // in the log
  std::uint64_t bytes = 0;
  std::string detail;  // for people; may quote content, so escape it for a terminal
};

/// The answer of `verify_session`: every line read, every seal, parent and
/// index record checked. Nothing is written.
struct VerifyReport {
  std::string session_id;
  std::uint64_t log_bytes = 0;
  std::uint32_t entries = 0;
  std::uint32_t sealed = 0;
  std::uint32_t adopted = 0;  // whole lines without a seal: not a problem
  bool index_present = false;
  std::vector<Problem> problems;  // empty: sound
};

/// The answer of `repair_session`. Bytes taken out of the log are in
/// quarantine before they leave it.
struct RepairReport {
  std::string session_id;
  /// What was done, a sentence each; empty when nothing had to be.
  std::vector<std::string> actions;
  /// Where removed bytes went, relative to the store.
  std::vector<std::string> quarantined;
  /// What cannot be mended: stays in place, hidden from reads.
  std::vector<Problem> remaining;
};

/// One line of a log in the terms of docs/format.md.
struct DumpLine {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  /// "sealed", "adopted", "blank", "damaged", "incomplete", "torn".
  std::string state;
  std::string remaining;  // RRRR of the seal, empty without
  std::string crc;        // CCCCCCCC of the seal, empty without
  std::string text;       // the stored bytes without the line feed
};

}  // namespace quipu
