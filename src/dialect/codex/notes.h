// What a rollout says of itself as a whole, line by line.
#pragma once

#include <string_view>

#include "dialect/note.h"

namespace quipu::dialect::codex {

/// Uses `Note::memory`: only the first header is the file's own, only the first thing
/// somebody said is a title, and counts that repeat are no new request.
void note_record(std::string_view kind, std::string_view record, Note& into);

}  // namespace quipu::dialect::codex
