#include "context/wire_names.h"

#include "base/crc32c.h"
#include "base/json_scan.h"
#include "context/conversation.h"

namespace quipu::context {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool fits(std::string_view text, std::size_t bytes_max) {
  if (text.empty()) return false;
  if (bytes_max == 0) return true;
  if (text.size() > bytes_max) return false;
  for (const char c : text) {
    if (!is_plain(c)) return false;
  }
  return true;
}

std::string hex(std::uint32_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(number >> shift) & 15];
  return text;
}

// Different texts give different names, as far as a checksum can tell.
std::string fitted(std::string_view text, std::size_t bytes_max) {
  std::string name;
  for (const char c : text) name += is_plain(c) ? c : '_';
  name.resize(std::min(name.size(), bytes_max - 9));
  return name + "_" + hex(crc32c(text));
}

}  // namespace

std::string_view WireNames::call(const std::string& id) {
  const std::size_t bytes_max = rules_.id_bytes_max;
  std::string name = id.empty() ? "call" : id;
  if (!fits(name, bytes_max)) name = fitted(name, bytes_max);
  int count = used_[name]++;
  while (count > 0 || id.empty()) {
    std::string numbered = name + "_" + std::to_string(count + 1);
    if (bytes_max != 0 && numbered.size() > bytes_max) numbered = fitted(numbered, bytes_max);
    if (used_[numbered]++ == 0) {
      name = std::move(numbered);
      break;
    }
    ++count;
  }
  return conversation_.keep(json::quoted(name));
}

std::string_view WireNames::tool(std::string_view token) {
  const std::size_t bytes_max = rules_.name_bytes_max;
  const std::string_view inner = token.substr(1, token.size() - 2);
  if (fits(inner, bytes_max)) return token;
  const std::string name = json::decode_string(token);
  if (bytes_max == 0) return name.empty() ? std::string_view("\"unnamed\"") : token;
  return conversation_.keep(json::quoted(name.empty() ? "unnamed" : fitted(name, bytes_max)));
}

}  // namespace quipu::context
