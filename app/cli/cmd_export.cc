#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/hand_over.h"
#include "cli/ids.h"
#include "cli/import_json.h"
#include "cli/new_files.h"
#include "quipu/export.h"
#include "quipu/import.h"

namespace quipu::cli {
namespace {

struct ExportArguments {
  std::string session;
  std::string to;
  std::string out;  // empty: here
  bool install = false;
  bool report = false;
  bool normalise = false;
};

Result<int> run_export(Context& context, const ExportArguments& arguments) {
  const std::vector<std::string> agents = known_agents();
  if (std::find(agents.begin(), agents.end(), arguments.to) == agents.end()) {
    return context.refuse(
        Error(Code::kInvalidArgument, fmt::format("--to: no agent is called {}", arguments.to))
            .with_hint(fmt::format("Agents: {}.", fmt::join(agents, ", "))));
  }
  if (arguments.install && !arguments.out.empty()) {
    return context.refuse(Error(Code::kInvalidArgument, "--install and --out exclude each other")
                              .with_hint("--install puts it where that agent looks for it"));
  }
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto id = resolve_session(store->sessions(), arguments.session);
  if (!id) return std::move(id).error();
  HandOver over;  // outlives what is written there
  NewFiles files;
  auto report =
      export_session(*store, *id,
                     {.to = arguments.to,
                      .head = {},
                      .normalise = arguments.normalise,
                      .install = arguments.install,
                      .directory = arguments.out.empty() ? "." : arguments.out},
                     [&](const std::string& path, std::string_view bytes) -> Result<void> {
                       // Where it is to be installed and has no place, the agent's program takes it
                       // in.
                       if (!arguments.install || path.starts_with('/'))
                         return files.write(path, bytes);
                       auto waiting = over.next_path();
                       return waiting ? files.write(*waiting, bytes) : std::move(waiting).error();
                     });
  if (!report) return std::move(report).error();
  for (const ExportedIndex& index : report->indexes) {
    if (auto replaced = files.replace(index); !replaced) return std::move(replaced).error();
  }
  if (auto finished = files.finish(); !finished) return std::move(finished).error();
  const bool is_taken_in = !report->taken_in_by.empty();
  if (is_taken_in) {
    if (auto taken = over.run(*report); !taken) return std::move(taken).error();
  }
  if (context.json) {
    context.out.data_line(
        export_report_json(*report, is_taken_in ? std::vector<std::string>() : files.paths()));
    return kExitOk;
  }
  if (is_taken_in) {
    context.out.data_line(report->agent_session);
    context.note(fmt::format("{} has taken it in", arguments.to));
  } else {
    for (const std::string& path : files.paths()) context.out.data_line(path);
  }
  if (!report->lost.empty() && !arguments.report) {
    context.note(fmt::format(
        "{} could not be carried over: --report says what",
        report->lost.size() == 1 ? "one thing" : fmt::format("{} things", report->lost.size())));
  }
  if (arguments.report) {
    for (const ExportLoss& loss : report->lost) {
      const std::string where = loss.entry_id.empty() ? "the session" : loss.entry_id;
      context.note(fmt::format("{}: {}: {}", where, loss.what, loss.why));
    }
  }
  return kExitOk;
}

}  // namespace

void add_export(CommandLine& line) {
  line.add<ExportArguments>(
      "export", "write a session as files of an agent",
      [](Declare& declare, ExportArguments& arguments) {
        declare.session(arguments.session)
            .required_option("--to", "AGENT", arguments.to, "whose files: claude, codex, pi …")
            .option("--out", "DIR", arguments.out, "where to; default: here")
            .flag("--install", arguments.install, "put it where that agent looks for it")
            .flag("--report", arguments.report, "say what could not be carried over")
            .flag("--normalise", arguments.normalise,
                  "to its own agent: write anew instead of giving the records back")
            .footer(
                "To the agent that it was imported from, every record comes back byte for byte,\n"
                "unless something is redacted.\n"
                "Nothing is overwritten. What an agent keeps in a database its own program takes "
                "in:\n"
                "`opencode import`. With --json: {session, to, agentSession, files, lost}.");
      },
      run_export);
}

}  // namespace quipu::cli
