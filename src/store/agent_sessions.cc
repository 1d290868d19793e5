#include "quipu/agent_sessions.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "backend/backend.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/try.h"
#include "model/session_info.h"
#include "store/guarded.h"

namespace quipu {
namespace {

constexpr int kTries = 100;
constexpr std::array<std::string_view, 4> kRoles{"user", "assistant", "system", "tool"};
constexpr std::string_view kTerminated = "terminated";

Result<NewEntry> message_entry(const MessageRecord& message) {
  if (std::find(kRoles.begin(), kRoles.end(), message.role) == kRoles.end()) {
    return Error(Code::kInvalidArgument, "no role of a message: \"" + message.role + '"')
        .with_hint("user, assistant, system or tool");
  }
  const bool fits = message.content.starts_with('"') || message.content.starts_with('[');
  if (!fits || !json::validate(message.content).ok()) {
    return Error(Code::kInvalidArgument, "the content of a message is a JSON string or array");
  }
  NewEntry entry;
  entry.id = message.id;
  entry.type = "message";
  entry.timestamp = message.timestamp;
  entry.payload.clear();
  json::Writer(entry.payload)
      .begin_object()
      .member("role", message.role)
      .raw_member("content", message.content)
      .end_object();
  return entry;
}

/// What the facts of the log say of the session, and up to which entry.
struct Standing {
  std::string status;
  bool archived = false;
  std::string tail;
};

// Along the chain of `session_info` facts, newest first, until both are known.
Result<Standing> standing_of(Backend& backend, std::string_view session_id) {
  if (!is_session_id(session_id)) return Error(Code::kInvalidArgument, "not a session id");
  TRY_ASSIGN(const auto lineage, backend.lineage(std::string(session_id)));
  SessionInfo info;
  Ordinal fact = lineage->own().fold().last_fact[static_cast<std::size_t>(EntryType::kSessionInfo)];
  while (fact != kNone && !(info.status && info.archived)) {
    TRY_ASSIGN(const StoredEntry stored, lineage->entry(fact));
    SessionInfo older = read_session_info(read_envelope(stored.text).payload);
    if (!lineage->is_redacted(fact)) {
      older.apply(info);
      info = std::move(older);
    }
    fact = stored.place.depth;
  }
  Standing standing;
  standing.status = info.status.value_or("");
  standing.archived = info.archived.value_or(false);
  if (lineage->own().fold().count > 0) {
    TRY_ASSIGN(standing.tail, lineage->id(lineage->size() - 1));
  }
  return standing;
}

Result<void> say(Store& store, std::string_view session_id, const SessionInfo& info) {
  NewEntry fact;
  fact.type = "session_info";
  fact.payload = session_info_payload(info);
  TRY(store.sessions().append_session_entries(session_id, {&fact, 1}));
  return {};
}

Result<std::uint32_t> read_cursor(const std::string& text) {
  std::uint32_t first = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, first);
  if (error != std::errc() || at != end) {
    return Error(Code::kInvalidArgument, "not a cursor of a history")
        .with_hint("pass `next` of the page before as it came, or nothing for the first page");
  }
  return first;
}

MessageRecord message_record(const EntryView& entry) {
  MessageRecord record;
  record.id = entry.id;
  record.timestamp = entry.timestamp;
  record.redacted = entry.redacted;
  if (entry.redacted) return record;
  json::MemberWalk walk(entry.payload);
  while (const auto member = walk.next()) {
    if (json::key_equals(member->key, "content")) record.content = member->value;
    if (json::key_equals(member->key, "role") && member->kind == json::Kind::kString) {
      record.role = json::decode_string(member->value);
    }
  }
  return record;
}

}  // namespace

Result<SessionSummary> AgentSessions::create(std::string_view agent_id,
                                             const NewAgentSession& session) {
  return guarded([&]() -> Result<SessionSummary> {
    if (agent_id.empty()) return Error(Code::kInvalidArgument, "a session without an agent");
    NewSession wanted;
    wanted.id = session.session_id;
    wanted.agent_id = agent_id;
    wanted.preset_id = session.preset_id;
    wanted.cwd = session.cwd;
    wanted.project_id = session.project_id;
    TRY_ASSIGN(const SessionHandle made, store_.sessions().create_session(wanted));
    return store_.sessions().describe_session(made.session_id);
  });
}

Result<SessionSummary> AgentSessions::get(std::string_view session_id) {
  return store_.sessions().describe_session(session_id);
}

Result<Page<SessionSummary>> AgentSessions::list(const SessionFilter& filter,
                                                 const PageRequest& page) {
  return store_.sessions().list_sessions(filter, page);
}

Result<AppendResult> AgentSessions::append_messages(std::string_view session_id,
                                                    std::span<const MessageRecord> messages) {
  return guarded([&]() -> Result<AppendResult> {
    std::vector<NewEntry> entries;
    for (const MessageRecord& message : messages) {
      TRY_ASSIGN(NewEntry entry, message_entry(message));
      entries.push_back(std::move(entry));
    }
    for (int i = 0; i < kTries; ++i) {
      TRY_ASSIGN(const Standing standing, standing_of(*store_.backend(), session_id));
      if (standing.status == kTerminated) {
        return Error(Code::kInvalidArgument,
                     "session " + std::string(session_id) + " is terminated")
            .with_hint("reopen it first, or make a new one");
      }
      AppendOptions options;
      options.expected_tail = standing.tail;
      auto stored = store_.sessions().append_session_entries(session_id, entries, options);
      if (stored.ok() || stored.error().code() != Code::kTailMoved) return stored;
    }
    return Error(Code::kBusy, "others append to the session all the time");
  });
}

Result<Page<MessageRecord>> AgentSessions::history(std::string_view session_id,
                                                   const PageRequest& page) {
  return guarded([&]() -> Result<Page<MessageRecord>> {
    std::uint32_t first = 0;
    if (!page.after.empty()) {
      TRY_ASSIGN(first, read_cursor(page.after));
    }
    if (!is_session_id(session_id)) return Error(Code::kInvalidArgument, "not a session id");
    TRY_ASSIGN(auto lineage, store_.backend()->lineage(std::string(session_id)));
    Page<MessageRecord> answer;
    answer.total = lineage->size();
    EntryReader reader(lineage, {.first = first});
    for (std::uint32_t at = first;; ++at) {
      TRY_ASSIGN(const auto entry, reader.next());
      if (!entry) return answer;
      if (entry->type != "message") continue;
      if (answer.items.size() == page.limit) {
        answer.next = std::to_string(at);
        return answer;
      }
      answer.items.push_back(message_record(*entry));
    }
  });
}

Result<void> AgentSessions::terminate(std::string_view session_id) {
  return guarded([&]() -> Result<void> {
    TRY_ASSIGN(const Standing standing, standing_of(*store_.backend(), session_id));
    if (standing.status == kTerminated) return {};
    return say(store_, session_id, {.status = std::string(kTerminated)});
  });
}

Result<void> AgentSessions::reopen(std::string_view session_id) {
  return guarded([&]() -> Result<void> {
    TRY_ASSIGN(const Standing standing, standing_of(*store_.backend(), session_id));
    if (standing.status != kTerminated) return {};
    return say(store_, session_id, {.status = "active"});
  });
}

Result<void> AgentSessions::archive(std::string_view session_id, bool archived) {
  return guarded([&]() -> Result<void> {
    TRY_ASSIGN(const Standing standing, standing_of(*store_.backend(), session_id));
    if (standing.archived == archived) return {};
    return say(store_, session_id, {.archived = archived});
  });
}

}  // namespace quipu
