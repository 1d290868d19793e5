// Snippets: the stretch of a text that shows best why it was found.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/query.h"

namespace quipu::search {

struct Snippet {
  /// One line of UTF-8: white space and control characters are single spaces, bytes that
  /// are no UTF-8 are U+FFFD.
  std::string text{};
  /// Bytes of `text` that matched, as (begin, end), in order, apart.
  std::vector<std::pair<std::size_t, std::size_t>> marks{};
  bool cut_before = false;
  bool cut_after = false;
};

/// About `width` bytes around the densest group of different terms; the beginning of the text when
/// nothing matches. Cut between characters, if possible between words. Costs the length of the
/// text, or what comes before its first thousands of matches.
Snippet make_snippet(std::string_view text, const Query& query, std::size_t width);

}  // namespace quipu::search
