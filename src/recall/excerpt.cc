#include "recall/excerpt.h"

#include <charconv>
#include <limits>

#include "search/snippet.h"

namespace quipu::recall {

Excerpt excerpt_of(std::string_view text, const search::Query& query) {
  constexpr std::size_t kBytes = 160;
  search::Snippet snippet = search::make_snippet(text, query, kBytes);
  return {.text = std::move(snippet.text),
          .marks = std::move(snippet.marks),
          .cut_before = snippet.cut_before,
          .cut_after = snippet.cut_after};
}

Result<std::int64_t> read_place(std::string_view after) {
  if (after.empty()) return std::numeric_limits<std::int64_t>::max();
  std::int64_t place = 0;
  const char* const end = after.data() + after.size();
  const auto [at, error] = std::from_chars(after.data(), end, place);
  if (error == std::errc() && at == end && place >= 0) return place;
  return Error(Code::kInvalidArgument, "not a place in this list: " + std::string(after));
}

}  // namespace quipu::recall
