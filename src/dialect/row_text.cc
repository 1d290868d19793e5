#include "dialect/row_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/base64.h"
#include "base/json_scan.h"
#include "base/json_text.h"

namespace quipu::dialect {
namespace {

using sql::ValueKind;

constexpr std::string_view kBlob = "$blob";
constexpr std::string_view kText64 = "$text64";
constexpr std::string_view kReal = "$real";
// What may stand in a row without making it too deep for an entry.
constexpr int kJsonDepthMax = 64;

bool is_marked(std::string_view object) {
  json::MemberWalk walk(object);
  while (const auto member = walk.next()) {
    for (const std::string_view mark : {kBlob, kText64, kReal}) {
      if (json::key_equals(member->key, mark)) return true;
    }
  }
  return false;
}

// Containers in each other, at most.
int depth_of(std::string_view json) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return deepest;
}

bool stands_as_it_is(std::string_view text) {
  return text.starts_with('{') && json::validate_inner_object(text).ok() &&
         depth_of(text) <= kJsonDepthMax && !is_marked(text);
}

void append_marked(std::string& out, std::string_view mark, std::string_view text) {
  out += "{\"";
  out += mark;
  out += "\":\"";
  out += text;
  out += "\"}";
}

void append_text(std::string& out, std::string_view text) {
  if (stands_as_it_is(text)) {
    out += text;
  } else if (json::is_utf8(text)) {
    json::append_quoted(out, text);
  } else {
    append_marked(out, kText64, base64_encode(text));
  }
}

void append_real(std::string& out, double real) {
  // A database holds no NaN: it is null there.
  if (!std::isfinite(real)) return append_marked(out, kReal, real < 0 ? "-inf" : "inf");
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), real,
                                 std::chars_format::general, 17);
  std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

bool read_number(std::string_view text, RowValue& value) {
  const char* end = text.data() + text.size();
  if (text.find_first_of(".eE") == std::string_view::npos) {
    value.kind = ValueKind::kInteger;
    const auto read = std::from_chars(text.data(), end, value.integer);
    return read.ec == std::errc() && read.ptr == end;
  }
  value.kind = ValueKind::kReal;
  const auto read = std::from_chars(text.data(), end, value.real);
  return read.ec == std::errc() && read.ptr == end;
}

bool read_object(std::string_view object, RowValue& value) {
  json::MemberWalk walk(object);
  const auto first = walk.next();
  if (!first || walk.next() || !is_marked(object) || first->kind != json::Kind::kString) {
    value.kind = ValueKind::kText;
    value.bytes = object;
    return !is_marked(object);
  }
  const std::string text = json::decode_string(first->value);
  if (json::key_equals(first->key, kReal)) {
    value.kind = ValueKind::kReal;
    value.real = text == "-inf" ? -HUGE_VAL : HUGE_VAL;
    return text == "-inf" || text == "inf";
  }
  value.kind = json::key_equals(first->key, kBlob) ? ValueKind::kBytes : ValueKind::kText;
  auto bytes = base64_decode(text);
  if (!bytes) return false;
  value.bytes = std::move(*bytes);
  return true;
}

}  // namespace

void append_value(std::string& out, const RowValue& value) {
  switch (value.kind) {
    case ValueKind::kNull:
      out += "null";
      break;
    case ValueKind::kInteger:
      out += std::to_string(value.integer);
      break;
    case ValueKind::kReal:
      append_real(out, value.real);
      break;
    case ValueKind::kText:
      append_text(out, value.bytes);
      break;
    case ValueKind::kBytes:
      append_marked(out, kBlob, base64_encode(value.bytes));
      break;
  }
}

std::string row_text(const sql::Statement& row) {
  std::string text = "{";
  for (int column = 0; column < row.columns(); ++column) {
    if (column > 0) text += ',';
    json::append_quoted(text, row.column_name(column));
    text += ':';
    // Large texts are not copied first.
    const ValueKind kind = row.kind(column);
    if (kind == ValueKind::kText) {
      append_text(text, row.text(column));
    } else if (kind == ValueKind::kBytes) {
      append_marked(text, kBlob, base64_encode(row.bytes(column)));
    } else {
      append_value(text, {.column = {},
                          .kind = kind,
                          .integer = kind == ValueKind::kInteger ? row.integer(column) : 0,
                          .real = kind == ValueKind::kReal ? row.real(column) : 0});
    }
  }
  text += '}';
  return text;
}

std::optional<std::vector<RowValue>> read_row(std::string_view record) {
  std::vector<json::Member> members;
  if (!json::scan_object(record, members).ok()) return std::nullopt;
  std::vector<RowValue> row;
  row.reserve(members.size());
  for (const json::Member& member : members) {
    RowValue& value = row.emplace_back();
    value.column = json::decode_string(member.key);
    bool is_read = true;
    switch (member.kind) {
      case json::Kind::kNull:
        break;
      case json::Kind::kNumber:
        is_read = read_number(member.value, value);
        break;
      case json::Kind::kString:
        value.kind = ValueKind::kText;
        value.bytes = json::decode_string(member.value);
        break;
      case json::Kind::kObject:
        is_read = read_object(member.value, value);
        break;
      default:
        is_read = false;
    }
    if (!is_read) return std::nullopt;
  }
  return row;
}

}  // namespace quipu::dialect
