// What the rows of CodePilot say.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/json_write.h"
#include "dialect/codepilot/codepilot.h"
#include "dialect/json_members.h"

namespace quipu::dialect::codepilot {
namespace {

using json::Kind;

constexpr std::string_view kFilesStart = "<!--files:";
constexpr std::string_view kFilesEnd = "-->";

std::string_view plain_id(std::string_view id) { return id.substr(0, id.find('~')); }

// A text column: one that is a JSON object stands in the record as it is.
std::string column_text(std::string_view row, std::string_view column) {
  const auto member = json::find_member(row, column);
  if (!member) return {};
  if (member->kind == Kind::kObject) return std::string(member->value);
  return member->kind == Kind::kString ? json::decode_string(member->value) : std::string();
}

// Where the text of a prompt begins that has a list of files, objects all, before it; 0: it has
// none.
std::size_t text_behind_files(std::string_view said) {
  if (!said.starts_with(kFilesStart)) return 0;
  const std::size_t end = said.find(kFilesEnd);
  if (end == std::string_view::npos) return 0;
  const std::string_view list = said.substr(kFilesStart.size(), end - kFilesStart.size());
  if (!list.starts_with('[') || !json::validate(list).ok()) return 0;
  json::ElementWalk walk(list);
  bool has_any = false;
  while (const auto file = walk.next()) {
    if (file->kind != Kind::kObject) return 0;
    has_any = true;
  }
  return has_any ? end + kFilesEnd.size() : 0;
}

// A turn: the agent's words and calls, and between them what came of the calls.
class Turn {
 public:
  Turn(Role role, std::string_view usage, Lifted& into) : role_(role), usage_(usage), into_(into) {}

  void part(const PartView& part) {
    const Role role = part.type == PartType::kToolResult ? Role::kTool : role_;
    if (!is_begun_ || role != now_) {
      MessageView& view = into_.begin(role);
      if (!is_begun_) view.usage = usage_;
      now_ = role;
      is_begun_ = true;
    }
    into_.part(part);
  }

  void text(std::string_view text) {
    if (!text.empty()) part(text_part(into_.token(text)));
  }

  void block(std::string_view block) {
    const std::string type = text_in(block, "type");
    if (type == "text") return text(text_in(block, "text"));
    if (type == "thinking") {
      const std::string_view thinking = token_in(block, "thinking");
      return part(
          thinking_part(thinking.empty() ? "\"\"" : thinking, token_in(block, "signature")));
    }
    if (type == "code") {
      return text("```" + text_in(block, "language") + "\n" + text_in(block, "code") + "\n```");
    }
    if (type == "tool_use") {
      const std::string_view input = object_in(block, "input");
      return part(
          call_part(token_in(block, "id"), token_in(block, "name"), input.empty() ? "{}" : input));
    }
    if (type == "tool_result") return result(block);
    if (type == "attachment") return file(object_in(block, "file"));
    PartView other;
    other.whole = block;
    part(other);
  }

  // Attachments stand before the text that they came with.
  void prompt(std::string_view said) {
    const std::size_t text_at = text_behind_files(said);
    if (text_at != 0) {
      const std::size_t end = text_at - kFilesEnd.size();
      const std::string_view list = said.substr(kFilesStart.size(), end - kFilesStart.size());
      json::ElementWalk walk(into_.keep(std::string(list)));
      while (const auto one = walk.next()) file(one->value);
    }
    text(said.substr(text_at));
  }

 private:
  void result(std::string_view block) {
    const auto content = json::find_member(block, "content");
    std::string_view said = "\"\"";
    if (content && (content->kind == Kind::kString || content->kind == Kind::kArray)) {
      said = content->value;
    } else if (content) {
      said = into_.token(content->value);
    }
    part(result_part(token_in(block, "tool_use_id"), said, is_true_in(block, "is_error")));
  }

  void file(std::string_view file) {
    PartView attachment;
    attachment.type = PartType::kAttachment;
    attachment.name = token_in(file, "name");
    attachment.media_type = token_in(file, "type");
    attachment.path = token_in(file, "filePath");
    attachment.data = token_in(file, "data");
    part(attachment);
  }

