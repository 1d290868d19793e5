// Writing JSON: objects and arrays appended to a string, compact, in the order
// given. Commas are its business, nesting the caller's.
//
//   json::Writer out(text);
//   out.begin_object().member("id", id).key("input").raw(bytes).end_object();
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_scan.h"

namespace quipu::json {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  Writer& begin_object() { return open('{'); }
  Writer& end_object() { return shut('}'); }
  Writer& begin_array() { return open('['); }
  Writer& end_array() { return shut(']'); }

  /// `name` is written as it is: a literal without anything to escape.
  Writer& key(std::string_view name) {
    separate();
    out_ += '"';
    out_ += name;
    out_ += "\":";
    first_ = true;
    return *this;
  }

  /// Plain text: quoted and escaped.
  Writer& value(std::string_view text) {
    separate();
    append_quoted(out_, text);
    return *this;
  }
  Writer& value(const char* text) { return value(std::string_view(text)); }
  Writer& value(const std::string& text) { return value(std::string_view(text)); }
  Writer& value(bool flag) { return raw(flag ? "true" : "false"); }
  template <std::integral T>
  Writer& value(T number) {
    return raw(std::to_string(number));
  }
  /// The shortest text that reads as the same number; JSON knows finite ones alone.
  Writer& value(double number) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    return raw(std::isfinite(number) ? std::string_view(digits.data(), end.ptr) : "null");
  }
  /// JSON as it stands.
  Writer& raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
  }

  template <class T>
  Writer& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  Writer& raw_member(std::string_view name, std::string_view json) { return key(name).raw(json); }
  /// Left out when empty.
  Writer& text_member(std::string_view name, std::string_view text) {
    return text.empty() ? *this : member(name, text);
  }

 private:
  Writer& open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
    return *this;
  }
  Writer& shut(char bracket) {
    out_ += bracket;
    first_ = false;
    return *this;
  }
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;  // no comma before what comes next
};

}  // namespace quipu::json
