// A sign of life while an index is made, and what could not be read for it.
#pragma once

#include <functional>
#include <string>

#include "cli/context.h"
#include "quipu/search.h"

namespace quipu::cli {

Result<IndexReport> with_index_progress(
    const Context& context, const std::string& what,
    const std::function<Result<IndexReport>(const IndexProgress&)>& work);

void warn_of_unread(const Context& context, const IndexReport& report);

}  // namespace quipu::cli
