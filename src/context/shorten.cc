#include "context/shorten.h"

#include <vector>

#include "base/json_scan.h"
#include "base/json_text.h"
#include "model/message_view.h"

namespace quipu::context {
namespace {

// Past the character at `p`: an escape, a pair of them, a UTF-8 sequence.
const char* next_character(const char* p, const char* end) {
  const auto step = [end, p](std::ptrdiff_t bytes) { return end - p < bytes ? end : p + bytes; };
  if (*p != '\\') {
    const std::size_t length = json::utf8_length(p, end);
    return step(static_cast<std::ptrdiff_t>(length == 0 ? 1 : length));
  }
  if (end - p < 6 || p[1] != 'u') return step(2);
  const bool is_pair = json::is_high_surrogate(json::hex4(p + 2, end)) && end - p >= 12 &&
                       p[6] == '\\' && p[7] == 'u';
  return step(is_pair ? 12 : 6);
}

}  // namespace

std::string shortened(std::string_view token, const Shortening& by) {
  constexpr std::size_t kMarkBytes = 40;
  if (token.size() <= by.head + by.tail + kMarkBytes) return std::string(token);
  const char* const begin = token.data() + 1;
  const char* const end = begin + token.size() - 2;
  const char* head_end = begin;
  const char* p = begin;
  while (static_cast<std::size_t>(p - begin) <= by.head) {
    head_end = p;
    p = next_character(p, end);
  }
  while (static_cast<std::size_t>(end - p) > by.tail) p = next_character(p, end);
  std::string out = "\"";
  out.append(begin, head_end);
  out += "\\n[… " + std::to_string(p - head_end) + " bytes left out …]\\n";
  out.append(p, end);
  out += '"';
  return out;
}

std::string shortened_content(std::string_view content, const Shortening& by) {
  if (!content.starts_with('[')) return shortened(content, by);
  std::vector<PartView> parts;
  read_content(content, parts);
  std::string text = "\"";
  for (const PartView& part : parts) {
    if (text.size() > 1) text += "\\n";
    if (part.type == PartType::kText) {
      text += part.text.substr(1, part.text.size() - 2);
    } else if (part.type == PartType::kAttachment) {
      text += "[an attachment was left out]";
    }
  }
  return shortened(text + '"', by);
}

}  // namespace quipu::context
