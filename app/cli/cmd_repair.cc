#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/reports.h"

namespace quipu::cli {
namespace {

struct RepairArguments {
  std::string session;
};

void write_report(JsonWriter& json, const RepairReport& report) {
  json.begin_object()
      .member("sessionId", report.session_id)
      .member("actions", report.actions)
      .member("quarantined", report.quarantined)
      .key("remaining");
  write_problems(json, report.remaining);
  json.end_object();
}

void print_report(Context& context, const RepairReport& report) {
  const Terminal& terminal = context.out.terminal();
  const auto heading = [&](Style style, std::string_view word) {
    context.out.line(
        fmt::format("{}  {}", paint(terminal, style, word), context.shown(report.session_id)));
  };
  if (!report.remaining.empty()) {
    heading(Style::kRed, "damaged ");
  } else if (!report.actions.empty()) {
    heading(Style::kGreen, "repaired");
  } else {
    heading(Style::kGreen, "sound   ");
  }
  for (const std::string& action : report.actions) {
    context.out.line("  " + context.shown(action));
  }
  for (const std::string& file : report.quarantined) {
    context.out.line("  kept: " + context.shown(file));
  }
  if (!report.remaining.empty()) {
    context.out.line("  cannot be mended; stays in place, hidden from reads:");
    print_problems(context, report.remaining);
  }
}

Result<int> run_repair(Context& context, const RepairArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto ids = chosen_sessions(store->sessions(), arguments.session);
  if (!ids) return std::move(ids).error();

  const auto reports = go_over(context, "repairing", *ids, [&](const std::string& id) {
    return store->sessions().repair_session(id);
  });
  Rounds rounds(context);
  rounds.begin();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i]) {
      rounds.failed((*ids)[i], reports[i].error());
      continue;
    }
    if (!reports[i]->remaining.empty()) rounds.found_damage();
    if (context.json) {
      write_report(rounds.json(), *reports[i]);
    } else {
      print_report(context, *reports[i]);
    }
  }
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return rounds.end();
}

}  // namespace

void add_repair(CommandLine& line) {
  line.add<RepairArguments>(
      "repair", "mend what can be mended without losing a byte",
      [](Declare& declare, RepairArguments& arguments) {
        declare.optional_session(arguments.session)
            .footer(
                "What is taken out of a log is in quarantine before it leaves it.\n"
                "Exit code 5 when something remains that cannot be mended.");
      },
      run_repair);
}

}  // namespace quipu::cli
