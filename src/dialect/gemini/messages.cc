#include "dialect/gemini/messages.h"

#include <algorithm>

#include "dialect/json_members.h"

namespace quipu::dialect::gemini {
namespace {

using json::Kind;

constexpr std::string_view kProvider = "\"google\"";
constexpr std::string_view kSpace = " \t\r\n\f\v";

// What a tool said: `output` or `error` of its response, else all of it.
void lift_response(std::string_view response, Lifted& into) {
  const std::string_view said = object_in(response, "response");
  std::string_view content = token_in(said, "output");
  const bool is_error = content.empty() && !token_in(said, "error").empty();
  if (is_error) content = token_in(said, "error");
  if (content.empty()) content = into.token(said.empty() ? "" : said);
  PartView part = result_part(token_in(response, "id"), content, is_error);
  part.name = token_in(response, "name");
  into.part(part);
}

void lift_part(std::string_view part, Lifted& into) {
  if (const std::string_view call = object_in(part, "functionCall"); !call.empty()) {
    const std::string_view arguments = object_in(call, "args");
    PartView lifted = call_part(token_in(call, "id"), token_in(call, "name"),
                                arguments.empty() ? "{}" : arguments);
    lifted.signature = token_in(part, "thoughtSignature");
    return into.part(lifted);
  }
  if (const std::string_view response = object_in(part, "functionResponse"); !response.empty()) {
    return lift_response(response, into);
  }
  if (const std::string_view data = object_in(part, "inlineData"); !data.empty()) {
    return into.part(attachment_part(token_in(data, "mimeType"), token_in(data, "data")));
  }
  const std::string_view text = token_in(part, "text");
  if (text.empty()) {
    PartView other;
    other.whole = part;
    return into.part(other);
  }
  const auto thought = json::find_member(part, "thought");
  into.part(thought && thought->value == "true"
                ? thinking_part(text, token_in(part, "thoughtSignature"))
                : text_part(text));
}

// A string, a part, or a list of either.
void lift_parts(std::string_view content, Kind kind, Lifted& into) {
  if (kind == Kind::kString) return into.part(text_part(content));
  if (kind == Kind::kObject) return lift_part(content, into);
  if (kind != Kind::kArray) return;
  json::ElementWalk walk(content);
  while (const auto part = walk.next()) {
    if (part->kind == Kind::kString) into.part(text_part(part->value));
    if (part->kind == Kind::kObject) lift_part(part->value, into);
  }
}

void lift_thoughts(std::string_view message, Lifted& into) {
  const auto thoughts = json::find_member(message, "thoughts");
  if (!thoughts || thoughts->kind != Kind::kArray) return;
  json::ElementWalk walk(thoughts->value);
  while (const auto thought = walk.next()) {
    if (thought->kind != Kind::kObject) continue;
    std::string text = text_in(thought->value, "subject");
    const std::string description = text_in(thought->value, "description");
    if (!text.empty() && !description.empty()) text = "**" + text + "**\n";
    text += description;
    if (!text.empty()) into.part(thinking_part(into.token(text)));
  }
}

void lift_calls(std::string_view message, Lifted& into) {
  for (json::ElementWalk walk(array_in(message, "toolCalls")); const auto call = walk.next();) {
    if (call->kind != Kind::kObject) continue;
    const std::string_view arguments = object_in(call->value, "args");
    into.part(call_part(token_in(call->value, "id"), token_in(call->value, "name"),
                        arguments.empty() ? "{}" : arguments));
  }
}

void lift_results(std::string_view message, Lifted& into) {
  for (json::ElementWalk walk(array_in(message, "toolCalls")); const auto call = walk.next();) {
    if (call->kind != Kind::kObject) continue;
    const auto result = json::find_member(call->value, "result");
    if (!result || result->kind != Kind::kArray) continue;
    for (json::ElementWalk parts(result->value); const auto part = parts.next();) {
      const std::string_view response = object_in(part->value, "functionResponse");
      if (!response.empty()) lift_response(response, into);
    }
  }
}

// Lists that replace all messages have thoughts and calls among the parts of the content, and
// those beside it again.
bool has_all(std::string_view content) {
  json::ElementWalk walk(content.starts_with('[') ? content : "[]");
  while (const auto part = walk.next()) {
    if (!object_in(part->value, "functionCall").empty() || is_true_in(part->value, "thought")) {
      return true;
    }
  }
  return false;
}

std::string_view usage_of(std::string_view message, Lifted& into) {
  Note note;
  note_usage(message, note);
  return note.usage.empty() ? std::string_view() : into.usage(note.usage.front().usage);
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  for (const std::string_view start : starts) {
    if (text.starts_with(start)) return true;
  }
  return false;
}

}  // namespace

void lift_message(std::string_view message, Lifted& into) {
  const std::string type = text_in(message, "type");
  const auto content = json::find_member(message, "content");
  if (type != "user" && type != "gemini") {  // info, error, warning: for the screen
    into.begin(Role::kSystem);
    if (content && content->kind == Kind::kString) into.part(status_part(content->value));
    return;
  }
  MessageView& view = into.begin(type == "user" ? Role::kUser : Role::kAssistant);
  if (type == "gemini") {
    view.model = token_in(message, "model");
    view.provider = kProvider;
    view.request_id = token_in(message, "id");
    view.usage = usage_of(message, into);
  }
  const bool is_rebuilt = type == "gemini" && !(content && has_all(content->value));
  if (is_rebuilt) lift_thoughts(message, into);
  if (content) lift_parts(content->value, content->kind, into);
  if (is_rebuilt) lift_calls(message, into);
  // Calls first, then what came of them: that is how they were sent.
  if (type == "gemini") lift_results(message, into);
}

void lift_content(std::string_view content, Lifted& into) {
  const bool is_model = text_in(content, "role") == "model";
  MessageView& view = into.begin(is_model ? Role::kAssistant : Role::kUser);
  if (is_model) view.provider = kProvider;
  if (const auto parts = json::find_member(content, "parts")) {
    lift_parts(parts->value, parts->kind, into);
  }
}

bool is_sent(std::string_view message) {
  const std::string type = text_in(message, "type");
  if (type == "gemini") return true;
  if (type != "user") return false;
  Lifted lifted;
  lift_message(message, lifted);
  std::string text;
  for (const PartView& part : lifted.parts(lifted.messages().front())) {
    // Anything else stands in the text that is looked at, in brackets.
    text += part.type == PartType::kText ? json::decode_string(part.text) : "[";
    if (text.find_first_not_of(kSpace) != std::string::npos) break;
  }
  return is_sent_text(text);
}

bool is_sent_text(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return !text.empty() && !starts_with_any(text, {"/", "?", "<session_context>", "<hook_context>"});
}

std::optional<std::string> prompt_in(std::string_view message) {
  if (text_in(message, "type") != "user" || !is_sent(message)) return std::nullopt;
  Lifted lifted;
  lift_message(message, lifted);
  for (const PartView& part : lifted.parts(lifted.messages().front())) {
    if (part.type == PartType::kText) return json::decode_string(part.text);
  }
  return std::nullopt;
}

void note_usage(std::string_view message, Note& into) {
  const std::string_view tokens = object_in(message, "tokens");
  if (tokens.empty()) return;
  UsageNote note;
  note.key = "gemini:" + text_in(message, "id");
  note.model = text_in(message, "model");
  note.provider = "google";
  // `input` has what came from the cache in it, `output` not what was thought.
  const std::uint64_t cached = number_in(tokens, "cached").value_or(0);
  const std::uint64_t input = number_in(tokens, "input").value_or(0);
  const std::uint64_t thoughts = number_in(tokens, "thoughts").value_or(0);
  note.usage.tokens_in = input - std::min(cached, input);
  note.usage.cache_read = cached;
  note.usage.tokens_out = number_in(tokens, "output").value_or(0) + thoughts;
  note.usage.reasoning = thoughts;
  into.usage.push_back(std::move(note));
}

}  // namespace quipu::dialect::gemini
