// Chain: the lines of a conversation as Claude's own loader puts them together.
//
// Parents alone do not give it. In the order in which it is done:
//
//   1. A uuid that comes twice is one line: the last.
//   2. Compaction. A boundary has no parent, so that the walk ends there, and names
//      lines before it that were kept. They are hung below the anchor (the summary,
//      usually), and what hung on the anchor comes behind them.
//   3. From the end upwards to a line without a parent, or whose parent is not there.
//   4. Calls that ran side by side. The lines of one answer hang on each other and each
//      result on its own call, so that a walk meets only one of the results. The
//      answer's other lines and results go behind its last line that was met.
//
// A place in the past is seen as it was then: boundaries and results that were
// written after it do not count. Only the end of the session has all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dialect/dialect.h"

namespace quipu::dialect::claude {

/// Places in `records`, oldest first. `at` is any node, or an entry behind one that
/// is not ours.
std::vector<std::uint32_t> chain_of(std::span<const StoredRecord> records, std::uint32_t at);

}  // namespace quipu::dialect::claude
