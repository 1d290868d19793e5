// What a line of Claude's says of its session.
#pragma once

#include <string_view>

#include "dialect/note.h"

namespace quipu::dialect::claude {

void note_line(std::string_view kind, std::string_view payload, Note& into);

}  // namespace quipu::dialect::claude
