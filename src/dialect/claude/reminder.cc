#include "dialect/claude/reminder.h"

#include <algorithm>
#include <string>

#include "dialect/claude/lift.h"
#include "dialect/json_members.h"

namespace quipu::dialect::claude {
namespace {

using json::Kind;

constexpr std::string_view kSilent[] = {
    "hook_system_message", "command_permissions",   "hook_cancelled", "hook_permission_decision",
    "structured_output",   "deferred_tools_record", "fork_briefing",  "already_read_file",
    "dynamic_skill",
};

// A text, or the texts of an array: strings and text blocks, one below the other.
std::string texts_in(std::string_view object, std::string_view key, std::string_view between) {
  const auto member = json::find_member(object, key);
  if (!member) return {};
  if (member->kind == Kind::kString) return json::decode_string(member->value);
  std::string texts;
  json::ElementWalk walk(member->kind == Kind::kArray ? member->value : std::string_view());
  while (const auto element = walk.next()) {
    const std::string text = element->kind == Kind::kString ? json::decode_string(element->value)
                                                            : text_in(element->value, "text");
    if (text.empty()) continue;
    if (!texts.empty()) texts += between;
    texts += text;
  }
  return texts;
}

std::string headed(std::string_view head, std::string text) {
  return text.empty() ? text : std::string(head) + text;
}

std::string of_hook(std::string_view attachment, std::string_view what) {
  const std::string text = texts_in(attachment, "content", "\n");
  return headed(text_in(attachment, "hookName") + " hook " + std::string(what) + ": ", text);
}

// What a hook printed is told to the model where a turn begins.
std::string of_hook_success(std::string_view attachment) {
  const std::string event = text_in(attachment, "hookEvent");
  if (event != "SessionStart" && event != "UserPromptSubmit") return {};
  return of_hook(attachment, "success");
}

std::string of_changed_list(std::string_view attachment, std::string_view head,
                            std::string_view removed_key) {
  std::string text = headed(head, texts_in(attachment, "addedLines", "\n"));
  const std::string removed = texts_in(attachment, removed_key, ", ");
  if (!removed.empty()) text += (text.empty() ? "" : "\n\n") + ("No longer available: " + removed);
  return text;
}

std::string of_tasks(std::string_view attachment) {
  std::string text;
  const auto tasks = json::find_member(attachment, "content");
  json::ElementWalk walk(tasks ? tasks->value : std::string_view());
  while (const auto task = walk.next()) {
    std::string subject = text_in(task->value, "subject");
    if (subject.empty()) subject = text_in(task->value, "content");
    if (subject.empty()) continue;
    text += "\n- [" + text_in(task->value, "status") + "] " + subject;
  }
  return headed("The tasks as they stand:", text);
}

// A file that was named in a prompt, as the tool that reads files would show it.
std::string of_file(std::string_view attachment) {
  const auto content = json::find_member(attachment, "content");
  const auto file = content ? json::find_member(content->value, "file") : std::nullopt;
  if (!file) return {};
  const std::string path = text_in(file->value, "filePath");
  return headed("The contents of " + path + ":\n\n", text_in(file->value, "content"));
}

std::string of_memory(std::string_view attachment) {
  const auto content = json::find_member(attachment, "content");
  if (!content || content->kind != Kind::kObject) return texts_in(attachment, "content", "\n");
  return headed("The contents of " + text_in(content->value, "path") + ":\n\n",
                text_in(content->value, "content"));
}

std::string words_of(std::string_view type, std::string_view attachment) {
  if (type == "hook_success") return of_hook_success(attachment);
  if (type == "hook_additional_context") return of_hook(attachment, "additional context");
  if (type == "skill_listing") {
    return headed("The following skills are available for use with the Skill tool:\n\n",
                  texts_in(attachment, "content", "\n"));
  }
  if (type == "agent_listing_delta") {
    return of_changed_list(attachment, "Available agent types:\n", "removedTypes");
  }
  if (type == "deferred_tools_delta") {
    return of_changed_list(attachment, "Further tools, to be loaded before use:\n", "removedNames");
  }
  if (type == "mcp_instructions_delta") {
    return headed("Instructions of MCP servers:\n\n", texts_in(attachment, "addedBlocks", "\n\n"));
  }
  if (type == "edited_text_file") {
    return headed(text_in(attachment, "filename") +
                      " was modified by the user or a tool. The lines around the change:\n",
                  text_in(attachment, "snippet"));
  }
  if (type == "compact_file_reference") {
    return headed("Read before the conversation was compacted, too large to show again: ",
                  text_in(attachment, "filename"));
  }
  if (type == "task_reminder" || type == "todo_reminder") return of_tasks(attachment);
  if (type == "file") return of_file(attachment);
  if (type == "nested_memory") return of_memory(attachment);
  if (type == "plan_mode") {
    return "Plan mode is active: nothing but the plan may be changed. " +
           headed("The plan: ", text_in(attachment, "planFilePath"));
  }
  if (type == "plan_mode_exit") {
    return "Plan mode has ended. " + headed("The plan: ", text_in(attachment, "planFilePath"));
  }
  return texts_in(attachment, "content", "\n");
}

}  // namespace

void lift_attachment(std::string_view attachment, Lifted& into) {
  const std::string type = text_in(attachment, "type");
  if (std::find(std::begin(kSilent), std::end(kSilent), type) != std::end(kSilent)) return;
  if (type == "queued_command") {
    const auto prompt = json::find_member(attachment, "prompt");
    return lift_prompt(prompt ? prompt->value : std::string_view(), into);
  }
  const std::string words = words_of(type, attachment);
  if (words.empty()) return;
  into.begin(Role::kUser);
  into.part(text_part(into.token("<system-reminder>\n" + words + "\n</system-reminder>")));
}

}  // namespace quipu::dialect::claude
