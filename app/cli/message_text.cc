#include "cli/message_text.h"

#include <algorithm>

#include "cli/json_in.h"

namespace quipu::cli {
namespace {

using Kind = Block::Kind;

// Programs nest content in content; nobody reads deeper than this.
constexpr int kNestingMax = 4;
constexpr std::size_t kPreviewBytes = 400;

// Other programs wrap the message once more: {"type":"user","message":{...}}.
JsonView message_in(JsonView payload) {
  if (payload.member("content").exists()) return payload;
  const JsonView inner = payload.member("message");
  return inner.is_object() ? inner : payload;
}

void add_content(std::vector<Block>& out, JsonView content, int nesting);

void add_part(std::vector<Block>& out, JsonView part, int nesting) {
  if (part.is_string()) {
    out.push_back({Kind::kText, {}, part.string()});
    return;
  }
  const std::string type = part.member("type").string();
  if (type == "text") {
    out.push_back({Kind::kText, {}, part.member("text").string()});
  } else if (type == "thinking") {
    const JsonView text = part.member("text");
    out.push_back({Kind::kThinking, {}, (text.exists() ? text : part.member("thinking")).string()});
  } else if (type == "tool_use") {
    const JsonView input = part.member("input");
    out.push_back({Kind::kToolUse, part.member("name").string(),
                   std::string((input.exists() ? input : part.member("rawInput")).raw())});
  } else if (type == "tool_result") {
    std::vector<Block> inner;
    if (nesting < kNestingMax) add_content(inner, part.member("content"), nesting + 1);
    const std::string label = part.member("isError").raw() == "true" ? "error" : "result";
    Block result{Kind::kToolResult, label, {}};
    for (const Block& block : inner) {
      if (!result.text.empty()) result.text += '\n';
      result.text += block.text;
    }
    out.push_back(std::move(result));
  } else if (type == "attachment") {
    out.push_back({Kind::kOther, "attachment " + part.member("name").string(),
                   part.member("mediaType").string()});
  } else {
    out.push_back({Kind::kOther, type, std::string(part.raw())});
  }
}

void add_content(std::vector<Block>& out, JsonView content, int nesting) {
  if (!content.is_array()) {
    if (content.exists()) add_part(out, content, nesting);
    return;
  }
  for (const JsonView part : content.elements()) add_part(out, part, nesting);
}

}  // namespace

std::string speaker_of(const EntryView& entry) {
  const std::string role = message_in(JsonView(entry.payload)).member("role").string();
  return role.empty() ? std::string(entry.type) : role;
}

std::vector<Block> blocks_of(const EntryView& entry) {
  if (entry.redacted) return {{Kind::kOther, "redacted", {}}};
  std::vector<Block> blocks;
  const JsonView payload(entry.payload);
  const JsonView content = message_in(payload).member("content");
  if (content.exists()) {
    add_content(blocks, content, 0);
  } else if (const JsonView summary = payload.member("summary"); summary.is_string()) {
    blocks.push_back({Kind::kText, {}, summary.string()});
  }
  if (blocks.empty()) blocks.push_back({Kind::kOther, {}, std::string(entry.payload)});
  return blocks;
}

std::string preview_of(const EntryView& entry) {
  std::vector<Block> blocks = blocks_of(entry);
  // What is said says more than what was thought.
  std::stable_partition(blocks.begin(), blocks.end(),
                        [](const Block& block) { return block.kind != Kind::kThinking; });
  for (const Block& block : blocks) {
    std::string text = block.kind == Kind::kToolResult ? std::string() : block.label;
    if (!text.empty() && !block.text.empty()) text += ' ';
    text += block.text;
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    if (text.size() <= kPreviewBytes) return text;
    // Not in the middle of a character.
    std::size_t end = kPreviewBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80) --end;
    return text.substr(0, end);
  }
  return {};
}

}  // namespace quipu::cli
