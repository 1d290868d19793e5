#include "dialect/codex/lift.h"

#include "base/json_scan.h"
#include "base/json_write.h"
#include "dialect/codex/line.h"
#include "dialect/json_members.h"

namespace quipu::dialect::codex {
namespace {

constexpr std::string_view kProvider = "\"openai\"";
constexpr std::string_view kEmpty = "\"\"";

MessageView& begin_assistant(Lifted& into) {
  MessageView& message = into.begin(Role::kAssistant);
  message.provider = kProvider;
  return message;
}

// `data:image/png;base64,…` has its bytes with it; any other address is a place.
PartView media_part(std::string_view url, std::string_view usual_type, Lifted& into) {
  PartView part;
  part.type = PartType::kAttachment;
  part.media_type = usual_type;
  std::string text;
  if (url.find('\\') != std::string_view::npos) text = json::decode_string(url);
  const std::string_view plain = text.empty() ? url.substr(1, url.size() - 2) : text;
  constexpr std::string_view kData = "data:";
  constexpr std::string_view kBase64 = ";base64,";
  const std::size_t comma = plain.find(kBase64);
  if (!plain.starts_with(kData) || comma == std::string_view::npos) {
    part.path = url;
    return part;
  }
  const std::string_view type = plain.substr(kData.size(), comma - kData.size());
  part.media_type = into.token(type.substr(0, type.find(';')));
  part.data = into.token(plain.substr(comma + kBase64.size()));
  return part;
}

// A block of content; false when there is nothing in it that we know.
bool content_part(std::string_view block, Lifted& into, PartView& part) {
  if (const std::string_view url = token_in(block, "image_url"); !url.empty()) {
    part = media_part(url, "\"image/*\"", into);
    return true;
  }
  if (const std::string_view url = token_in(block, "audio_url"); !url.empty()) {
    part = media_part(url, "\"audio/*\"", into);
    return true;
  }
  if (const std::string_view text = token_in(block, "text"); !text.empty()) {
    part = text_part(text);
    return true;
  }
  return false;
}

void lift_content(std::string_view item, Lifted& into) {
  const auto content = json::find_member(item, "content");
  if (!content) return;
  if (content->kind == json::Kind::kString) return into.part(text_part(content->value));
  json::ElementWalk walk(content->value);
  while (const auto block = walk.next()) {
    PartView part;
    if (block->kind == json::Kind::kObject && content_part(block->value, into, part)) {
      into.part(part);
    }
  }
}

void lift_message(std::string_view item, Lifted& into) {
  const std::string role = text_in(item, "role");
  if (role == "assistant") {
    begin_assistant(into);
  } else if (role == "developer" || role == "system") {
    into.begin(Role::kSystem);
  } else {
    into.begin(Role::kUser);
  }
  lift_content(item, into);
}

// The summary is what the provider shows of it; models that are not the provider's own
// have the reasoning itself.
std::string_view reasoning_text(std::string_view item, Lifted& into) {
  std::string_view first;
  std::string joined;
  std::size_t count = 0;
  for (const std::string_view key : {"summary", "content"}) {
    json::ElementWalk walk(array_in(item, key));
    while (const auto block = walk.next()) {
      const std::string_view text =
          block->kind == json::Kind::kObject ? token_in(block->value, "text") : std::string_view();
      if (text.empty()) continue;
      if (++count == 1) {
        first = text;
        continue;
      }
      if (count == 2) joined = json::decode_string(first);
      joined += "\n\n";
      joined += json::decode_string(text);
    }
    if (count > 0) break;
  }
  if (count > 1) return into.token(joined);
  return count == 1 ? first : kEmpty;
}

void lift_reasoning(std::string_view item, Lifted& into) {
  const std::string_view text = reasoning_text(item, into);
  PartView part = thinking_part(text, token_in(item, "encrypted_content"));
  if (text == kEmpty && part.signature.size() <= kEmpty.size()) return;
  begin_assistant(into);
  part.redacted = text == kEmpty && !part.signature.empty();
  into.part(part);
}

// Arguments are JSON in a string, as the model wrote it: mostly an object, not always.
std::string_view arguments_of(std::string_view token, Lifted& into) {
  std::string text = json::decode_string(token);
  const bool is_object = text.starts_with('{') && json::validate_inner_object(text).ok();
  return is_object ? into.keep(std::move(text)) : token;
}

std::string_view call_id_of(std::string_view item) {
  const std::string_view id = token_in(item, "call_id");
  return id.empty() ? token_in(item, "id") : id;
}

void lift_call(std::string_view item, std::string_view usual_name, Lifted& into) {
  std::string_view name = token_in(item, "name");
  if (name.empty()) name = usual_name;
  std::string_view input = "{}";
  if (const std::string_view text = token_in(item, "arguments"); !text.empty()) {
    input = arguments_of(text, into);
  } else if (const std::string_view raw = token_in(item, "input"); !raw.empty()) {
    input = raw;
  } else {
    for (const std::string_view key : {"arguments", "input", "action"}) {
      if (const std::string_view object = object_in(item, key); !object.empty()) input = object;
    }
  }
  begin_assistant(into);
  into.part(call_part(call_id_of(item), name, input));
}

void write_part(json::Writer& out, const PartView& part) {
  out.begin_object();
  if (part.type == PartType::kText) {
    out.member("type", "text").raw_member("text", part.text);
  } else {
    out.member("type", "attachment").raw_member("mediaType", part.media_type);
    if (!part.data.empty()) out.raw_member("data", part.data);
    if (!part.path.empty()) out.raw_member("path", part.path);
  }
  out.end_object();
}

// What a tool gave back: a string, blocks, or {content, success} of the first releases.
void lift_output(std::string_view item, Lifted& into) {
  auto output = json::find_member(item, "output");
  if (!output) output = json::find_member(item, "tools");
  bool is_error = false;
  if (output && output->kind == json::Kind::kObject) {
    const auto success = json::find_member(output->value, "success");
    is_error = success && success->value == "false";
    if (const auto inner = json::find_member(output->value, "content")) output = inner;
  }
  std::string_view content = kEmpty;
  if (output && output->kind == json::Kind::kString) content = output->value;
  if (output && output->kind == json::Kind::kObject) content = into.token(output->value);
  if (output && output->kind == json::Kind::kArray) {
    std::string parts;
    json::Writer out(parts);
    out.begin_array();
    json::ElementWalk walk(output->value);
    while (const auto block = walk.next()) {
      PartView part = text_part(into.token(block->value));
      if (block->kind == json::Kind::kString) part.text = block->value;
      if (block->kind == json::Kind::kObject) content_part(block->value, into, part);
      write_part(out, part);
    }
    out.end_array();
    content = into.keep(std::move(parts));
  }
  into.begin(Role::kTool);
  into.part(result_part(call_id_of(item), content, is_error));
}

void lift_status(std::string text, Lifted& into) {
  begin_assistant(into);
  into.part(status_part(into.token(text)));
}

void lift_search(std::string_view item, Lifted& into) {
  const std::string_view action = object_in(item, "action");
  std::string what = text_in(action, "query");
  if (what.empty()) what = text_in(action, "url");
  lift_status(what.empty() ? "web search" : "web search: " + what, into);
}

void lift_image(std::string_view item, Lifted& into) {
  const std::string_view data = token_in(item, "result");
  if (data.size() <= kEmpty.size()) return lift_status("image generation", into);
  begin_assistant(into);
  into.part(attachment_part("\"image/png\"", data));
}

void lift_compacted(std::string_view payload, Lifted& into) {
  const auto replacement = json::find_member(payload, "replacement_history");
  if (replacement && replacement->kind == json::Kind::kArray) {
    json::ElementWalk walk(replacement->value);
    while (const auto item = walk.next()) {
      if (item->kind == json::Kind::kObject) lift_item(item->value, into);
    }
    return;
  }
  into.begin(Role::kUser);
  const std::string_view summary = token_in(payload, "message");
  into.part(text_part(summary.size() > kEmpty.size() ? summary : "\"(no summary available)\""));
}

}  // namespace

void lift_item(std::string_view item, Lifted& into) {
  const std::string type = text_in(item, "type");
  if (type == "message") return lift_message(item, into);
  if (type == "reasoning") return lift_reasoning(item, into);
  if (type == "function_call" || type == "custom_tool_call") return lift_call(item, kEmpty, into);
  if (type == "local_shell_call") return lift_call(item, "\"local_shell\"", into);
  if (type == "tool_search_call") {
    // Without an id the provider searches by itself, and nothing answers.
    if (token_in(item, "call_id").empty()) return lift_status("tool search", into);
    return lift_call(item, "\"tool_search\"", into);
  }
  if (type == "tool_search_output" && token_in(item, "call_id").empty()) return;
  if (type == "function_call_output" || type == "custom_tool_call_output" ||
      type == "local_shell_call_output" || type == "tool_search_output") {
    return lift_output(item, into);
  }
  if (type == "agent_message") {
    into.begin(Role::kUser);
    return lift_content(item, into);
  }
  if (type == "web_search_call") return lift_search(item, into);
  if (type == "image_generation_call") return lift_image(item, into);
  if (type == "compaction" || type == "compaction_summary" || type == "context_compaction") {
    return lift_status("compaction, readable for its provider only", into);
  }
}

void lift_record(std::string_view kind, std::string_view record, Lifted& into) {
  const std::string_view payload = payload_of(record);
  if (kind == kItem) return lift_item(payload, into);
  if (kind == kCompacted) return lift_compacted(payload, into);
  if (kind == kAgents) {
    into.begin(Role::kUser);
    lift_content(payload, into);
  }
}

}  // namespace quipu::dialect::codex
