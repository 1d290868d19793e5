#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/index_progress.h"
#include "cli/json_out.h"
#include "cli/times.h"

namespace quipu::cli {
namespace {

struct ReindexArguments {};

Result<int> run_reindex(Context& context, const ReindexArguments&) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  SessionSearch search(*store);
  auto report = with_index_progress(
      context, "Indexing", [&](const IndexProgress& progress) { return search.rebuild(progress); });
  if (!report) return std::move(report).error();
  warn_of_unread(context, *report);
  if (context.json) {
    JsonWriter json;
    json.begin_object()
        .member("sessions", report->sessions)
        .member("entries", report->entries)
        .member("textBytes", report->text_bytes)
        .member("unread", std::uint64_t{report->problems.size()})
        .end_object();
    context.out.data_line(json.text());
  } else {
    context.out.line(fmt::format("{} entries of {} sessions, {} of text", report->entries,
                                 report->sessions, bytes_text(report->text_bytes)));
  }
  return report->problems.empty() ? kExitOk : kExitCorrupt;
}

}  // namespace

void add_reindex(CommandLine& line) {
  line.add<ReindexArguments>(
      "reindex", "make the search index anew from the logs",
      [](Declare& declare, ReindexArguments&) {
        declare.footer(
            "Searches keep the index up to date by themselves, and make it anew when it is\n"
            "damaged or of another version. Interrupted, it goes on with the next search.");
      },
      run_reindex);
}

}  // namespace quipu::cli
