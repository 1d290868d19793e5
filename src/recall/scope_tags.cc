#include "recall/scope_tags.h"

#include "base/json_scan.h"
#include "base/sha256.h"

namespace quipu::recall {
namespace {

constexpr std::size_t kTagBytes = 128;
constexpr std::size_t kMetaTagsMax = 32;

// White space of any kind and what a text index might take for more than a letter.
bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f && c != '%' && c != '"' && c != '\'' && c != '\\';
}

std::string escaped(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    if (is_plain(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 0xf];
    }
  }
  return out;
}

}  // namespace

std::string tag(std::string_view name, std::string_view value) {
  std::string text = escaped(name) + "=" + escaped(value);
  // No escape has a sign that is no hexadecimal digit: this is no other value's tag.
  if (text.size() > kTagBytes) text = "%sha256=" + sha256_hex(text);
  return text;
}

std::string meta_tag(std::string_view key, std::string_view value) {
  return tag("meta." + std::string(key), value);
}

std::vector<std::string> meta_tags(std::string_view meta) {
  std::vector<std::string> tags;
  json::MemberWalk walk(meta);
  while (const auto member = walk.next()) {
    if (tags.size() == kMetaTagsMax) break;
    const std::string key = json::decode_string(member->key);
    if (member->kind == json::Kind::kString) {
      tags.push_back(meta_tag(key, json::decode_string(member->value)));
    } else if (member->kind == json::Kind::kNumber || member->kind == json::Kind::kBool) {
      tags.push_back(meta_tag(key, member->value));
    }
  }
  return tags;
}

}  // namespace quipu::recall
