#include "support/history_line.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/time_text.h"

namespace quipu::test {
namespace {

using json::Kind;

const std::set<std::string> kFacts = {"session_header",
                                      "head",
                                      "label",
                                      "session_info",
                                      "redaction",
                                      "usage",
                                      "run_start",
                                      "run_end",
                                      "queue_add",
                                      "queue_remove",
                                      "permission_request",
                                      "permission_resolve"};

bool is_id(const std::string& id) {
  return !id.empty() && id.size() <= kEntryIdBytesMax &&
         std::none_of(id.begin(), id.end(), [](unsigned char c) { return c < 32 || c == 127; });
}

bool is_sound(const HistoryLine& line) {
  for (const auto& [key, kind] : line.kinds) {
    const bool text = key == "id" || key == "type" || key == "timestamp" || key == "runId";
    if (text && kind != Kind::kString) return false;
    if (key == "parentId" && kind != Kind::kString && kind != Kind::kNull) return false;
    if ((key == "payload" || key == "meta") && kind != Kind::kObject) return false;
    if (key.starts_with('_')) return false;
  }
  const Row& row = line.row;
  if (!line.has("payload") || row.type.empty() || row.type == "session_header") return false;
  if (line.has("id") && !is_id(row.id)) return false;
  if (row.parent && (row.fact || !is_id(*row.parent))) return false;
  if (line.has("timestamp") && !parse_timestamp(row.timestamp)) return false;
  return (row.type != "head" && row.type != "redaction") || !line.target.empty();
}

}  // namespace

bool is_fact_name(const std::string& type) { return kFacts.contains(type); }

std::string HistoryLine::text(const std::string& key) const {
  return is(key, Kind::kString) ? json::decode_string(members.at(key)) : std::string();
}

std::optional<HistoryLine> read_any_line(const std::string& line) {
  std::vector<json::Member> scanned;
  if (!json::scan_object(line, scanned).ok()) return std::nullopt;
  HistoryLine out;
  for (const auto& member : scanned) {
    const std::string key = json::decode_string(member.key);
    if (!out.kinds.emplace(key, member.kind).second) continue;
    out.members[key] = std::string(member.value);
  }
  Row& row = out.row;
  row.id = out.text("id");
  if (out.is("parentId", Kind::kString)) row.parent = out.text("parentId");
  row.type = out.text("type");
  row.fact = is_fact_name(row.type);
  row.timestamp = out.text("timestamp");
  row.run_id = out.text("runId");
  if (out.is("payload", Kind::kObject)) row.payload = out.members["payload"];
  if (out.is("meta", Kind::kObject)) row.meta = out.members["meta"];
  row.json = line;
  if (row.type == "head" || row.type == "redaction") {
    const char* key = row.type == "head" ? "entryId" : "targetEntryId";
    const auto target = json::find_member(row.payload, key);
    if (target && target->kind == Kind::kString) out.target = json::decode_string(target->value);
  }
  return out;
}

std::optional<HistoryLine> read_strict_line(const std::string& line) {
  if (line.find_first_of("\r\n") != std::string::npos) return std::nullopt;
  std::vector<json::Member> scanned;
  if (!json::scan_object(line, scanned).ok()) return std::nullopt;
  auto out = read_any_line(line);
  if (out->members.size() != scanned.size() || !is_sound(*out)) return std::nullopt;
  return out;
}

}  // namespace quipu::test
