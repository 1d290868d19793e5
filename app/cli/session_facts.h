// Saying something of a session as a whole: `session_info` facts.
#pragma once

#include <functional>
#include <string>

#include "cli/context.h"
#include "quipu/store.h"

namespace quipu::cli {

/// Makes the payload of a `session_info` from what is said now; empty: nothing
/// has to be said.
using Say = std::function<std::string(const SessionSummary&)>;

/// Appends it to the session, as long as nobody else writes in between (then it
/// looks again), and prints the session as it is after that.
Result<int> say_of_session(Context& context, const std::string& session, const Say& say);

}  // namespace quipu::cli
