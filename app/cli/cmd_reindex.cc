#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/index_progress.h"
#include "cli/json_out.h"
#include "cli/times.h"
#include "quipu/knowledge.h"
#include "quipu/memory.h"

namespace quipu::cli {
namespace {

struct ReindexArguments {
  std::string only;

  bool wants(std::string_view part) const { return only.empty() || only == part; }
};

Result<IndexReport> reindex_sessions(const Context& context, Store& store) {
  SessionSearch search(store);
  return with_index_progress(
      context, "Indexing", [&](const IndexProgress& progress) { return search.rebuild(progress); });
}

void print_report(Context& context, const IndexReport& report) {
  if (!context.json) {
    context.out.line(fmt::format("{} entries of {} sessions, {} of text", report.entries,
                                 report.sessions, bytes_text(report.text_bytes)));
    return;
  }
  JsonWriter json;
  json.begin_object()
      .member("sessions", report.sessions)
      .member("entries", report.entries)
      .member("textBytes", report.text_bytes)
      .member("unread", std::uint64_t{report.problems.size()})
      .end_object();
  context.out.data_line(json.text());
}

Result<int> run_reindex(Context& context, const ReindexArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  IndexReport report;
  if (arguments.wants("sessions")) {
    auto made = reindex_sessions(context, *store);
    if (!made) return std::move(made).error();
    report = std::move(made).value();
    warn_of_unread(context, report);
  }
  if (arguments.wants("memory")) {
    if (auto made = MemoryStore(*store).reindex(); !made) return std::move(made).error();
  }
  if (arguments.wants("knowledge")) {
    if (auto made = KnowledgeIndex(*store).reindex(); !made) return std::move(made).error();
  }
  print_report(context, report);
  return report.problems.empty() ? kExitOk : kExitCorrupt;
}

}  // namespace

void add_reindex(CommandLine& line) {
  line.add<ReindexArguments>(
      "reindex", "make the search indexes anew from the logs",
      [](Declare& declare, ReindexArguments& arguments) {
        declare
            .choice("--only", arguments.only, {"sessions", "memory", "knowledge"},
                    "one of them: sessions, memory or knowledge")
            .footer(
                "Example: quipu reindex --only sessions\n"
                "Searches keep the indexes up to date by themselves, and make them anew when they\n"
                "are damaged or of another version. Interrupted, it goes on with the next search.");
      },
      run_reindex);
}

}  // namespace quipu::cli
