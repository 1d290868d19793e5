// Reading UTF-8 that may be anything: content comes from users and disks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace quipu::cli {

struct CodePoint {
  char32_t value = 0;     // the byte itself when not valid
  std::size_t bytes = 1;  // consumed
  bool valid = false;     // shortest form, no surrogate, at most U+10FFFF
};

/// The code point at the start of `text`, which must not be empty. A byte that
/// starts none is consumed alone, so every text is read to its end.
CodePoint first_code_point(std::string_view text);

bool is_utf8(std::string_view text);

void append_utf8(std::string& out, char32_t code_point);

}  // namespace quipu::cli
