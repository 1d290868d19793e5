#include "codex_rollout.h"

#include <gtest/gtest.h>

#include "base/json_scan.h"
#include "dialect/carry.h"

namespace quipu::dialect::codex {
namespace {

std::string plain(std::string_view token) {
  return token.starts_with('"') ? json::decode_string(token) : std::string(token);
}

}  // namespace

ReadRollout read_rollout(const std::string& text, const std::string& path) {
  MemoryHost host;
  host.files[path] = text;
  const Source source{.agent = "codex", .path = path, .part = {}, .files = {path}};
  auto reader = kCodex.open(source, host, {});
  if (!reader.ok()) {
    ADD_FAILURE() << reader.error().message();
    return {};
  }
  ReadRollout rollout{.outline = (*reader)->outline(), .records = {}};
  Record record;
  for (;;) {
    auto more = (*reader)->next(record);
    if (!more.ok()) {
      ADD_FAILURE() << more.error().message();
      return rollout;
    }
    if (!*more) return rollout;
    rollout.records.push_back({.kind = record.kind,
                               .bytes = std::string(record.bytes),
                               .end = std::string(record.end),
                               .timestamp = record.timestamp,
                               .problem = std::string(record.problem),
                               .is_fact = record.is_fact});
  }
}

std::string line(const std::string& type, const std::string& payload) {
  return R"({"timestamp":"2026-01-02T03:04:05.678Z","type":")" + type + R"(","payload":)" +
         payload + "}\n";
}

std::string meta(const std::string& id, const std::string& more) {
  return line("session_meta",
              R"({"id":")" + id +
                  R"(","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","source":"cli",)"
                  R"("model_provider":"openai")" +
                  more + "}");
}

std::string item(const std::string& payload) { return line("response_item", payload); }

std::string user(const std::string& text) {
  return item(R"({"type":"message","role":"user","content":[{"type":"input_text","text":)" +
              json::quoted(text) + "}]}");
}

std::string assistant(const std::string& text) {
  return item(R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":)" +
              json::quoted(text) + "}]}");
}

std::string event(const std::string& type, const std::string& more) {
  return line("event_msg", R"({"type":")" + type + "\"" + more + "}");
}

std::string turn(const std::string& id, const std::string& text, const std::string& answer) {
  const std::string turn_id = R"(,"turn_id":")" + id + "\"";
  return event("task_started", turn_id) + user(text) +
         event("user_message", ",\"message\":" + json::quoted(text)) +
         line("turn_context", R"({"turn_id":")" + id + R"(","cwd":"/w","model":"gpt-5"})") +
         event("agent_message", ",\"message\":" + json::quoted(answer)) + assistant(answer) +
         event("task_complete", turn_id);
}

std::string shown(const Lifted& lifted, const LiftedMessage& message) {
  std::string text(name(message.view.role));
  text += ":";
  for (const PartView& part : lifted.parts(message)) {
    switch (part.type) {
      case PartType::kText:
        text += " " + plain(part.text);
        break;
      case PartType::kThinking:
        text += std::string(part.redacted ? " hidden" : " thinks ") + plain(part.text);
        if (!part.signature.empty()) text += " [" + plain(part.signature) + "]";
        break;
      case PartType::kToolUse:
        text += " call " + plain(part.tool_use_id) + " " + plain(part.name) + " " +
                (part.input.empty() ? "text " + plain(part.raw_input) : std::string(part.input));
        break;
      case PartType::kToolResult:
        text += " result " + plain(part.tool_use_id) + " " + plain(part.content);
        if (part.is_error) text += " failed";
        break;
      case PartType::kAttachment:
        text += " " + plain(part.media_type) + " " +
                (part.data.empty() ? "at " + plain(part.path) : plain(part.data));
        break;
      case PartType::kStatus:
        text += " status " + plain(part.text);
        break;
      case PartType::kOther:
        text += " other";
        break;
    }
  }
  return text;
}

std::vector<std::string> lifted(const std::string& kind, const std::string& record) {
  Lifted into;
  kCodex.lift(kind, record, into);
  std::vector<std::string> texts;
  for (const LiftedMessage& message : into.messages()) texts.push_back(shown(into, message));
  return texts;
}

std::vector<std::string> conversation(const std::string& text) {
  const ReadRollout rollout = read_rollout(text);
  std::vector<StoredRecord> records;
  std::uint32_t last = kNoRecord;
  for (const ReadRecord& record : rollout.records) {
    StoredRecord stored;
    stored.kind = record.kind;
    stored.payload = record.bytes;
    stored.parent = record.is_fact ? kNoRecord : last;
    records.push_back(stored);
    if (!record.is_fact) last = static_cast<std::uint32_t>(records.size() - 1);
  }
  std::vector<std::string> texts;
  for (const Pick& pick : kCodex.conversation(records, last)) {
    Lifted into;
    kCodex.lift(records[pick.record].kind, records[pick.record].payload, into);
    for (std::size_t i = 0; i < into.messages().size(); ++i) {
      if (pick.message != Pick::kAll && pick.message != i) continue;
      texts.push_back(shown(into, into.messages()[i]));
    }
  }
  return texts;
}

std::vector<Note> notes(const std::string& text) {
  std::vector<Note> all;
  std::string memory;
  for (const ReadRecord& record : read_rollout(text).records) {
    Note note;
    note.memory = memory;
    kCodex.note(record.kind, record.bytes, note);
    memory = note.memory;
    all.push_back(std::move(note));
  }
  return all;
}

}  // namespace quipu::dialect::codex
