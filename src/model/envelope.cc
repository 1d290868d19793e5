#include "model/envelope.h"

#include <charconv>
#include <utility>

#include "base/json_scan.h"
#include "base/time_text.h"

namespace quipu {
namespace {

// Below this a number is taken for seconds, above for milliseconds: 1e11 s is
// the year 5138, 1e11 ms is 1973.
constexpr double kSecondsMax = 1e11;

std::string timestamp_of_number(std::string_view number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || value < 0 || value > 1e15) return {};
  return format_timestamp(static_cast<std::int64_t>(value < kSecondsMax ? value * 1000 : value));
}

void read_member(Envelope& envelope, const json::Member& member) {
  const bool is_text = member.kind == json::Kind::kString;
  if (json::key_equals(member.key, "id")) {
    if (is_text) envelope.id = Text::of_token(member.value);
  } else if (json::key_equals(member.key, "parentId")) {
    if (is_text) {
      envelope.parent_link = ParentLink::kEntry;
      envelope.parent = Text::of_token(member.value);
    } else if (member.kind == json::Kind::kNull) {
      envelope.parent_link = ParentLink::kNull;
    }
  } else if (json::key_equals(member.key, "type")) {
    if (is_text) {
      envelope.type = Text::of_token(member.value);
      envelope.type_code = entry_type(envelope.type.view());
    }
  } else if (json::key_equals(member.key, "timestamp")) {
    if (is_text) envelope.timestamp = Text::of_token(member.value);
    if (member.kind == json::Kind::kNumber) {
      envelope.timestamp = Text::of(timestamp_of_number(member.value));
    }
  } else if (json::key_equals(member.key, "runId")) {
    if (is_text) envelope.run_id = Text::of_token(member.value);
  } else if (json::key_equals(member.key, "payload")) {
    if (member.kind == json::Kind::kObject) envelope.payload = member.value;
  } else if (json::key_equals(member.key, "meta")) {
    if (member.kind == json::Kind::kObject) envelope.meta = member.value;
  }
}

bool points_at_entry(EntryType type) {
  return type == EntryType::kHead || type == EntryType::kLabel || type == EntryType::kRedaction;
}

bool enough_for_index(const Envelope& envelope) {
  if (envelope.id.empty() || envelope.type.empty()) return false;
  if (!is_fact(envelope.type_code)) return envelope.parent_link != ParentLink::kAbsent;
  return !points_at_entry(envelope.type_code) || !envelope.payload.empty();
}

}  // namespace

Text Text::of_token(std::string_view token) {
  Text text;
  if (token.find('\\') == std::string_view::npos) {
    text.view_ = token.size() >= 2 ? token.substr(1, token.size() - 2) : std::string_view();
  } else {
    text.owned_ = json::decode_string(token);
  }
  return text;
}

Text Text::of(std::string text) {
  Text made;
  made.owned_ = std::move(text);
  return made;
}

Text Text::viewing(std::string_view text) {
  Text made;
  made.view_ = text;
  return made;
}

Envelope read_envelope(std::string_view object) {
  Envelope envelope;
  json::MemberWalk walk(object);
  while (auto member = walk.next()) read_member(envelope, *member);
  return envelope;
}

Envelope read_envelope_prefix(std::string_view object) {
  Envelope envelope;
  json::MemberWalk walk(object);
  while (auto member = walk.next()) {
    read_member(envelope, *member);
    if (enough_for_index(envelope)) break;
  }
  return envelope;
}

void adopt(Envelope& envelope, std::string_view object) {
  if (envelope.type.empty()) {
    envelope.type = Text::of("custom");
    envelope.type_code = EntryType::kCustom;
  }
  if (envelope.payload.empty()) {
    envelope.payload = object;
    envelope.meta = {};  // it is inside the payload already
  }
}

std::optional<Text> fact_target(EntryType type, std::string_view payload) {
  if (!points_at_entry(type)) return std::nullopt;
  const auto member =
      json::find_member(payload, type == EntryType::kHead ? "entryId" : "targetEntryId");
  if (!member || member->kind != json::Kind::kString) return std::nullopt;
  return Text::of_token(member->value);
}

std::size_t append_entry_start(std::string& out, const EntryParts& parts) {
  out += "{\"id\":";
  json::append_quoted(out, parts.id);
  out += ',';
  const std::size_t parent_at = out.size();
  if (parts.parent) {
    out += "\"parentId\":";
    if (parts.parent->empty()) {
      out += "null";
    } else {
      json::append_quoted(out, *parts.parent);
    }
    out += ',';
  }
  out += "\"type\":";
  json::append_quoted(out, parts.type);
  if (!parts.timestamp.empty()) {
    out += ",\"timestamp\":";
    json::append_quoted(out, parts.timestamp);
  }
  if (!parts.run_id.empty()) {
    out += ",\"runId\":";
    json::append_quoted(out, parts.run_id);
  }
  out += ",\"payload\":";
  return parent_at;
}

void append_entry_json(std::string& out, const EntryParts& parts) {
  append_entry_start(out, parts);
  out += parts.payload;
  if (!parts.meta.empty()) {
    out += ",\"meta\":";
    out += parts.meta;
  }
  out += '}';
}

}  // namespace quipu
