#include "cli/summary_json.h"

#include "cli/times.h"

namespace quipu::cli {

void write_summary(JsonWriter& json, const SessionSummary& summary) {
  json.begin_object()
      .member("sessionId", summary.session_id)
      .optional_member("title", summary.title)
      .optional_member("cwd", summary.cwd)
      .optional_member("created", summary.created)
      .member("updated", utc_text(summary.modified_ms))
      .member("entries", summary.entries)
      .member("logBytes", summary.log_bytes)
      .optional_member("head", summary.head)
      .optional_member("tail", summary.tail)
      .optional_member("parentSession", summary.parent_session)
      .member("schemaVersion", summary.schema_version)
      .member("damaged", summary.damaged)
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
