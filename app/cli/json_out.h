// A small JSON writer: compact, one line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quipu::cli {

/// Controls and DEL are escaped, bytes that are no UTF-8 become U+FFFD.
std::string quoted(std::string_view text);

/// Lines of other programs may hold bytes that no JSON may: U+FFFD stands for them.
std::string valid_json(std::string_view json);

std::string base64(std::string_view bytes);

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_object() { return shut('}'); }
  JsonWriter& end_array() { return shut(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text) { return raw(quoted(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool flag) { return raw(flag ? "true" : "false"); }
  JsonWriter& value(int number) { return raw(std::to_string(number)); }
  JsonWriter& value(std::uint32_t number) { return raw(std::to_string(number)); }
  JsonWriter& value(std::uint64_t number) { return raw(std::to_string(number)); }
  JsonWriter& value(std::int64_t number) { return raw(std::to_string(number)); }
  JsonWriter& value(const std::vector<std::string>& texts);
  /// JSON as it is, but for bytes that are no UTF-8: they become U+FFFD.
  JsonWriter& raw(std::string_view json);

  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  /// null for an empty text: what is not there.
  JsonWriter& optional_member(std::string_view name, std::string_view text) {
    key(name);
    return text.empty() ? raw("null") : value(text);
  }

  const std::string& text() const { return out_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& shut(char bracket);
  void separate();

  std::string out_;
  bool first_ = true;  // no comma before what comes next
};

}  // namespace quipu::cli
