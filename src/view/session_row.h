// SessionRow: one row of the catalogue. What a list shows, what it was made
// from, and how far it has read.
//
// A row is believed only together with its cursor: it says which bytes of which
// file it was made from, and the log says whether they are still the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/session_info.h"
#include "quipu/catalogue.h"
#include "view/log_cursor.h"

namespace quipu::view {

/// A request whose usage is counted and that may yet be repeated.
struct CountedRequest {
  std::string id;
  SessionCounts counted{};
  /// Counted in what was before the last `context_reset`.
  bool before_reset = false;

  bool operator==(const CountedRequest&) const = default;
};

struct SessionRow;
using RowPointer = std::shared_ptr<const SessionRow>;

struct SessionRow {
  std::string session_id{};
  LogCursor cursor{};
  /// All but what follows from the members below: see `finish`.
  SessionSummary summary{};
  std::string header_title{};
  std::string header_project{};
  /// Timestamp of the newest entry that has one and is activity.
  std::optional<std::int64_t> newest_ms{};
  /// First line of the first user message.
  std::string first_words{};
  /// What another agent calls the session: by a person's will, or by itself.
  std::string given_title{};
  std::string made_title{};
  std::string foreign_sdk_session{};
  std::string note_memory{};  // see dialect::Note
  std::optional<bool> foreign_archived{};
  std::vector<std::string> foreign_tags{};
  SessionInfo info{};
  /// The newest run; ids of what waits, oldest first.
  std::string run_id{};
  std::vector<std::string> queued{};
  std::vector<std::string> pending{};
  /// The last few, oldest first.
  std::vector<CountedRequest> requests{};

  /// Fills in what the summary says by several sources: title, project, status …
  void finish();

  bool operator==(const SessionRow&) const = default;
};

/// The row as readable JSON, without id and cursor; and back. Nothing when the
/// text is no such row.
std::string encode_row(const SessionRow& row);
std::optional<SessionRow> decode_row(std::string session_id, const LogCursor& cursor,
                                     std::string_view record);

}  // namespace quipu::view
