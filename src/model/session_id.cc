#include <algorithm>
#include <array>
#include <string>

#include "quipu/entry.h"
#include "quipu/limits.h"

namespace quipu {
namespace {

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A store may be copied to a system where these open a device, whatever
// follows the first dot.
bool is_device_name(std::string_view id) {
  const std::string_view name = id.substr(0, id.find('.'));
  if (name.size() != 3 && name.size() != 4) return false;
  std::string stem(name);
  for (char& c : stem) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  constexpr std::array<std::string_view, 4> kNames{"con", "prn", "aux", "nul"};
  if (std::find(kNames.begin(), kNames.end(), stem) != kNames.end()) return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) &&
         stem[3] >= '0' && stem[3] <= '9';
}

}  // namespace

bool is_session_id(std::string_view id) {
  if (id.empty() || id.size() > kSessionIdBytesMax) return false;
  if (!is_alphanumeric(id.front()) || !is_alphanumeric(id.back())) return false;
  if (id.find("..") != std::string_view::npos) return false;
  const bool plain = std::all_of(id.begin(), id.end(), [](char c) {
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
  });
  return plain && !is_device_name(id);
}

}  // namespace quipu
