#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json_out.h"
#include "quipu/adopt.h"

namespace quipu::cli {
namespace {

struct AdoptArguments {
  std::string agent;
  std::string file;
  std::size_t phase = kAdoptPhaseLast;
  std::string out;
  bool in_place = false;
  bool dry_run = false;
};

std::string report_json(const AdoptReport& report) {
  JsonWriter json;
  json.begin_object().optional_member("adopted", report.adopted).key("phases").begin_array();
  for (const AdoptedPhase& phase : report.phases) {
    json.begin_object().member("phase", phase.phase).member("wasDone", phase.was_done);
    json.optional_member("backup", phase.backup).key("changes").begin_array();
    for (const AdoptChange& change : phase.changes) {
      json.begin_object().member("what", change.what).member("count", change.count).end_object();
    }
    json.end_array().end_object();
  }
  return json.end_array().end_object().text();
}

void print_report(Context& context, const AdoptReport& report, const AdoptArguments& arguments) {
  bool is_changed = false;
  for (const AdoptedPhase& phase : report.phases) {
    is_changed |= !phase.was_done;
    const char* state = phase.was_done      ? "done already"
                        : arguments.dry_run ? "would be done"
                                            : "done";
    context.out.line(fmt::format("phase {}  {}", phase.phase, state));
    for (const AdoptChange& change : phase.changes) {
      context.out.line(fmt::format("  {}  {}", change.count, context.shown(change.what)));
    }
    if (!phase.backup.empty()) context.out.line("  backup: " + context.shown(phase.backup));
  }
  if (!is_changed) return context.note("nothing was to do, nothing is changed");
  if (arguments.dry_run) return context.note("a dry run: nothing is changed");
  context.note("adopted: " + context.shown(report.adopted));
  context.note(arguments.in_place ? "the way back: put a backup in its place"
                                  : "the original is as it was");
}

Result<int> run_adopt(Context& context, const AdoptArguments& arguments) {
  if (arguments.in_place && !arguments.out.empty()) {
    return context.refuse(
        Error(Code::kInvalidArgument, "--in-place makes no copy: leave out --out"));
  }
  auto report = adopt_codepilot(arguments.file, {.phase = static_cast<int>(arguments.phase),
                                                 .out = arguments.out,
                                                 .in_place = arguments.in_place,
                                                 .dry_run = arguments.dry_run});
  if (!report) return std::move(report).error();
  if (context.json) {
    context.out.data_line(report_json(*report));
  } else {
    print_report(context, *report, arguments);
  }
  return kExitOk;
}

}  // namespace

void add_adopt(CommandLine& line) {
  line.add<AdoptArguments>(
      "adopt", "bring another agent's database up to its storage design",
      [](Declare& declare, AdoptArguments& arguments) {
        declare.word_choice("AGENT", arguments.agent, {"codepilot"}, "whose database: codepilot")
            .positional("FILE", arguments.file, "the database, such as ~/.codepilot/codepilot.db")
            .number("--phase", arguments.phase, 0, kAdoptPhaseLast,
                    "the last phase to take, 0 to 3; default: 3")
            .option("--out", "COPY", arguments.out,
                    "where the adopted copy goes; default: FILE.adopted.db")
            .flag("--in-place", arguments.in_place,
                  "work on the file itself; a backup is made before each phase")
            .flag("--dry-run", arguments.dry_run, "say what would be done")
            .footer(
                "Phases: 0 projects and sdk_cwd; 1 message_parts beside the content; 2 runtime\n"
                "state; 3 archive, parents, summaries. A phase that was taken is not taken again.\n"
                "Old programs go on working with the file. Nothing is overwritten.\n"
                "With --json: {adopted, phases: [{phase, wasDone, backup, changes}]}.");
      },
      run_adopt);
}

}  // namespace quipu::cli
