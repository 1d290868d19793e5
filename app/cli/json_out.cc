#include "cli/json_out.h"

#include <iterator>

#include <fmt/format.h>

#include "cli/utf8.h"

namespace quipu::cli {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const CodePoint next = first_code_point(text);
    if (!next.valid) {
      append_utf8(out, 0xFFFD);
    } else if (next.value == '"' || next.value == '\\') {
      out += '\\';
      out += static_cast<char>(next.value);
    } else if (next.value == '\n') {
      out += "\\n";
    } else if (next.value == '\t') {
      out += "\\t";
    } else if (next.value < 0x20 || (next.value >= 0x7F && next.value < 0xA0)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(next.value));
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return out += '"';
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto byte = i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u;
      group = (group << 8) | byte;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= count ? kDigits[(group >> (18 - 6 * i)) & 0x3F] : '=';
    }
  }
  return out;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  out_ += quoted(name);
  out_ += ':';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(const std::vector<std::string>& texts) {
  begin_array();
  for (const std::string& text : texts) value(text);
  return end_array();
}

std::string valid_json(std::string_view json) {
  if (is_utf8(json)) return std::string(json);
  std::string valid;
  while (!json.empty()) {
    const CodePoint next = first_code_point(json);
    append_utf8(valid, next.valid ? next.value : U'\ufffd');
    json.remove_prefix(next.bytes);
  }
  return valid;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += valid_json(json);
  return *this;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::shut(char bracket) {
  out_ += bracket;
  first_ = false;
  return *this;
}

void JsonWriter::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

}  // namespace quipu::cli
