// A session's summary as JSON; the same object wherever one is shown.
#pragma once

#include "cli/json_out.h"
#include "quipu/store.h"

namespace quipu::cli {

void write_summary(JsonWriter& json, const SessionSummary& summary);

}  // namespace quipu::cli
