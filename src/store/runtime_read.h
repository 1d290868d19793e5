// Reading runtime state from a session at one moment.
#pragma once

#include "backend/lineage.h"
#include "quipu/runtime.h"

namespace quipu {

/// Everything but the session's id.
Result<RuntimeState> read_runtime_state(const Lineage& lineage);

/// The parts of it. Of a run only the members that speak of the newest one.
Result<void> read_newest_run(const Lineage& lineage, RuntimeState& state);
Result<std::vector<QueuedMessage>> read_queue(const Lineage& lineage);
Result<std::vector<PendingPermission>> read_permissions(const Lineage& lineage);
/// Open tool calls and an interrupted stream, from the head back to the last
/// thing that a user said.
Result<void> read_open_turn(const Lineage& lineage, RuntimeState& state);

}  // namespace quipu
