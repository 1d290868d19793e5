#include "cli/summary_json.h"

#include <cstdlib>

#include <fmt/format.h>

#include "cli/times.h"

namespace quipu::cli {

void write_counts(JsonWriter& json, const SessionCounts& counts) {
  json.begin_object()
      .member("messages", counts.messages)
      .member("tokensIn", counts.tokens_in)
      .member("tokensOut", counts.tokens_out)
      .member("cacheRead", counts.cache_read)
      .member("cacheWrite", counts.cache_write)
      .key("costUsd")
      .raw(cost_text(counts.cost_nano_usd))
      .end_object();
}

// Exact, whatever the amount: nine digits after the point, less the zeros.
std::string cost_text(std::int64_t nano_usd) {
  std::string text =
      fmt::format("{}{}.{:09}", nano_usd < 0 ? "-" : "", std::abs(nano_usd / 1'000'000'000),
                  std::abs(nano_usd % 1'000'000'000));
  while (text.ends_with('0') && !text.ends_with(".0")) text.pop_back();
  return text;
}

void write_summary(JsonWriter& json, const SessionSummary& summary) {
  json.begin_object()
      .member("sessionId", summary.session_id)
      .optional_member("title", summary.title)
      .optional_member("projectId", summary.project_id)
      .optional_member("agentId", summary.agent_id)
      .optional_member("presetId", summary.preset_id)
      .optional_member("cwd", summary.cwd)
      .optional_member("workingDirectory", summary.working_directory)
      .optional_member("sdkCwd", summary.sdk_cwd)
      .optional_member("sdkSessionId", summary.sdk_session_id)
      .member("status", summary.status)
      .member("archived", summary.archived)
      .member("tags", summary.tags)
      .optional_member("created", summary.created)
      .member("lastActive", utc_text(summary.last_active_ms))
      .member("updated", utc_text(summary.modified_ms))
      .member("processing", summary.processing)
      .member("generation", summary.generation)
      .member("queued", summary.queued)
      .member("pending", summary.pending)
      .optional_member("model", summary.model)
      .optional_member("provider", summary.provider)
      .key("counts");
  write_counts(json, summary.counts);
  json.key("totals");
  write_counts(json, summary.totals);
  json.member("entries", summary.entries)
      .member("logBytes", summary.log_bytes)
      .optional_member("head", summary.head)
      .optional_member("tail", summary.tail)
      .optional_member("parentSession", summary.parent_session)
      .optional_member("source", summary.source)
      .optional_member("modelSession", summary.model_session)
      .optional_member("modelSource", summary.model_source)
      .optional_member("spawnedBy", summary.spawned_by)
      .optional_member("continuedIn", summary.continued_in)
      .member("schemaVersion", summary.schema_version)
      .member("damaged", summary.damaged)
      .optional_member("problem", summary.problem)
      .end_object();
}

void print_handle(Context& context, const SessionHandle& made) {
  if (!context.json) return context.out.data_line(made.session_id);
  JsonWriter json;
  json.begin_object()
      .member("sessionId", made.session_id)
      .member("schemaVersion", made.schema_version)
      .end_object();
  context.out.data_line(json.text());
}

}  // namespace quipu::cli