  const Role role_;
  const std::string_view usage_;
  Lifted& into_;
  Role now_ = Role::kUser;
  bool is_begun_ = false;
};

std::optional<Usage> usage_in(std::string_view row) {
  const std::string_view tokens = object_in(row, "token_usage");
  if (tokens.empty()) return std::nullopt;
  Usage usage;
  usage.tokens_in = number_in(tokens, "input_tokens");
  usage.tokens_out = number_in(tokens, "output_tokens");
  usage.cache_read = number_in(tokens, "cache_read_input_tokens");
  usage.cache_write = number_in(tokens, "cache_creation_input_tokens");
  usage.cost_usd = real_in(tokens, "cost_usd");
  return usage;
}

std::string_view usage_object(std::string_view row, Lifted& into) {
  const std::string_view tokens = object_in(row, "token_usage");
  if (tokens.empty()) return {};
  std::string json;
  json::Writer out(json);
  out.begin_object();
  for (const auto& [theirs, ours] : {std::pair("input_tokens", "tokensIn"),
                                     {"output_tokens", "tokensOut"},
                                     {"cache_read_input_tokens", "cacheRead"},
                                     {"cache_creation_input_tokens", "cacheWrite"},
                                     {"cost_usd", "costUsd"}}) {
    const auto number = json::find_member(tokens, theirs);
    if (number && number->kind == Kind::kNumber) out.raw_member(ours, number->value);
  }
  out.end_object();
  return into.keep(std::move(json));
}

// The blocks of a content: an array of objects. Empty: it is plain text.
std::string_view blocks_in(std::string_view text, Lifted& into) {
  if (!text.starts_with('[')) return {};
  const std::string_view kept = into.keep(std::string(text));
  if (!json::validate(kept).ok()) return {};
  json::ElementWalk walk(kept);
  bool has_any = false;
  while (const auto block = walk.next()) {
    if (token_in(block->value, "type").empty()) return {};
    has_any = true;
  }
  return has_any ? kept : std::string_view();
}

// Whether a row has its payload as JSON, so that it can be shown: what is no UTF-8, or nested
// too deep, is text or an object with one member (row_text.h).
bool is_readable(std::string_view part) {
  const std::string_view payload = object_in(part, "payload");
  return !payload.empty() && token_in(payload, "$text64").empty();
}

// A part as a block: its type is a column of its own. What that column has no word for is
// `status`, and says itself what it is.
std::string block_of(std::string_view part) {
  const std::string_view payload = object_in(part, "payload");
  const std::string type = text_in(part, "part_type");
  if (type == "status" && !token_in(payload, "type").empty()) return std::string(payload);
  if (type == "attachment" && object_in(payload, "file").empty()) {
    return R"({"type":"attachment","file":)" + std::string(payload) + "}";
  }
  std::string block;
  json::Writer out(block);
  out.begin_object().raw_member("type", token_in(part, "part_type").empty()
                                            ? std::string_view("\"\"")
                                            : token_in(part, "part_type"));
  json::MemberWalk walk(payload);
  while (const auto member = walk.next()) {
    if (!json::key_equals(member->key, "type")) out.raw_member(member->key, member->value);
  }
  out.end_object();
  return block;
}

// A row with the blocks of its parts in it.
std::string with_parts(std::string_view row, const std::string& blocks) {
  std::string text;
  json::Writer out(text);
  out.begin_object();
  json::MemberWalk walk(row);
  while (const auto member = walk.next()) out.raw_member(member->key, member->value);
  out.raw_member("$parts", "[" + blocks + "]").end_object();
  return text;
}

std::string summary_in(std::string_view session) {
  std::string summary = column_text(session, "context_summary");
  return summary.empty() ? column_text(session, "summary") : summary;
}

std::string summary_time(std::string_view session) {
  std::string time = text_in(session, "context_summary_updated_at");
  return time.empty() ? text_in(session, "summary_updated_at") : time;
}

void note_session(std::string_view session, Note& into) {
  const std::string title = column_text(session, "title");
  if (!title.empty() && title != "New Chat") into.title = title;
  const std::string cwd = text_in(session, "working_directory");
  if (!cwd.empty()) into.cwd = cwd;
  if (const std::string model = text_in(session, "model"); !model.empty()) into.model = model;
  if (const std::string provider = text_in(session, "provider_name"); !provider.empty()) {
    into.provider = provider;
  }
  into.archived = text_in(session, "status") == "archived" ||
                  number_in(session, "is_archived").value_or(0) != 0;
  if (const std::string id = text_in(session, "sdk_session_id"); !id.empty()) {
    into.sdk_session_id = id;
  }
  if (const std::string parent = text_in(session, "parent_session_id"); !parent.empty()) {
    into.kin.push_back({.relation = Relation::kForkedFrom, .session = parent, .entry = {}});
  }
}

std::string prompt_of(std::string_view row) {
  std::string text = column_text(row, "content");
  return text.erase(0, text_behind_files(text));
}

}  // namespace

void Codepilot::lift(std::string_view kind, std::string_view payload, Lifted& into) const {
  if (kind == "chat_sessions") {
    if (const std::string said = summary_in(payload); !said.empty()) into.summary(into.token(said));
    return;
  }
  if (kind != "messages") return;
  const bool answers = text_in(payload, "role") == "assistant";
  Turn turn(answers ? Role::kAssistant : Role::kUser, usage_object(payload, into), into);
  std::string_view blocks = array_in(payload, "$parts");
  const std::string text = column_text(payload, "content");
  if (blocks == "[]") blocks = answers ? blocks_in(text, into) : std::string_view();
  if (blocks.empty()) return answers ? turn.text(text) : turn.prompt(text);
  json::ElementWalk walk(blocks);
  while (const auto block = walk.next()) turn.block(block->value);
}

void Codepilot::note(std::string_view kind, std::string_view payload, Note& into) const {
  if (kind == "chat_sessions") return note_session(payload, into);
  if (kind != "messages") return;
  if (text_in(payload, "role") == "user") {
    into.prompt = prompt_of(payload);
  } else if (const auto usage = usage_in(payload)) {
    into.usage.push_back({.key = "codepilot:" + text_in(payload, "id"),
                          .usage = *usage,
                          .model = {},
                          .provider = {}});
  }
}

// Messages in their order; a summary stands for those that are older than it.
std::vector<Pick> Codepilot::conversation(std::span<const StoredRecord> records,
                                          std::uint32_t at) const {
  if (at >= records.size()) return {};
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (records[i].place != kNoRecord && !records[i].redacted) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return records[a].place < records[b].place; });
  std::unordered_map<std::string, std::string> parts;  // by message
  std::unordered_set<std::string> unreadable;          // messages: their content counts
  for (const std::uint32_t number : order) {
    const std::string_view row = records[number].payload;
    if (records[number].kind != "message_parts") continue;
    std::string message = text_in(row, "message_id");
    if (!is_readable(row)) unreadable.insert(message);
    std::string& blocks = parts[std::move(message)];
    blocks += (blocks.empty() ? "" : ",") + block_of(row);
  }
  for (const std::string& message : unreadable) parts.erase(message);
  std::vector<Pick> picks;
  std::string since;
  for (const std::uint32_t number : order) {
    const StoredRecord& record = records[number];
    if (record.kind == "chat_sessions" && !summary_in(record.payload).empty()) {
      since = summary_time(record.payload);
      if (!since.empty()) picks.push_back({.record = number});
    }
    if (record.kind != "messages") continue;
    if (number_in(record.payload, "is_summary").value_or(0) != 0) picks.clear();
    const bool is_last = plain_id(record.id) == plain_id(records[at].id);
    if (text_in(record.payload, "created_at") >= since) {
      Pick pick{.record = number};
      const auto own = parts.find(text_in(record.payload, "id"));
      if (own != parts.end()) {
        pick.payload = with_parts(record.payload, own->second);
      }
      picks.push_back(std::move(pick));
    }
    if (is_last) break;
  }
  return picks;
}

}  // namespace quipu::dialect::codepilot
