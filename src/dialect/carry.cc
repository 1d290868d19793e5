#include "dialect/carry.h"

#include "base/base64.h"
#include "base/json_scan.h"
#include "base/json_write.h"

namespace quipu::dialect {
namespace {

constexpr std::string_view kRaw = "{\"raw\":";
constexpr std::string_view kRawBase64 = "{\"rawBase64\":";
constexpr std::string_view kAttached = "{\"attachment\":{\"sha256\":";

}  // namespace

Carried carry(const Record& record, std::string& buffer) {
  // What stands around an object has no place in a line of ours.
  const bool is_bare = record.bytes.starts_with('{') && record.bytes.ends_with('}');
  if (record.is_line && is_bare) return {.payload = record.bytes, .carried = {}};
  buffer = kRaw;
  json::append_quoted(buffer, record.bytes);
  buffer += '}';
  // Quoting replaces what is no UTF-8: only what comes back the same is text.
  if (restore(buffer, "text") == record.bytes) return {.payload = buffer, .carried = "text"};
  buffer = kRawBase64;
  buffer += '"';
  buffer += base64_encode(record.bytes);
  buffer += "\"}";
  return {.payload = buffer, .carried = "base64"};
}

std::string attached_payload(std::string_view sha256, std::uint64_t bytes,
                             std::string_view abridged) {
  std::string payload(kAttached);
  json::append_quoted(payload, sha256);
  payload += ",\"bytes\":" + std::to_string(bytes) + "}";
  if (!abridged.empty()) payload.append(",\"abridged\":").append(abridged);
  return payload + "}";
}

std::string encode_meta(const CarriedMeta& meta) {
  if (meta == CarriedMeta()) return {};  // as nearly all are
  std::string text;
  json::Writer out(text);
  out.begin_object();
  out.text_member("carried", meta.carried);
  if (meta.end != "\n") out.member("end", meta.end);
  out.text_member("file", meta.file);
  out.text_member("problem", meta.problem);
  out.text_member("sourceParent", meta.source_parent);
  out.text_member("supersedes", meta.supersedes);
  out.end_object();
  return text;
}

CarriedMeta read_meta(std::string_view meta) {
  CarriedMeta read;
  json::MemberWalk walk(meta);
  while (const auto member = walk.next()) {
    if (member->kind != json::Kind::kString) continue;
    const std::string text = json::decode_string(member->value);
    if (member->key == "carried") {
      for (const std::string_view known : {"text", "base64", "attachment"}) {
        if (text == known) read.carried = known;
      }
    }
    if (member->key == "file") read.file = text;
    if (member->key == "end") read.end = text;
    if (member->key == "problem") read.problem = text;
    if (member->key == "sourceParent") read.source_parent = text;
    if (member->key == "supersedes") read.supersedes = text;
  }
  return read;
}

std::optional<std::string> restore(std::string_view payload, std::string_view carried) {
  if (carried.empty()) return std::string(payload);
  const bool is_text = carried == "text";
  if (!is_text && carried != "base64") return std::nullopt;
  const auto raw = json::find_member(payload, is_text ? "raw" : "rawBase64");
  if (!raw || raw->kind != json::Kind::kString) return std::nullopt;
  std::string text = json::decode_string(raw->value);
  if (is_text) return text;
  return base64_decode(text);
}

namespace {

// The members of a document on one side of its list, as an object: see DocumentReader.
std::string closed(const std::string& text) {
  if (text.starts_with('{')) return text + "]}";
  if (text.starts_with(']')) return "{\"\":[" + text;
  return text;
}

}  // namespace

std::string_view understood(std::string_view payload, std::deque<std::string>& owned) {
  if (payload.starts_with(kAttached)) {
    const auto abridged = json::find_member(payload, "abridged");
    return abridged ? abridged->value : payload;
  }
  std::optional<std::string> text;
  if (payload.starts_with(kRaw)) text = restore(payload, "text");
  if (payload.starts_with(kRawBase64)) text = restore(payload, "base64");
  if (!text) return payload;
  for (const std::string& whole : {*text, closed(*text)}) {
    if (json::validate(whole).ok()) return owned.emplace_back(whole);
    std::string scrubbed = json::is_object(whole) ? json::scrubbed(whole) : std::string();
    if (json::validate(scrubbed).ok()) return owned.emplace_back(std::move(scrubbed));
  }
  return "{}";
}

}  // namespace quipu::dialect
