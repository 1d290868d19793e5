// LogCursor: how far something that is computed from a log has read it, and whether
// the log still is what was read.
#pragma once

#include "backend/backend.h"

namespace quipu::view {

/// Believed by what the log says and not by what it claims.
struct LogCursor {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t settled_bytes = 0;
  std::int64_t modified_ms = 0;
  /// Own entries that were read.
  Ordinal entries = 0;
  /// Of the last one's line. Its seal chains all lines before it, so a line with
  /// the same sum has the same past.
  std::uint32_t tail_crc = 0;

  bool operator==(const LogCursor&) const = default;
};

/// All of `own` is read; `tail_crc` is that of its last line. `log` is what a survey showed
/// before `own` was looked at: a change in between is then found the next time.
LogCursor cursor_at_end(const SurveyedLog& log, const LogView& own, std::uint32_t tail_crc);

/// Whether everything is read: the log is the same, and all of it was settled then.
bool is_fresh(const LogCursor& cursor, const SurveyedLog& log);

/// Whether what was read is the beginning of this log.
Result<bool> is_beginning(const LogCursor& cursor, const LogView& own, const SurveyedLog& log);

}  // namespace quipu::view
