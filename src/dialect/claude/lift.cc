#include "dialect/claude/lift.h"

#include <optional>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "dialect/claude/describe.h"
#include "dialect/claude/reminder.h"

namespace quipu::dialect::claude {
namespace {

using json::Kind;
using json::Member;

constexpr std::string_view kProvider = "\"anthropic\"";

// The members of a line that a message is made of.
struct Line {
  std::string_view content;  // token or array
  std::string_view tool_use_result;
  std::string_view attachment;
  std::string_view system_content;  // token
  std::string_view model;
  std::string_view stop_reason;
  std::string_view request_id;
  std::string_view message_id;
  std::string_view usage;
  bool is_error = false;    // the request failed, this says so
  bool is_virtual = false;  // for a screen
};

std::string_view token(const Member& member) {
  return member.kind == Kind::kString ? member.value : std::string_view();
}

void read_inner(std::string_view message, Line& line) {
  json::MemberWalk walk(message);
  while (const auto member = walk.next()) {
    if (member->key == "content") line.content = member->value;
    if (member->key == "model") line.model = token(*member);
    if (member->key == "stop_reason") line.stop_reason = token(*member);
    if (member->key == "usage" && member->kind == Kind::kObject) line.usage = member->value;
    if (member->key == "id") line.message_id = token(*member);
  }
}

Line read_line(std::string_view payload) {
  Line line;
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (member->key == "message") read_inner(member->value, line);
    if (member->key == "content") line.system_content = token(*member);
    if (member->key == "requestId") line.request_id = token(*member);
    if (member->key == "attachment") line.attachment = member->value;
    if (member->key == "toolUseResult") line.tool_use_result = member->value;
    if (member->key == "isApiErrorMessage") line.is_error = member->value == "true";
    if (member->key == "isVirtual") line.is_virtual = member->value == "true";
  }
  return line;
}

// The members of a content block, whatever its type.
struct Block {
  std::string_view whole;
  std::string type;
  std::string_view text, thinking, signature, data, id, name, tool_use_id;  // tokens
  std::string_view input, content;
  bool is_error = false;
};

Block read_block(std::string_view whole) {
  Block block;
  block.whole = whole;
  json::MemberWalk walk(whole);
  while (const auto member = walk.next()) {
    if (member->key == "type") block.type = json::decode_string(token(*member));
    if (member->key == "text") block.text = token(*member);
    if (member->key == "thinking") block.thinking = token(*member);
    if (member->key == "signature") block.signature = token(*member);
    if (member->key == "data") block.data = token(*member);
    if (member->key == "id") block.id = token(*member);
    if (member->key == "name") block.name = token(*member);
    if (member->key == "tool_use_id") block.tool_use_id = token(*member);
    if (member->key == "input") block.input = member->value;
    if (member->key == "content") block.content = member->value;
    if (member->key == "is_error") block.is_error = member->value == "true";
  }
  return block;
}

PartView other_part(std::string_view whole) {
  PartView part;
  part.whole = whole;
  return part;
}

// Anthropic's blocks as parts of ours; those that are the same in both pass as they are.
std::string_view result_content(std::string_view content, Lifted& into) {
  if (content.starts_with('"')) return content;
  if (!content.starts_with('[')) return "\"\"";
  std::string text;
  json::Writer out(text);
  out.begin_array();
  bool is_same = true;
  json::ElementWalk walk(content);
  while (const auto element = walk.next()) {
    PartView media;
    if (element->kind == Kind::kObject && lift_media(element->value, media)) {
      is_same = false;
      out.begin_object();
      if (media.type == PartType::kText) {
        out.member("type", "text").raw_member("text", media.text);
      } else {
        out.member("type", "attachment").raw_member("mediaType", media.media_type);
        if (!media.name.empty()) out.raw_member("name", media.name);
        out.raw_member("data", media.data);
      }
      out.end_object();
    } else {
      out.raw(element->value);
    }
  }
  out.end_array();
  return is_same ? content : into.keep(std::move(text));
}

PartView assistant_part(const Block& block) {
  if (block.type == "text" && !block.text.empty()) return text_part(block.text);
  if (block.type == "thinking") return thinking_part(block.thinking, block.signature);
  if (block.type == "redacted_thinking") {
    PartView part = thinking_part({}, block.data);
    part.redacted = true;
    return part;
  }
  if (block.type == "tool_use" && !block.name.empty()) {
    const bool is_input = block.input.starts_with('{') || block.input.starts_with('"');
    return call_part(block.id, block.name, is_input ? block.input : "{}");
  }
  return other_part(block.whole);
}

PartView user_part(const Block& block, Lifted& into) {
  if (block.type == "text" && !block.text.empty()) return text_part(block.text);
  if (block.type == "tool_result") {
    return result_part(block.tool_use_id, result_content(block.content, into), block.is_error);
  }
  PartView media;
  return lift_media(block.whole, media) ? media : other_part(block.whole);
}

bool is_result(const PartView& part) { return part.type == PartType::kToolResult; }

// Results are said by tools: each run of them is a message of its own.
void lift_user(const Line& line, Lifted& into) {
  if (line.content.starts_with('"')) {
    into.begin(Role::kUser);
    into.part(line.is_virtual ? status_part(line.content) : text_part(line.content));
    return;
  }
  std::vector<PartView> parts;
  std::size_t results = 0;
  json::ElementWalk walk(line.content);
  while (const auto element = walk.next()) {
    PartView part = element->kind == Kind::kString   ? text_part(element->value)
                    : element->kind == Kind::kObject ? user_part(read_block(element->value), into)
                                                     : other_part(element->value);
    if (line.is_virtual && part.type == PartType::kText) part.type = PartType::kStatus;
    if (is_result(part)) ++results;
    parts.push_back(part);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == 0 || is_result(parts[i]) != is_result(parts[i - 1])) {
      into.begin(is_result(parts[i]) ? Role::kTool : Role::kUser);
    }
    // With several results nobody says whose details they are.
    if (is_result(parts[i]) && results == 1) parts[i].details = line.tool_use_result;
    into.part(parts[i]);
  }
}

