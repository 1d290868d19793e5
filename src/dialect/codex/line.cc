#include "dialect/codex/line.h"

#include <algorithm>
#include <array>

#include "base/json_scan.h"
#include "dialect/json_members.h"

namespace quipu::dialect::codex {
namespace {

// Elements in which the agent wraps what it says in a user's name.
constexpr std::array<std::string_view, 14> kUserElements{"environment_context",
                                                         "user_instructions",
                                                         "user_shell_command",
                                                         "turn_aborted",
                                                         "subagent_notification",
                                                         "subagents",
                                                         "skill",
                                                         "hook_prompt",
                                                         "recommended_plugins",
                                                         "internal_context",
                                                         "codex_internal_context",
                                                         "additional_context",
                                                         "user_goal_update",
                                                         "agent_message_board"};
// And in a developer's: `<permissions instructions>`.
constexpr std::array<std::string_view, 8> kDeveloperElements{"permissions",
                                                             "model_switch",
                                                             "collaboration_mode",
                                                             "realtime_conversation",
                                                             "personality_spec",
                                                             "apps",
                                                             "plugins",
                                                             "skills_instructions"};
constexpr std::string_view kProjectInstructions = "# agents.md instructions";
constexpr std::string_view kSummary = "another language model started to solve this problem";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool begins_with(std::string_view text, std::string_view small) {
  return text.size() >= small.size() && std::equal(small.begin(), small.end(), text.begin(),
                                                   [](char a, char b) { return a == lower(b); });
}

// `<name …> … </name>`
bool is_element(std::string_view text, std::string_view name) {
  if (text.size() < name.size() + 2 || text[0] != '<') return false;
  if (!begins_with(text.substr(1), name)) return false;
  const char next = text[1 + name.size()];
  if (next != '>' && next != ' ') return false;
  const std::size_t close = text.rfind("</");
  return close != std::string_view::npos && begins_with(text.substr(close + 2), name);
}

template <class Names>
bool is_one_of(std::string_view text, const Names& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return is_element(text, name); });
}

template <class See>
void each_text(std::string_view item, See see) {
  const auto content = json::find_member(item, "content");
  if (!content) return;
  if (content->kind == json::Kind::kString) return see(json::decode_string(content->value));
  json::ElementWalk walk(content->value);
  while (const auto part = walk.next()) {
    if (part->kind != json::Kind::kObject) continue;
    if (const std::string_view text = token_in(part->value, "text"); !text.empty()) {
      see(json::decode_string(text));
    }
  }
}

bool is_for_the_model(const std::string& said, bool by_developer) {
  const std::string_view text = trimmed(said);
  if (by_developer) return is_one_of(text, kDeveloperElements);
  return begins_with(text, kProjectInstructions) || is_one_of(text, kUserElements);
}

}  // namespace

std::string_view payload_of(std::string_view record) {
  const std::string_view payload = object_in(record, "payload");
  return payload.empty() ? record : payload;
}

bool begins_turn(std::string_view item) {
  const std::string type = text_in(item, "type");
  if (type == "agent_message") return true;
  if (type != "message" || text_in(item, "role") != "user") return false;
  bool is_injected = false;
  each_text(item, [&](const std::string& text) {
    is_injected |= is_for_the_model(text, false) || begins_with(text, kSummary);
  });
  return !is_injected;
}

bool is_surroundings(std::string_view item) {
  if (text_in(item, "type") != "message") return false;
  const std::string role = text_in(item, "role");
  if (role != "user" && role != "developer") return false;
  bool is_injected = false;
  each_text(item, [&](const std::string& text) {
    is_injected |= is_for_the_model(text, role == "developer");
  });
  return is_injected;
}

std::string said(std::string_view item) {
  std::string all;
  each_text(item, [&](const std::string& text) { all += text; });
  return all;
}

}  // namespace quipu::dialect::codex
