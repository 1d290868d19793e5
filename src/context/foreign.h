// The part of a path that was imported from another agent.
//
// What belongs to a conversation there is said by that agent's rules, not by the path
// alone: results lie beside it, records were replaced, summaries name what they keep. So
// the dialect is shown the whole log. The cost is that of the log, as it is for the
// agent itself.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "context/selection.h"

namespace quipu::context {

/// Whether entries of this type are nodes that a dialect knows.
bool is_foreign(std::string_view type);

/// The conversation that ends with the node `at`, oldest first. Fills `foreign`.
Result<std::vector<PathEntry>> select_foreign(const std::shared_ptr<const Lineage>& lineage,
                                              Ordinal at, Foreign& foreign);

}  // namespace quipu::context
