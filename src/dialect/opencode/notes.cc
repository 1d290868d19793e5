// What records of opencode say of their session.
#include "dialect/json_members.h"
#include "dialect/opencode/messages.h"
#include "dialect/opencode/opencode.h"
#include "dialect/opencode/shape.h"

namespace quipu::dialect::opencode {
namespace {

// Until there is a better one.
bool is_placeholder(std::string_view title) {
  return title.starts_with("New session - ") || title.starts_with("Child session - ");
}

bool is_prompt(std::string_view part) {
  return token_in(part, "type") == "\"text\"" && !is_true_in(part, "synthetic") &&
         !is_true_in(part, "ignored");
}

void note_session(std::string_view session, Note& into) {
  const std::string title = text_in(session, "title");
  if (!title.empty() && !is_placeholder(title)) into.title = title;
  const std::string directory = text_in(session, "directory");
  if (!directory.empty()) into.cwd = directory;
  std::deque<std::string> kept;
  const std::string_view model = object_or_text(session, "model", kept);
  if (const std::string id = text_in(model, "id"); !id.empty()) {
    into.model = id;
    into.provider = text_in(model, "providerID");
  }
  // A row has a column for it, whatever it holds; a file and an export a member of `time`.
  const auto row = json::find_member(session, "time_archived");
  const std::string_view time = object_in(session, "time");
  if (row || !time.empty()) {
    into.archived =
        row ? row->kind == json::Kind::kNumber : json::find_member(time, "archived").has_value();
  }
  std::string parent = text_in(session, "parent_id");
  if (parent.empty()) parent = text_in(session, "parentID");
  if (!parent.empty())
    into.kin.push_back({.relation = Relation::kSpawnedBy, .session = parent, .entry = {}});
}

void note_answer(std::string_view info, Note& into) {
  auto usage = usage_of(info);
  std::string model = text_in(info, "modelID");
  std::string provider = text_in(info, "providerID");
  if (model.empty()) {
    model = text_in(object_in(info, "model"), "id");
    provider = text_in(object_in(info, "model"), "providerID");
  }
  if (!model.empty()) {
    into.model = std::move(model);
    into.provider = std::move(provider);
  }
  if (usage) into.usage.push_back(std::move(*usage));
}

void note_message(std::string_view record, Note& into) {
  std::deque<std::string> kept;
  const std::string_view info = body_of(record, kept);
  if (text_in(info, "role") == "assistant") return note_answer(info, into);
  // Parts follow their message, and do not say who speaks.
  std::string id = text_in(record, "id");
  if (id.empty()) id = text_in(info, "id");
  into.memory = std::move(id);
  json::ElementWalk walk(parts_of(record));
  while (const auto part = walk.next()) {
    if (!is_prompt(part->value)) continue;
    into.prompt = text_in(part->value, "text");
    return;
  }
}

void note_part(std::string_view record, Note& into) {
  if (into.memory.empty() || into.memory != message_of(record)) return;
  std::deque<std::string> kept;
  const std::string_view part = body_of(record, kept);
  if (!is_prompt(part)) return;
  into.prompt = text_in(part, "text");
  into.memory.clear();
}

void note_next(std::string_view row, Note& into) {
  std::deque<std::string> kept;
  const std::string_view data = body_of(row, kept);
  const std::string type = text_in(row, "type");
  if (type == "assistant") note_answer(data, into);
  if (type == "user") into.prompt = text_in(data, "text");
}

}  // namespace

void Opencode::note(std::string_view kind, std::string_view payload, Note& into) const {
  if (kind == "session") note_session(payload, into);
  if (kind == "message") note_message(payload, into);
  if (kind == "part") note_part(payload, into);
  if (kind == "session_message") note_next(payload, into);
}

}  // namespace quipu::dialect::opencode
