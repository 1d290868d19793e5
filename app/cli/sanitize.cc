#include "cli/sanitize.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/utf8.h"

namespace quipu::cli {
namespace {

struct Range {
  char32_t first, last;
};

// Sorted. What changes the direction of text or cannot be seen. Emoji joined by
// U+200D fall apart here: a hidden character costs more than a split picture.
// U+FE0E and U+FE0F stay: they only choose between two pictures of a sign.
constexpr std::array kHidden{
    Range{0x00AD, 0x00AD},    // soft hyphen
    Range{0x034F, 0x034F},    // grapheme joiner
    Range{0x061C, 0x061C},    // Arabic letter mark
    Range{0x115F, 0x1160},    // Hangul fillers
    Range{0x17B4, 0x17B5},    // Khmer inherent vowels
    Range{0x180B, 0x180F},    // Mongolian variation selectors
    Range{0x200B, 0x200F},    // zero-width, direction marks
    Range{0x2028, 0x202E},    // line and paragraph separator, embeddings, overrides
    Range{0x2060, 0x206F},    // word joiner, invisible operators, isolates
    Range{0x3164, 0x3164},    // Hangul filler
    Range{0xFE00, 0xFE0D},    // variation selectors
    Range{0xFEFF, 0xFEFF},    // byte order mark
    Range{0xFFA0, 0xFFA0},    // half-width Hangul filler
    Range{0xFFF0, 0xFFFB},    // annotation anchors
    Range{0x1BCA0, 0x1BCA3},  // shorthand format controls
    Range{0x1D173, 0x1D17A},  // musical format controls
    Range{0xE0000, 0xE0FFF},  // tags: whole hidden sentences
};

void append_escape(std::string& out, char32_t value) {
  auto to = std::back_inserter(out);
  if (value < 0x10000) {
    fmt::format_to(to, "\\u{:04x}", static_cast<unsigned>(value));
    return;
  }
  const auto offset = static_cast<unsigned>(value - 0x10000);
  fmt::format_to(to, "\\u{:04x}\\u{:04x}", 0xD800 + (offset >> 10), 0xDC00 + (offset & 0x3FF));
}

void append_safe(std::string& out, std::string_view content, CodePoint next, Charset charset) {
  if (!next.valid) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned>(next.value));
  } else if (is_unsafe(next.value) || (charset == Charset::kAscii && next.value >= 0x80)) {
    append_escape(out, next.value);
  } else {
    out += content.substr(0, next.bytes);
  }
}

}  // namespace

bool is_unsafe(char32_t value) {
  if (value < 0x20 || (value >= 0x7F && value < 0xA0)) return true;
  const auto* range = std::partition_point(kHidden.begin(), kHidden.end(),
                                           [&](const Range& r) { return r.last < value; });
  return range != kHidden.end() && range->first <= value;
}

std::string safe_text(std::string_view content, Charset charset) {
  std::string out;
  out.reserve(content.size());
  while (!content.empty()) {
    const CodePoint next = first_code_point(content);
    if (next.value == '\n' || next.value == '\t') {
      out += static_cast<char>(next.value);
    } else {
      append_safe(out, content, next, charset);
    }
    content.remove_prefix(next.bytes);
  }
  return out;
}

std::string safe_line(std::string_view content, Charset charset) {
  std::string out;
  bool gap = false;
  while (!content.empty()) {
    const CodePoint next = first_code_point(content);
    if (next.value == '\n' || next.value == '\t' || next.value == ' ' || next.value == '\r') {
      gap = true;
    } else {
      if (gap && !out.empty()) out += ' ';
      gap = false;
      append_safe(out, content, next, charset);
    }
    content.remove_prefix(next.bytes);
  }
  return out;
}

}  // namespace quipu::cli
