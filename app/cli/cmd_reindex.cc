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

struct Made {
  IndexReport sessions;
  std::uint64_t memory_nodes = 0;
  std::uint64_t documents = 0;
};

void print_report(Context& context, const ReindexArguments& arguments, const Made& made) {
  const IndexReport& report = made.sessions;
  if (!context.json) {
    if (arguments.wants("sessions")) {
      context.out.line(fmt::format(
          "{} of {}, {} of text", counted(report.entries, "entry", "entries"),
          counted(report.sessions, "session", "sessions"), bytes_text(report.text_bytes)));
    }
    if (arguments.wants("memory")) {
      context.out.line(counted(made.memory_nodes, "node of memory", "nodes of memory"));
    }
    if (arguments.wants("knowledge")) {
      context.out.line(counted(made.documents, "document", "documents"));
    }
    return;
  }
  JsonWriter json;
  json.begin_object()
      .member("sessions", report.sessions)
      .member("entries", report.entries)
      .member("textBytes", report.text_bytes)
      .member("memoryNodes", made.memory_nodes)
      .member("documents", made.documents)
      .member("unread", std::uint64_t{report.problems.size()})
      .end_object();
  context.out.data_line(json.text());
}

Result<int> run_reindex(Context& context, const ReindexArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  Made made;
  if (arguments.wants("sessions")) {
    auto report = reindex_sessions(context, *store);
    if (!report) return std::move(report).error();
    made.sessions = std::move(report).value();
    warn_of_unread(context, made.sessions);
  }
  if (arguments.wants("memory")) {
    MemoryStore memory(*store);
    if (auto anew = memory.reindex(); !anew) return std::move(anew).error();
    const auto nodes = memory.list({}, {.after = {}, .limit = 0});
    if (!nodes) return nodes.error();
    made.memory_nodes = nodes->total;
  }
  if (arguments.wants("knowledge")) {
    KnowledgeIndex knowledge(*store);
    if (auto anew = knowledge.reindex(); !anew) return std::move(anew).error();
    const auto documents = knowledge.list({.after = {}, .limit = 0});
    if (!documents) return documents.error();
    made.documents = documents->total;
  }
  print_report(context, arguments, made);
  return made.sessions.problems.empty() ? kExitOk : kExitCorrupt;
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
