// What the records of craft-agents say.
#include "dialect/craft/craft.h"
#include "dialect/json_members.h"

namespace quipu::dialect::craft {
namespace {

using json::Kind;

constexpr std::string_view kSessionPathPrefix = "{{SESSION_PATH}}/";

// Where the session has them: the names of its other files.
void lift_attachments(std::string_view message, Lifted& into) {
  json::ElementWalk walk(array_in(message, "attachments"));
  while (const auto file = walk.next()) {
    if (file->kind != Kind::kObject) continue;
    std::string path = text_in(file->value, "storedPath");
    if (path.empty()) continue;
    if (path.starts_with(kSessionPathPrefix)) path.erase(0, kSessionPathPrefix.size());
    PartView part = attachment_part(token_in(file->value, "mimeType"), {});
    part.name = token_in(file->value, "name");
    part.path = into.token(path);
    into.part(part);
  }
}

void lift_tool(std::string_view message, Lifted& into) {
  into.begin(Role::kAssistant).request_id = token_in(message, "turnId");
  std::string_view id = token_in(message, "toolUseId");
  if (id.empty()) id = token_in(message, "id");
  const std::string_view name = token_in(message, "toolName");
  const std::string_view input = object_in(message, "toolInput");
  into.part(call_part(id, name, input.empty() ? "{}" : input));

  const std::string status = text_in(message, "toolStatus");
  const bool has_ended = status == "completed" || status == "error" || status == "backgrounded";
  std::string_view result = token_in(message, "toolResult");
  if (result.empty() && has_ended) result = token_in(message, "content");
  if (result.empty()) return;
  PartView part = result_part(id, result, status == "error" || is_true_in(message, "isError"));
  part.name = name;
  into.part(part);
}

void note_header(std::string_view header, Note& into) {
  if (std::string title = text_in(header, "name"); !title.empty()) {
    into.title = std::move(title);
    into.title_is_given = true;
  }
  if (std::string directory = text_in(header, "workingDirectory"); directory.starts_with('/')) {
    into.cwd = std::move(directory);
  }
  if (std::string sdk = text_in(header, "sdkSessionId"); !sdk.empty()) {
    into.sdk_session_id = std::move(sdk);
  }
  if (std::string model = text_in(header, "model"); !model.empty()) into.model = std::move(model);
  into.archived = is_true_in(header, "isArchived");
  into.tags.emplace();
  for (json::ElementWalk walk(array_in(header, "labels")); const auto label = walk.next();) {
    if (label->kind == Kind::kString) into.tags->push_back(json::decode_string(label->value));
  }
  // A path of the machine it was written on; its name says which session.
  if (const std::string path = text_in(header, "branchFromSessionPath"); !path.empty()) {
    into.kin.push_back({.relation = Relation::kForkedFrom,
                        .session = path.substr(path.rfind('/') + 1),
                        .entry = text_in(header, "branchFromMessageId")});
  }
}

// The sum of all requests, which every save says anew.
void note_usage(std::string_view header, Note& into) {
  const std::string_view tokens = object_in(header, "tokenUsage");
  if (tokens.empty()) return;
  UsageNote note;
  note.key = "craft:" + text_in(header, "id");
  note.model = text_in(header, "model");
  note.usage.tokens_in = number_in(tokens, "inputTokens");
  note.usage.tokens_out = number_in(tokens, "outputTokens");
  note.usage.cache_read = number_in(tokens, "cacheReadTokens");
  note.usage.cache_write = number_in(tokens, "cacheCreationTokens");
  note.usage.cost_usd = real_in(tokens, "costUsd");
  into.usage.push_back(std::move(note));
}

bool is_said(std::string_view message) {
  const std::string type = text_in(message, "type");
  return (type == "user" || type == "assistant" || type == "tool" || type == "plan") &&
         token_in(message, "parentToolUseId").empty();
}

}  // namespace

void Craft::lift(std::string_view kind, std::string_view payload, Lifted& into) const {
  if (kind != "message") return;
  const std::string type = text_in(payload, "type");
  if (type == "tool") return lift_tool(payload, into);
  const std::string_view content = token_in(payload, "content");
  if (type == "user") {
    into.begin(Role::kUser);
    if (!content.empty()) into.part(text_part(content));
    return lift_attachments(payload, into);
  }
  if (type == "assistant" || type == "plan") {
    into.begin(Role::kAssistant).request_id = token_in(payload, "turnId");
    if (!content.empty()) into.part(text_part(content));
    return;
  }
  into.begin(Role::kSystem);  // error, status, info …: for the screen
  if (!content.empty()) into.part(status_part(content));
}

void Craft::note(std::string_view kind, std::string_view payload, Note& into) const {
  if (kind == "header") {
    note_header(payload, into);
    note_usage(payload, into);
  } else if (kind == "message" && text_in(payload, "type") == "user") {
    into.prompt = text_in(payload, "content");
  }
}

std::vector<Pick> Craft::conversation(std::span<const StoredRecord> records,
                                      std::uint32_t at) const {
  std::vector<Pick> picks;
  for (const std::uint32_t i : in_order(records, at)) {
    const StoredRecord& record = records[i];
    if (record.kind == "message" && !record.redacted && is_said(record.payload)) {
      picks.push_back({.record = i});
    }
  }
  return picks;
}

}  // namespace quipu::dialect::craft
