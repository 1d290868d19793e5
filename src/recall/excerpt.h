// What answers have in common.
#pragma once

#include <cstdint>
#include <string_view>

#include "quipu/recall.h"
#include "quipu/result.h"
#include "search/query.h"

namespace quipu::recall {

/// The piece of a text that shows why it was found.
Excerpt excerpt_of(std::string_view text, const search::Query& query);

/// Where a page goes on: below this ordinal. `invalid_argument` for what no page gave.
Result<std::int64_t> read_place(std::string_view after);

}  // namespace quipu::recall
