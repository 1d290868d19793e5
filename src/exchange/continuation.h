// Continuation: how a session that an agent wrote was gone on with here.
//
// Given back to its agent, such a session is the agent's records as they were, and behind
// them what was said since, in the agent's form.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "backend/lineage.h"
#include "dialect/dialect.h"

namespace quipu::exchange {

struct Continuation {
  std::string record;                        // the agent's last one, as it stands in the file
  std::unordered_set<std::string> messages;  // ids of the entries behind it
};

/// Nothing when the session was not gone on with, or in a way that cannot be added to its
/// file: from elsewhere than its end, by more than messages, or in a format that has to be
/// written as a whole.
Result<std::optional<Continuation>> continuation_of(const dialect::Dialect& dialect,
                                                    const Lineage& lineage);

}  // namespace quipu::exchange
