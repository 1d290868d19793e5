// Sessions as JSON; the same objects wherever they are shown.
#pragma once

#include "cli/context.h"
#include "cli/json_out.h"
#include "quipu/store.h"

namespace quipu::cli {

void write_summary(JsonWriter& json, const SessionSummary& summary);
void write_counts(JsonWriter& json, const SessionCounts& counts);

/// "0.0123": US dollars, exact.
std::string cost_text(std::int64_t nano_usd);

/// A session that was just made: its id for people, an object with --json.
void print_handle(Context& context, const SessionHandle& made);

}  // namespace quipu::cli
