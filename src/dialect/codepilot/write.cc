// A transcript as a database of CodePilot with one session.
#include "base/time_text.h"
#include "base/try.h"
#include "dialect/codepilot/codepilot.h"
#include "dialect/draft.h"
#include "dialect/row_database.h"

namespace quipu::dialect::codepilot {
namespace {

// As CodePilot has them after its migrations; it adds what it misses.
constexpr std::string_view kTables[] = {
    "CREATE TABLE chat_sessions (id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT 'New Chat', "
    "created_at TEXT NOT NULL DEFAULT (datetime('now')), "
    "updated_at TEXT NOT NULL DEFAULT (datetime('now')), model TEXT NOT NULL DEFAULT '', "
    "system_prompt TEXT NOT NULL DEFAULT '', working_directory TEXT NOT NULL DEFAULT '', "
    "sdk_session_id TEXT NOT NULL DEFAULT '', project_name TEXT NOT NULL DEFAULT '', "
    "status TEXT NOT NULL DEFAULT 'active', mode TEXT NOT NULL DEFAULT 'code', "
    "provider_name TEXT NOT NULL DEFAULT '', provider_id TEXT NOT NULL DEFAULT '', "
    "sdk_cwd TEXT NOT NULL DEFAULT '', runtime_status TEXT NOT NULL DEFAULT 'idle', "
    "runtime_updated_at TEXT NOT NULL DEFAULT '', runtime_error TEXT NOT NULL DEFAULT '', "
    "permission_profile TEXT NOT NULL DEFAULT 'default', "
    "context_summary TEXT NOT NULL DEFAULT '', "
    "context_summary_updated_at TEXT NOT NULL DEFAULT '')",
    "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, "
    "role TEXT NOT NULL CHECK(role IN ('user', 'assistant')), content TEXT NOT NULL, "
    "created_at TEXT NOT NULL DEFAULT (datetime('now')), token_usage TEXT, "
    "is_heartbeat_ack INTEGER NOT NULL DEFAULT 0, "
    "FOREIGN KEY (session_id) REFERENCES chat_sessions(id) ON DELETE CASCADE)",
    "CREATE INDEX idx_messages_session_id ON messages(session_id)",
    "CREATE INDEX idx_messages_created_at ON messages(created_at)",
    "CREATE INDEX idx_sessions_updated_at ON chat_sessions(updated_at)"};

std::string schema() {
  std::string text;
  json::Writer out(text);
  out.begin_object().member("encoding", "UTF-8").key("sql").begin_array();
  for (const std::string_view table : kTables) out.value(table);
  out.end_array().end_object();
  return text;
}

// "2026-03-01 09:30:00"
std::string time_of(const std::string& timestamp) {
  std::string time = format_timestamp(parse_timestamp(timestamp).value_or(0)).substr(0, 19);
  time[10] = ' ';
  return time;
}

// One row: what is said by one side until the other speaks.
struct WrittenTurn {
  Role role = Role::kUser;
  std::string blocks;
  std::string text;  // while there is nothing but text
  bool is_plain = true;
  std::string created;
  std::optional<Usage> usage;
};

class SessionRows {
 public:
  SessionRows(const Transcript& transcript, Written& written)
      : transcript_(transcript), written_(written), ids_(transcript.seed) {}

  Result<std::string> run() {
    written_.session = ids_.hex("session", 32);
    for (const TranscriptMessage& message : transcript_.messages) take(message);
    TRY_ASSIGN(RowDatabase database, RowDatabase::make(schema()));
    TRY(database.add("chat_sessions", session()));
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      TRY(database.add("messages", row(turns_[i], i)));
    }
    return database.image();
  }

 private:
  void lose(const TranscriptMessage& from, std::string_view what, std::string_view why) {
    written_.lost.push_back(
        {.entry_id = from.entry_id, .what = std::string(what), .why = std::string(why)});
  }

  void take(const TranscriptMessage& from) {
    if (from.message.role == Role::kSystem) {
      return lose(from, "system", "CodePilot makes its system prompt anew");
    }
    const bool is_user = from.message.role == Role::kUser;
    for (const Part& part : from.message.parts) {
      const bool asks = is_user && part.type != PartType::kToolResult;
      if (!can_take(from, part, asks)) continue;
      const Role role = asks ? Role::kUser : Role::kAssistant;
      if (turns_.empty() || turns_.back().role != role) {
        turns_.emplace_back();
        turns_.back().role = role;
        turns_.back().created = time_of(from.timestamp);
      }
      add(part, turns_.back());
    }
    if (!from.message.usage || turns_.empty() || turns_.back().role != Role::kAssistant) return;
    std::optional<Usage>& usage = turns_.back().usage;
    usage = sum_of(usage.value_or(Usage()), *from.message.usage);
  }

