// A conversation as a rollout that Codex lists, shows and goes on with.
#pragma once

#include "dialect/transcript.h"
#include "quipu/result.h"

namespace quipu::dialect::codex {

/// In the wrapped form, history mode `legacy`, every message on both sides: as the item
/// that a model is sent and as the event that a screen shows.
Result<Written> write_rollout(const Transcript& transcript);

}  // namespace quipu::dialect::codex