void lift_assistant(const Line& line, Lifted& into) {
  MessageView& message = into.begin(Role::kAssistant);
  const bool is_synthetic = line.model == "\"<synthetic>\"";
  // All lines of an answer say what it took, and not all name its request.
  message.request_id = line.request_id.empty() ? line.message_id : line.request_id;
  message.stop_reason = line.stop_reason;
  if (!is_synthetic) {
    message.model = line.model;
    message.provider = kProvider;
    if (std::string usage = usage_of(line.usage); !usage.empty()) {
      message.usage = into.keep(std::move(usage));
    }
  }
  const auto add = [&](PartView part) {
    const bool is_status = (line.is_error || line.is_virtual) && part.type == PartType::kText;
    if (is_status) part.type = PartType::kStatus;
    into.part(part);
  };
  if (line.content.starts_with('"')) return add(text_part(line.content));
  json::ElementWalk walk(line.content);
  while (const auto element = walk.next()) {
    add(element->kind == Kind::kObject ? assistant_part(read_block(element->value))
                                       : other_part(element->value));
  }
}

}  // namespace

void lift_prompt(std::string_view content, Lifted& into) {
  Line line;
  line.content = content;
  lift_user(line, into);
}

bool lift_media(std::string_view block, PartView& part) {
  const auto type = json::find_member(block, "type");
  if (!type || (type->value != "\"image\"" && type->value != "\"document\"")) return false;
  const auto source = json::find_member(block, "source");
  if (!source || source->kind != Kind::kObject) return false;
  const auto form = json::find_member(source->value, "type");
  const auto media = json::find_member(source->value, "media_type");
  const auto data = json::find_member(source->value, "data");
  if (!form || !data || data->kind != Kind::kString) return false;
  if (form->value == "\"text\"") {
    part = text_part(data->value);
    return true;
  }
  if (form->value != "\"base64\"" || !media || media->kind != Kind::kString) return false;
  part = attachment_part(media->value, data->value);
  if (const auto title = json::find_member(block, "title")) part.name = token(*title);
  return true;
}

std::string usage_of(std::string_view usage) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"input_tokens", "tokensIn"},
      {"output_tokens", "tokensOut"},
      {"cache_read_input_tokens", "cacheRead"},
      {"cache_creation_input_tokens", "cacheWrite"},
  };
  std::string text;
  json::Writer out(text);
  out.begin_object();
  for (const auto& [theirs, ours] : kNames) {
    const auto count = json::find_member(usage, theirs);
    if (count && count->kind == Kind::kNumber) out.raw_member(ours, count->value);
  }
  out.end_object();
  return text == "{}" ? std::string() : text;
}

void lift_line(std::string_view kind, std::string_view payload, Lifted& into) {
  switch (line_type(kind)) {
    case LineType::kUser:
      return lift_user(read_line(payload), into);
    case LineType::kAssistant:
      return lift_assistant(read_line(payload), into);
    case LineType::kAttachment:
      return lift_attachment(read_line(payload).attachment, into);
    case LineType::kSystem: {
      const Line line = read_line(payload);
      if (!says_something(line.system_content)) return;
      into.begin(Role::kSystem);
      return into.part(status_part(line.system_content));
    }
    case LineType::kProgress:
    case LineType::kOther:
      return;
  }
}

}  // namespace quipu::dialect::claude
