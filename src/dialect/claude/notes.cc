#include "dialect/claude/notes.h"

#include "dialect/claude/describe.h"
#include "dialect/claude/lift.h"
#include "dialect/json_members.h"
#include "model/message_view.h"

namespace quipu::dialect::claude {
namespace {

using json::Kind;

// What lines of the tree say of themselves; strings are tokens.
struct Said {
  std::string_view cwd, session, agent, request;
  std::string_view message, forked_from, cost;
  bool is_aside = false;
  bool is_error = false;
  bool is_typed = true;  // nothing that the program says in the user's name
};

// Enough for whoever shows a prompt in a line.
constexpr std::size_t kPromptBytes = 8192;

Said read(std::string_view payload) {
  Said said;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (member->key == "isSidechain") said.is_aside = member->value == "true";
    if (member->key == "isApiErrorMessage") said.is_error = member->value == "true";
    if (member->key == "isMeta" || member->key == "isCompactSummary" ||
        member->key == "isVisibleInTranscriptOnly") {
      said.is_typed = said.is_typed && member->value != "true";
    }
    if (member->key == "costUSD" && member->kind == Kind::kNumber) said.cost = member->value;
    if (member->kind == Kind::kObject) {
      if (member->key == "message") said.message = member->value;
      if (member->key == "forkedFrom") said.forked_from = member->value;
    }
    if (member->kind != Kind::kString) continue;
    if (member->key == "cwd") said.cwd = member->value;
    if (member->key == "sessionId") said.session = member->value;
    if (member->key == "agentId") said.agent = member->value;
    if (member->key == "requestId") said.request = member->value;
  }
  return said;
}

std::string plain(std::string_view token) {
  return token.empty() ? std::string() : json::decode_string(token);
}

void note_answer(const Said& said, Note& into) {
  const std::string model = text_in(said.message, "model");
  if (model.empty() || model == "<synthetic>" || said.is_error) return;
  // Of the side chains in a main file the session did not hear.
  if (!said.is_aside || !said.agent.empty()) {
    into.model = model;
    into.provider = "anthropic";
  }
  const auto counts = json::find_member(said.message, "usage");
  std::string usage = usage_of(counts ? counts->value : std::string_view());
  if (usage.empty() && said.cost.empty()) return;
  if (usage.empty()) usage = "{}";
  if (!said.cost.empty()) {
    usage.pop_back();
    usage += (usage.size() > 1 ? ",\"costUsd\":" : "\"costUsd\":") + std::string(said.cost) + "}";
  }
  UsageNote note;
  const std::string id = text_in(said.message, "id");
  if (!id.empty()) note.key = id + ":" + plain(said.request);
  note.usage = read_usage(usage);
  note.model = model;
  note.provider = "anthropic";
  into.usage.push_back(std::move(note));
}

// A string's text, or the beginning of a long one.
std::string beginning_of(std::string_view token) {
  return json::decode_string(token.size() > kPromptBytes ? token.substr(1, kPromptBytes) : token);
}

// What the user typed: no result of a tool, nothing the program says in the user's name.
void note_prompt(const Said& said, Note& into) {
  if (!said.is_typed) return;
  const auto content = json::find_member(said.message, "content");
  if (!content) return;
  std::string text;
  if (content->kind == Kind::kString) text = beginning_of(content->value);
  json::ElementWalk walk(content->kind == Kind::kArray ? content->value : "[]");
  while (const auto block = walk.next()) {
    if (text_in(block->value, "type") == "tool_result") return;
    if (text.empty() && text_in(block->value, "type") == "text")
      text = text_in(block->value, "text");
  }
  // Commands of the program and what they print.
  if (text.empty() || text.starts_with("<command-") || text.starts_with("<local-command-") ||
      text.starts_with("<bash-")) {
    return;
  }
  into.prompt = std::move(text);
}

void note_node(LineType type, std::string_view payload, Note& into) {
  const Said said = read(payload);
  if (!said.cwd.empty() && !said.is_aside) into.cwd = plain(said.cwd);
  if (said.is_aside && !said.agent.empty() && !said.session.empty()) {
    into.kin.push_back(
        {.relation = Relation::kSpawnedBy, .session = plain(said.session), .entry = {}});
  }
  if (const std::string session = text_in(said.forked_from, "sessionId"); !session.empty()) {
    into.kin.push_back({.relation = Relation::kForkedFrom,
                        .session = session,
                        .entry = text_in(said.forked_from, "messageUuid")});
  }
  if (type == LineType::kAssistant) note_answer(said, into);
  if (type == LineType::kUser && !said.is_aside) note_prompt(said, into);
}

void note_title(std::string_view payload, std::string_view key, bool is_given, Note& into) {
  const auto title = json::find_member(payload, key);
  if (!title || title->kind != Kind::kString) return;
  into.title = json::decode_string(title->value);
  into.title_is_given = is_given;
}

}  // namespace

void note_line(std::string_view kind, std::string_view payload, Note& into) {
  if (const LineType type = line_type(kind); type != LineType::kOther) {
    return note_node(type, payload, into);
  }
  if (kind == "custom-title" || kind == "title-file") {
    note_title(payload, "customTitle", true, into);
  } else if (kind == "ai-title") {
    note_title(payload, "aiTitle", false, into);
  } else if (kind == "summary") {
    note_title(payload, "summary", false, into);
    into.title_at = text_in(payload, "leafUuid");
  } else if (kind == "tag") {
    const std::string tag = text_in(payload, "tag");
    into.tags = tag.empty() ? std::vector<std::string>() : std::vector<std::string>{tag};
  } else if (kind == "relocated") {
    if (std::string cwd = text_in(payload, "relocatedCwd"); !cwd.empty()) into.cwd = cwd;
  } else if (kind == "continued-in") {
    if (std::string session = text_in(payload, "continuedInSessionId"); !session.empty()) {
      into.kin.push_back(
          {.relation = Relation::kContinuedIn, .session = std::move(session), .entry = {}});
    }
  } else if (kind == "archive-file") {
    const auto archived = json::find_member(payload, "archived");
    if (archived && archived->kind == Kind::kBool) into.archived = archived->value == "true";
  } else if (kind == "agent-file") {
    // The lines beside it name the session.
    if (std::string call = text_in(payload, "toolUseId"); !call.empty()) {
      into.kin.push_back(
          {.relation = Relation::kSpawnedBy, .session = {}, .entry = std::move(call)});
    }
  }
}

}  // namespace quipu::dialect::claude
