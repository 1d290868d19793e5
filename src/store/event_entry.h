// An event as an entry of the log.
#pragma once

#include "quipu/entry.h"
#include "quipu/events.h"

namespace quipu {

/// `invalid_argument` for what is the store's own.
Result<NewEntry> event_entry(const NewEvent& event);

}  // namespace quipu