  bool can_take(const TranscriptMessage& from, const Part& part, bool asks) {
    switch (part.type) {
      case PartType::kText:
        return true;
      case PartType::kThinking:
        if (!part.signature.empty()) lose(from, "signature", "CodePilot keeps the text only");
        return !asks && !part.text.empty();
      case PartType::kToolUse:
        return !asks;
      case PartType::kToolResult:
        for (const Part& inner : part.content) {
          if (inner.type != PartType::kText) lose(from, "attachment", "of a tool's result");
        }
        return true;
      case PartType::kAttachment:
        lose(from, "attachment", "CodePilot keeps files beside its database");
        return false;
      case PartType::kStatus:
        lose(from, "status", "for a screen only");
        return false;
      case PartType::kOther:
        lose(from, "part", "of a kind that CodePilot does not know");
        return false;
    }
    return false;
  }

  static void add(const Part& part, WrittenTurn& turn) {
    if (!turn.blocks.empty()) turn.blocks += ',';
    json::Writer out(turn.blocks);
    out.begin_object();
    switch (part.type) {
      case PartType::kThinking:
        out.member("type", "thinking").member("thinking", part.text);
        break;
      case PartType::kToolUse:
        out.member("type", "tool_use").member("id", part.tool_use_id).member("name", part.name);
        out.key("input");
        write_input(out, part);
        break;
      case PartType::kToolResult: {
        std::string said;
        for (const Part& inner : part.content) {
          if (inner.type != PartType::kText) continue;
          said += (said.empty() ? "" : "\n") + inner.text;
        }
        out.member("type", "tool_result").member("tool_use_id", part.tool_use_id);
        out.member("content", said);
        if (part.is_error) out.member("is_error", true);
        break;
      }
      default:
        out.member("type", "text").member("text", part.text);
        turn.text += (turn.text.empty() ? "" : "\n\n") + part.text;
    }
    out.end_object();
    turn.is_plain = turn.is_plain && part.type == PartType::kText;
  }

  std::string session() const {
    const std::string created = time_of(transcript_.created);
    std::string text;
    json::Writer out(text);
    out.begin_object().member("id", written_.session);
    out.member("title", transcript_.title.empty() ? "Imported session" : transcript_.title);
    out.member("created_at", created);
    out.member("updated_at", turns_.empty() ? created : turns_.back().created);
    out.member("model", transcript_.model).member("working_directory", transcript_.cwd);
    out.member("project_name", transcript_.cwd.substr(transcript_.cwd.rfind('/') + 1));
    out.member("sdk_cwd", transcript_.cwd).end_object();
    return text;
  }

  std::string row(const WrittenTurn& turn, std::size_t number) const {
    std::string text;
    json::Writer out(text);
    out.begin_object().member("id", ids_.hex("message" + std::to_string(number), 32));
    out.member("session_id", written_.session);
    out.member("role", turn.role == Role::kUser ? "user" : "assistant");
    const bool is_text = turn.role == Role::kUser || turn.is_plain;
    out.member("content", is_text ? turn.text : "[" + turn.blocks + "]");
    out.member("created_at", turn.created);
    if (turn.usage) out.member("token_usage", usage_text(*turn.usage));
    out.end_object();
    return text;
  }

  static std::string usage_text(const Usage& usage) {
    std::string text;
    json::Writer out(text);
    out.begin_object().member("input_tokens", usage.tokens_in.value_or(0));
    out.member("output_tokens", usage.tokens_out.value_or(0));
    if (usage.cache_read) out.member("cache_read_input_tokens", *usage.cache_read);
    if (usage.cache_write) out.member("cache_creation_input_tokens", *usage.cache_write);
    if (usage.cost_usd) out.member("cost_usd", *usage.cost_usd);
    out.end_object();
    return text;
  }

  const Transcript& transcript_;
  Written& written_;
  MadeIds ids_;
  std::vector<WrittenTurn> turns_;
};

}  // namespace

Result<Written> Codepilot::write(const Transcript& transcript) const {
  Written written;
  TRY_ASSIGN(std::string image, SessionRows(transcript, written).run());
  written.files.push_back({.path = "codepilot.db", .bytes = std::move(image)});
  return written;
}

}  // namespace quipu::dialect::codepilot
