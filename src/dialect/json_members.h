// Members of a JSON object that is of any shape, as dialects ask for them: what is
// not there or of another kind is empty.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_scan.h"

namespace quipu::dialect {

/// A string with its quotes.
inline std::string_view token_in(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->kind == json::Kind::kString ? member->value : std::string_view();
}

/// A string's text.
inline std::string text_in(std::string_view object, std::string_view key) {
  return json::decode_string(token_in(object, key));
}

inline std::string_view object_in(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->kind == json::Kind::kObject ? member->value : std::string_view();
}

/// "[]" when there is none: it can be walked.
inline std::string_view array_in(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->kind == json::Kind::kArray ? member->value : std::string_view("[]");
}

inline bool is_true_in(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member && member->value == "true";
}

/// Whole and not negative; nothing otherwise.
inline std::optional<std::uint64_t> number_of(const json::Member& member) {
  if (member.kind != json::Kind::kNumber) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = member.value.data() + member.value.size();
  const auto read = std::from_chars(member.value.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

inline std::optional<std::uint64_t> number_in(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  return member ? number_of(*member) : std::nullopt;
}

inline std::optional<double> real_in(std::string_view object, std::string_view key) {
  const auto member = json::find_member(object, key);
  if (!member || member->kind != json::Kind::kNumber) return std::nullopt;
  double number = 0;
  const char* end = member->value.data() + member->value.size();
  const auto read = std::from_chars(member->value.data(), end, number);
  if (read.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace quipu::dialect
