// AgentSessions: sessions as an agent's server thinks of them: made for an agent,
// fed with messages, read in pages, ended.
//
// A thin face over the same logs: `create` writes a header, `append_messages`
// entries of type `message`, the rest `session_info` facts. Whatever else writes
// to a session (other entries, branches, the command line) is seen here too.
//
//   quipu::AgentSessions agents(*store);
//   auto session = agents.create("reviewer", {.preset_id = "strict"});
//   agents.append_messages(session->session_id, {{{.role = "user", .content = "\"hi\""}}});
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"
#include "quipu/store.h"

namespace quipu {

struct NewAgentSession {
  std::string session_id{};  // empty: a UUIDv7
  std::string preset_id{};
  std::string cwd{};
  std::string project_id{};
};

/// A message to append, or one that is stored.
struct MessageRecord {
  /// To append: empty for a new UUIDv7. Repeating an append with the same ids adds
  /// nothing.
  std::string id{};
  /// RFC 3339, UTC. To append: empty for now.
  std::string timestamp{};
  /// "user", "assistant", "system" or "tool".
  std::string role{};
  /// JSON: a string, or an array of parts (see message.h).
  std::string content{};
  /// Stored ones only: taken back by a redaction; role and content are empty.
  bool redacted = false;
};

/// Thread-safe. Every function that takes a session id answers `not_found` for
/// one that is not there.
class AgentSessions {
 public:
  /// The store must outlive it.
  explicit AgentSessions(Store& store) : store_(store) {}

  /// Durable on return. `id_conflict` when the id is taken, `invalid_argument`
  /// without an agent.
  Result<SessionSummary> create(std::string_view agent_id, const NewAgentSession& session = {});
  Result<SessionSummary> get(std::string_view session_id);
  /// Newest first; see SessionStore::list_sessions.
  Result<Page<SessionSummary>> list(const SessionFilter& filter, const PageRequest& page = {});

  /// Appends messages to the head: all of them or none, durable on return.
  /// `invalid_argument` for content that is no JSON string or array, for a role
  /// that is none, and for a session that is terminated; nobody can terminate it
  /// in between.
  Result<AppendResult> append_messages(std::string_view session_id,
                                       std::span<const MessageRecord> messages);

  /// The messages in log order, all branches; in a fork the inherited path first.
  /// `Page::total` counts entries and not messages, which nobody counts without
  /// reading them.
  Result<Page<MessageRecord>> history(std::string_view session_id, const PageRequest& page = {});

  /// Status "terminated": `append_messages` refuses until `reopen`. Everything
  /// else stays possible: it is a promise among agents and no lock.
  Result<void> terminate(std::string_view session_id);
  Result<void> reopen(std::string_view session_id);
  /// For lists: says nothing about the status.
  Result<void> archive(std::string_view session_id, bool archived = true);

 private:
  Store& store_;
};

}  // namespace quipu
