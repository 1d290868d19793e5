// A session of Claude Code's own: `projects/<slug>/<uuid>.jsonl`.
//
// Claude lists and loads sessions by looking at bytes before it parses them. So:
// compact JSON; a line of the tree begins with `{"parentUuid":`, and has `uuid` and
// `timestamp` side by side; a title is a line that begins with its type.
//
// An answer becomes one line for each of its blocks, and each result of a tool a
// line; all of them hang on each other in a row.
#pragma once

#include "dialect/transcript.h"
#include "quipu/result.h"

namespace quipu::dialect::claude {

Result<Written> write_files(const Transcript& transcript);

}  // namespace quipu::dialect::claude
