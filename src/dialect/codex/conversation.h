// What Codex sends when it resumes a rollout.
//
//  1. From the end, lines are grouped into turns, each closed by its `task_started`.
//     `thread_rolled_back` takes away the next turns in which somebody said something, whole.
//  2. The newest `compacted` with a replacement history in a turn that is left is where the
//     history begins.
//  3. From there on items are added; a rollback takes turns away again, with what was
//     told the model before them; a `compacted` without replacement (2025) leaves the
//     newest messages of the user, about 20 000 tokens of them, and its summary.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dialect/dialect.h"

namespace quipu::dialect::codex {

std::vector<Pick> conversation_at(std::span<const StoredRecord> records, std::uint32_t at);

}  // namespace quipu::dialect::codex
