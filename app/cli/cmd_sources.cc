#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/import_json.h"
#include "cli/json_out.h"
#include "cli/table.h"
#include "cli/times.h"
#include "quipu/import.h"

namespace quipu::cli {
namespace {

struct SourcesArguments {
  std::vector<std::string> words;
};

std::string_view state_of(const ImportSource& source) {
  if (source.session_id.empty()) return "new";
  return source.is_current ? "imported" : "changed";
}

Result<int> run_sources(Context& context, const SourcesArguments& arguments) {
  auto store = context.open_store_or_none();
  if (!store) return std::move(store).error();
  auto found = Importer(*store).find(find_options(arguments.words));
  if (!found) return context.refuse(std::move(found).error());
  for (const ImportProblem& problem : found->problems) {
    context.warn(fmt::format("{}: {}", problem.path, problem.what));
  }
  if (context.json) {
    JsonWriter json;
    json.begin_array();
    for (const ImportSource& source : found->sources) json.raw(import_source_json(source));
    context.out.data_line(json.end_array().text());
    return kExitOk;
  }
  if (found->sources.empty()) {
    context.note("no sessions of other agents were found");
    return kExitOk;
  }
  Table table({{.title = "AGENT"},
               {.title = "SIZE", .right = true},
               {.title = "CHANGED", .expendable = true},
               {.title = "STATE"},
               {.title = "SOURCE", .fit = Table::Fit::kCutStart}});
  for (const ImportSource& source : found->sources) {
    table.add({source.agent, bytes_text(source.bytes), ago_text(source.modified_ms, now_ms()),
               std::string(state_of(source)),
               context.shown(source.part.empty() ? source.path : source.path + "#" + source.part)});
  }
  for (const std::string& text : table.lines(context.out.terminal())) context.out.line(text);
  note_found(context, *found);
  return kExitOk;
}

}  // namespace

void add_sources(CommandLine& line) {
  line.add<SourcesArguments>(
      "sources", "sessions of other agents on this machine",
      [](Declare& declare, SourcesArguments& arguments) {
        declare
            .words("AGENT|PATH", arguments.words,
                   "agents, files, directories; none: everything on this machine")
            .footer("STATE is new, imported, or changed since it was imported.");
      },
      run_sources);
}

}  // namespace quipu::cli
