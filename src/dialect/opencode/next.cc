// Messages of the event-sourced tables: a row has its content in it.
#include "base/json_write.h"
#include "dialect/json_members.h"
#include "dialect/opencode/messages.h"
#include "dialect/opencode/shape.h"

namespace quipu::dialect::opencode {
namespace {

// Blocks that a tool gave, as parts of ours.
std::string_view blocks_of(std::string_view state, Lifted& into) {
  std::string content;
  json::Writer out(content);
  out.begin_array();
  json::ElementWalk walk(array_in(state, "content"));
  while (const auto block = walk.next()) {
    const std::string_view text = token_in(block->value, "text");
    if (text.empty()) continue;
    out.begin_object().member("type", "text").raw_member("text", text).end_object();
  }
  out.end_array();
  return into.keep(std::move(content));
}

void lift_tool(std::string_view tool, std::vector<PartView>& results, Lifted& into) {
  const std::string_view id = token_in(tool, "id");
  const std::string_view state = object_in(tool, "state");
  std::string_view input = object_in(state, "input");
  if (input.empty()) input = token_in(state, "input");
  into.part(call_part(id, token_in(tool, "name"), input.empty() ? "{}" : input));
  const std::string status = text_in(state, "status");
  if (status == "completed") {
    results.push_back(result_part(id, blocks_of(state, into), false));
  } else if (status == "error") {
    const std::string_view message = token_in(object_in(state, "error"), "message");
    results.push_back(result_part(id, message.empty() ? "\"\"" : message, true));
  } else {
    results.push_back(result_part(id, into.token("[Tool execution was interrupted]"), true));
  }
}

void lift_answer(std::string_view data, Lifted& into) {
  MessageView& view = into.begin(Role::kAssistant);
  view.model = token_in(object_in(data, "model"), "id");
  view.provider = token_in(object_in(data, "model"), "providerID");
  view.stop_reason = token_in(data, "finish");
  view.usage = usage_object(data, into);
  std::vector<PartView> results;
  json::ElementWalk walk(array_in(data, "content"));
  while (const auto block = walk.next()) {
    const std::string type = text_in(block->value, "type");
    const std::string_view text = token_in(block->value, "text");
    if (type == "text" && !text.empty()) into.part(text_part(text));
    if (type == "reasoning" && !text.empty()) into.part(thinking_part(text));
    if (type == "tool") lift_tool(block->value, results, into);
  }
  if (!results.empty()) into.begin(Role::kTool);
  for (const PartView& result : results) into.part(result);
}

void lift_shell(std::string_view data, Lifted& into) {
  into.begin(Role::kUser);
  into.part(text_part(
      into.token("Shell command: " + text_in(data, "command") + "\n\n" + text_in(data, "output"))));
}

}  // namespace

void lift_next(std::string_view row, Lifted& into) {
  std::deque<std::string> kept;
  const std::string_view data = body_of(row, kept);
  const std::string type = text_in(row, "type");
  const std::string_view text = token_in(data, "text");
  if (type == "assistant") lift_answer(data, into);
  if ((type == "user" || type == "synthetic") && !text.empty()) {
    into.begin(Role::kUser);
    into.part(text_part(text));
  }
  if (type == "system" && !text.empty()) {
    into.begin(Role::kSystem);
    into.part(text_part(text));
  }
  if (type == "shell") lift_shell(data, into);
  const std::string_view summary = token_in(data, "summary");
  if (type == "compaction" && !summary.empty()) {
    into.summary(summary);
    if (const std::string_view recent = token_in(data, "recent"); recent.size() > 2) {
      into.part(text_part(recent));
    }
  }
  into.keep_all(std::move(kept));
}

}  // namespace quipu::dialect::opencode
