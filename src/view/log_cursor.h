// LogCursor: how far something computed from a log has read it.
//
// It is believed by what the log says and not by what it claims: it names the bytes of the
// file that were read, and the log says whether they are still the same.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "model/fold.h"

namespace quipu::view {

/// How far it has read.
struct LogCursor {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t settled_bytes = 0;
  std::int64_t modified_ms = 0;
  /// Own entries that it has read.
  Ordinal entries = 0;
  /// Of the last one's line. Its seal chains all lines before it, so a line with
  /// the same sum has the same past.
  std::uint32_t tail_crc = 0;

  bool operator==(const LogCursor&) const = default;
};

/// Whether everything is read: the log is the same, and all of it was settled then.
bool is_fresh(const LogCursor& cursor, const SurveyedLog& log);

/// Whether what was read is the beginning of this log. `log` was surveyed before `own` was
/// looked at.
Result<bool> goes_on(const LogCursor& cursor, const LogView& own, const SurveyedLog& log);

}  // namespace quipu::view
