// The catalogue: what can be said of a session without reading it, and lists of
// sessions by it. See SessionStore::list_sessions.
//
// It is a view: computed from the logs, kept in the store's views.db, brought up
// to date by whoever lists. Appends know nothing of it. It can be deleted,
// damaged or locked at any time; what exists is decided by the directory of
// logs and never by the catalogue, so no session is ever missing from a list or
// shown after it is gone.
//
// Thread-safety: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "quipu/page.h"

namespace quipu {

/// Counts over the messages of a session's own log. A fork counts nothing of
/// what it inherits. Entries that repeat a `requestId` shortly after each other
/// (one model request written as several entries) count once, the last one wins.
struct SessionCounts {
  /// User messages that are more than answers of tools.
  std::uint64_t messages = 0;
  std::uint64_t tokens_in = 0;
  std::uint64_t tokens_out = 0;
  std::uint64_t cache_read = 0;
  std::uint64_t cache_write = 0;
  /// In billionths of a US dollar: sums of fractions would depend on their order.
  std::int64_t cost_nano_usd = 0;

  bool operator==(const SessionCounts&) const = default;
  SessionCounts& operator+=(const SessionCounts& more);
};

/// Everything a list shows. Empty texts: not said.
struct SessionSummary {
  std::string session_id{};
  /// The last title of a `session_info`, else the header's, else the first line
  /// of the first user message, shortened.
  std::string title{};
  /// The last `session_info` that names one, else the header.
  std::string project_id{};
  std::string agent_id{};
  std::string preset_id{};
  std::string cwd{};                // the header's
  std::string working_directory{};  // where the work has moved since
  std::string sdk_cwd{};
  std::string sdk_session_id{};
  std::string parent_session{};  // of a fork
  /// Imported sessions (see import.h): what they were read from, the session that
  /// made this one as its sub-agent, the one that goes on with it.
  std::string source{};
  std::string spawned_by{};
  std::string continued_in{};
  /// The session of this store that holds the model's side of the conversation: what an
  /// agent's own library kept of it (`sdk_session_id`); and what that was read from.
  std::string model_session{};
  std::string model_source{};
  /// For the library: how far `source` was read.
  std::string import_mark{};
  /// "active" or "terminated". Archived is something else: see `archived`.
  std::string status = "active";
  bool archived = false;
  std::vector<std::string> tags{};

  std::string created{};  // the header's timestamp
  /// The timestamp of the newest entry that has one, else when the log was
  /// changed last. Lists are sorted by it. What is said about a session (titles,
  /// tags, archive, labels, redactions) is no activity in it.
  std::int64_t last_active_ms = 0;
  std::int64_t modified_ms = 0;
  std::uint64_t log_bytes = 0;

  /// Since the last `context_reset`; and from the beginning.
  SessionCounts counts{};
  SessionCounts totals{};
  std::string model{};     // the last one seen
  std::string provider{};  // the last one seen

  /// Runtime state: see runtime.h. A run began and did not end; how many there were;
  /// messages that wait; questions that nobody answered.
  bool processing = false;
  std::uint64_t generation = 0;
  std::uint32_t queued = 0;
  std::uint32_t pending = 0;

  std::uint32_t entries = 0;  // own log, facts included
  std::string head{};
  std::string tail{};
  int schema_version = 0;
  /// Damaged lines that reads pass over; 0 when the log is sound.
  std::uint32_t damaged = 0;
  /// Why the session could not be read. Such a session is listed all the same,
  /// with what is known of it.
  std::string problem{};

  bool operator==(const SessionSummary&) const = default;
};

/// Whose sessions. There is no default: nobody sees the sessions of other projects
/// without asking for them. The project of a directory is known to
/// `Projects::resolve`.
class ProjectScope {
 public:
  /// Those of one project.
  static ProjectScope of(std::string project_id) { return ProjectScope(std::move(project_id)); }
  /// Those that belong to no project.
  static ProjectScope none() { return ProjectScope(std::string()); }
  /// All there are.
  static ProjectScope all() { return ProjectScope(std::nullopt); }

  bool admits(const std::string& project_id) const { return !id_ || *id_ == project_id; }

 private:
  explicit ProjectScope(std::optional<std::string> id) : id_(std::move(id)) {}
  std::optional<std::string> id_;  // absent: all
};

/// Which sessions. Absent members let everything through; all given ones must
/// hold.
struct SessionFilter {
  ProjectScope project;
  std::optional<std::string> agent{};
  std::optional<bool> archived{};
  /// Forks of this session.
  std::optional<std::string> parent{};
  /// Occurs in the title; ASCII letters in either case.
  std::string title_contains{};
  /// Last active at or after, and before.
  std::optional<std::int64_t> since_ms{};
  std::optional<std::int64_t> until_ms{};
  std::optional<std::string> status{};
  std::optional<std::string> tag{};
  /// Without those that are parts of others: sub-agents, sessions that go on in
  /// another, the model's side of another.
  bool whole_only = false;

  /// All but `whole_only`, which a session alone does not tell.
  bool matches(const SessionSummary& session) const;
};

}  // namespace quipu
