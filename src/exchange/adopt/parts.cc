#include "exchange/adopt/parts.h"

#include "base/json_scan.h"
#include "base/json_text.h"

namespace quipu::adoption {
namespace {

constexpr std::string_view kFilesStart = "<!--files:";
constexpr std::string_view kFilesEnd = "-->";

// What follows is SQL. CASE decides what is looked at: SQLite may evaluate the sides of AND in
// any order, and most functions of JSON fail on text that is none, which would fail whoever
// writes a message.

// Whether every element of a JSON array is an object with such a member, and there is one.
std::string all_objects(const std::string& array, const std::string& test) {
  return "json_array_length(" + array + ") > 0 AND NOT EXISTS (SELECT 1 FROM json_each(" + array +
         ") b WHERE CASE b.type WHEN 'object' THEN " + test + " ELSE 0 END IS NOT 1)";
}

std::string is_blocks() {
  return "CASE WHEN m.role = 'assistant' AND substr(m.content, 1, 1) = '[' "
         "AND json_valid(m.content) THEN " +
         all_objects("m.content", "json_type(b.value, '$.type') = 'text'") + " ELSE 0 END";
}

// The list of files in front of a prompt.
const std::string kFiles = "substr(m.content, 11, instr(m.content, '-->') - 11)";

std::string has_files() {
  return "CASE WHEN m.role IS NOT 'assistant' AND substr(m.content, 1, 11) = '<!--files:[' "
         "AND instr(m.content, '-->') > 0 AND json_valid(" +
         kFiles + ") THEN " + all_objects(kFiles, "1") + " ELSE 0 END";
}

// The parts of a message as a JSON array of their payloads.
std::string payloads() {
  return "CASE WHEN NOT (" + can_have_parts() + ") THEN '[]' WHEN " + is_blocks() +
         " THEN m.content WHEN " + has_files() +
         " THEN json_insert((SELECT json_group_array(json_object('file', json(f.value))) "
         "FROM json_each(" +
         kFiles +
         ") f), '$[#]', json_object('text', substr(m.content, instr(m.content, '-->') + 3))) "
         "ELSE json_array(json_object('text', m.content)) END";
}

std::string without_space(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  bool is_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!is_string && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
    text += c;
    if (c == '"') is_string = !is_string;
    if (is_string && c == '\\' && i + 1 < json.size()) text += json[++i];
  }
  return text;
}

std::string_view member(std::string_view payload, std::string_view key) {
  const auto found = json::find_member(payload, key);
  return found ? found->value : std::string_view();
}

}  // namespace

std::string can_have_parts() {
  return "m.id IS NOT NULL AND typeof(m.content) = 'text' AND instr(m.content, char(0)) = 0 "
         "AND length(m.content) <= 16777216 "
         "AND EXISTS (SELECT 1 FROM chat_sessions s WHERE s.id = m.session_id)";
}

std::string insert_parts(std::string_view where) {
  return "INSERT INTO message_parts (id, message_id, session_id, part_type, payload, seq, "
         "created_at) SELECT e.key || ':' || m.id, m.id, m.session_id, "
         "CASE WHEN json_extract(e.value, '$.type') IN ('text', 'tool_use', 'tool_result') "
         "THEN json_extract(e.value, '$.type') "
         "WHEN json_type(e.value, '$.type') IS NOT NULL THEN 'status' "
         "WHEN json_type(e.value, '$.file') IS NOT NULL THEN 'attachment' ELSE 'text' END, "
         "e.value, e.key, coalesce(m.created_at, datetime('now')) FROM messages m, json_each(" +
         payloads() + ") e WHERE " + std::string(where) +
         " AND NOT EXISTS (SELECT 1 FROM message_parts p WHERE p.message_id = m.id)";
}

bool parts_say(std::string_view content, std::span<const std::string> payloads) {
  if (payloads.empty()) return false;
  std::string list = "[";
  const bool are_blocks = !member(payloads.front(), "type").empty();
  for (const std::string& payload : are_blocks ? payloads : payloads.first(payloads.size() - 1)) {
    list += list.size() > 1 ? "," : "";
    list += are_blocks ? std::string_view(payload) : member(payload, "file");
  }
  list += ']';
  if (are_blocks) return without_space(content) == list;
  const std::string text = json::decode_string(member(payloads.back(), "text"));
  if (payloads.size() == 1) return content == text;
  const std::size_t end = content.find(kFilesEnd);
  return content.starts_with(kFilesStart) && end != std::string_view::npos &&
         without_space(content.substr(kFilesStart.size(), end - kFilesStart.size())) == list &&
         content.substr(end + kFilesEnd.size()) == text;
}

}  // namespace quipu::adoption
