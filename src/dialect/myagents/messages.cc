#include "dialect/myagents/messages.h"

#include <vector>

#include "base/json_scan.h"
#include "dialect/json_members.h"

namespace quipu::dialect::myagents {
namespace {

using json::Kind;

// The blocks that a content is, when it is one: what a user typed may look like a list.
std::vector<std::string_view> blocks_in(std::string_view content) {
  std::vector<std::string_view> blocks;
  if (!content.starts_with('[') || !json::validate(content).ok()) return blocks;
  json::ElementWalk walk(content);
  while (const auto block = walk.next()) {
    if (block->kind != Kind::kObject || token_in(block->value, "type").empty()) return {};
    blocks.push_back(block->value);
  }
  return blocks;
}

// Arguments come in pieces; what was made of them in the end is the object that is not
// empty.
std::string_view input_of(std::string_view tool) {
  const std::string_view input = object_in(tool, "input");
  if (input.size() > 2) return input;
  const std::string_view parsed = object_in(tool, "parsedInput");
  if (!parsed.empty()) return parsed;
  const std::string_view pieces = token_in(tool, "inputJson");
  if (pieces.size() > 2) return pieces;
  return input.empty() ? "{}" : input;
}

void lift_call(std::string_view tool, Lifted& into) {
  into.part(call_part(token_in(tool, "id"), token_in(tool, "name"), input_of(tool)));
}

void lift_result(std::string_view tool, Lifted& into) {
  const auto result = json::find_member(tool, "result");
  if (!result || result->kind == Kind::kNull) return;
  PartView part =
      result_part(token_in(tool, "id"),
                  result->kind == Kind::kString ? result->value : into.token(result->value),
                  is_true_in(tool, "isError"));
  part.name = token_in(tool, "name");
  // The calls of a sub-agent are for the screen: the model saw their outcome only.
  const std::string_view calls = array_in(tool, "subagentCalls");
  if (calls != "[]") part.details = calls;
  into.part(part);
}

// Calls that stand side by side were made at once: then come their results.
class Blocks {
 public:
  explicit Blocks(Lifted& into) : into_(into) {}

  void take(std::string_view block) {
    const std::string type = text_in(block, "type");
    if (type == "tool_use" || type == "server_tool_use") {
      const std::string_view tool = object_in(block, "tool");
      lift_call(tool, into_);
      calls_.push_back(tool);
      return;
    }
    finish();
    if (type == "text") return into_.part(text_part(token_in(block, "text")));
    if (type == "thinking") return into_.part(thinking_part(token_in(block, "thinking")));
    PartView other;
    other.whole = block;
    into_.part(other);
  }

  void finish() {
    for (const std::string_view tool : calls_) lift_result(tool, into_);
    calls_.clear();
  }

 private:
  Lifted& into_;
  std::vector<std::string_view> calls_;
};

void lift_attachments(std::string_view message, Lifted& into) {
  json::ElementWalk walk(array_in(message, "attachments"));
  while (const auto file = walk.next()) {
    if (file->kind != Kind::kObject) continue;
    PartView part = attachment_part(token_in(file->value, "mimeType"), {});
    part.name = token_in(file->value, "name");
    part.path = token_in(file->value, "path");
    if (!part.path.empty()) into.part(part);
  }
}

std::optional<Usage> usage_in(std::string_view message) {
  const std::string_view object = object_in(message, "usage");
  if (object.empty()) return std::nullopt;
  Usage usage;
  usage.tokens_in = number_in(object, "inputTokens");
  usage.tokens_out = number_in(object, "outputTokens");
  usage.cache_read = number_in(object, "cacheReadTokens");
  usage.cache_write = number_in(object, "cacheCreationTokens");
  return usage;
}

}  // namespace

bool is_message(std::string_view object) {
  const std::string_view role = token_in(object, "role");
  if (role != "\"user\"" && role != "\"assistant\"") return false;
  const std::string_view content = json::value_onward(object, "content");
  if (token_in(object, "id").empty() || !content.starts_with('"')) return false;
  const bool is_cut = !object.ends_with('}');
  return (is_cut || !token_in(object, "timestamp").empty()) && !json::find_member(object, "type");
}

void lift_message(std::string_view message, Lifted& into) {
  const bool is_answer = text_in(message, "role") == "assistant";
  MessageView& view = into.begin(is_answer ? Role::kAssistant : Role::kUser);
  if (const auto usage = usage_in(message)) {
    view.model = token_in(object_in(message, "usage"), "model");
    view.usage = into.usage(*usage);
  }
  const std::string_view token = token_in(message, "content");
  const std::string_view content = into.keep(json::decode_string(token));
  const auto blocks = blocks_in(content);
  if (blocks.empty()) {
    if (!token.empty()) into.part(text_part(token));
  } else {
    Blocks taker(into);
    for (const std::string_view block : blocks) taker.take(block);
    taker.finish();
  }
  lift_attachments(message, into);
}

void note_usage(std::string_view message, Note& into) {
  const auto usage = usage_in(message);
  if (!usage) return;
  // Ids are numbers that every session begins anew.
  std::string key = text_in(message, "sdkUuid");
  if (key.empty()) key = text_in(message, "id") + ":" + text_in(message, "timestamp");
  const std::string model = text_in(object_in(message, "usage"), "model");
  into.usage.push_back({.key = "myagents:" + key, .usage = *usage, .model = model, .provider = {}});
  if (!model.empty()) into.model = model;
}

std::optional<std::string> prompt_in(std::string_view message) {
  if (text_in(message, "role") != "user") return std::nullopt;
  Lifted lifted;
  lift_message(message, lifted);
  for (const PartView& part : lifted.parts(lifted.messages().front())) {
    if (part.type == PartType::kText) return json::decode_string(part.text);
  }
  return std::nullopt;
}

}  // namespace quipu::dialect::myagents
