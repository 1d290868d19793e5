#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json_out.h"
#include "quipu/upgrade.h"

namespace quipu::cli {
namespace {

struct UpgradeArguments {
  bool dry_run = false;
  bool have_backup = false;
};

void print_report(Context& context, const UpgradeReport& report, bool dry_run) {
  if (report.steps.empty()) {
    context.out.line(fmt::format("current: schema {}", report.to_version));
    return;
  }
  context.out.line(fmt::format("{} schema {} to {}{}", dry_run ? "would upgrade" : "upgraded",
                               report.from_version, report.to_version,
                               report.resumed ? ", going on with one that was interrupted" : ""));
  for (const std::string& step : report.steps) context.out.line("  " + context.shown(step));
  for (const std::string& copy : report.backups) {
    context.out.line("  as it was: " + context.shown(copy));
  }
}

Result<int> run_upgrade(Context& context, const UpgradeArguments& arguments) {
  auto place = context.store_location();
  if (!place) return std::move(place).error();
  auto report =
      upgrade_store(*place, {.dry_run = arguments.dry_run, .have_backup = arguments.have_backup});
  if (!report) return std::move(report).error();
  if (!context.json) {
    print_report(context, *report, arguments.dry_run);
    return kExitOk;
  }
  JsonWriter json;
  json.begin_object()
      .member("fromVersion", report->from_version)
      .member("toVersion", report->to_version)
      .member("resumed", report->resumed)
      .member("dryRun", arguments.dry_run)
      .key("steps")
      .begin_array();
  for (const std::string& step : report->steps) json.value(step);
  json.end_array().key("backups").begin_array();
  for (const std::string& copy : report->backups) json.value(copy);
  json.end_array().end_object();
  context.out.data_line(json.text());
  return kExitOk;
}

}  // namespace

void add_upgrade(CommandLine& line) {
  line.add<UpgradeArguments>(
      "upgrade", "bring the schema of a store in a database up to date",
      [](Declare& declare, UpgradeArguments& arguments) {
        declare.flag("--dry-run", arguments.dry_run, "say what would be done")
            .flag("--i-have-a-backup", arguments.have_backup,
                  "PostgreSQL: there is one; SQLite: make none");
      },
      run_upgrade);
}

}  // namespace quipu::cli
