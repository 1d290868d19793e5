#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/reports.h"
#include "cli/times.h"

namespace quipu::cli {
namespace {

struct MigrateArguments {
  std::string session;
};

void write_report(JsonWriter& json, const MigrationResult& result) {
  json.begin_object()
      .member("sessionId", result.session_id)
      .member("fromVersion", result.from_version)
      .member("toVersion", result.to_version)
      .member("entries", std::uint64_t{result.entries})
      .optional_member("keptAs", result.kept_as)
      .member("quarantined", result.quarantined)
      .end_object();
}

void print_report(Context& context, const MigrationResult& result) {
  const std::string id = context.shown(result.session_id);
  if (result.from_version == result.to_version) {
    context.out.line(fmt::format("current   {}  version {}", id, result.to_version));
    return;
  }
  context.out.line(fmt::format("migrated  {}  version {} to {}, {}", id, result.from_version,
                               result.to_version, counted(result.entries, "entry", "entries")));
  if (!result.kept_as.empty()) {
    context.out.line("  the old file is kept: " + context.shown(result.kept_as));
  }
  for (const std::string& file : result.quarantined) {
    context.out.line("  damaged, and not in the new file: " + context.shown(file));
  }
}

Result<int> run_migrate(Context& context, const MigrateArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto ids = chosen_sessions(store->sessions(), arguments.session);
  if (!ids) return std::move(ids).error();

  const auto results = go_over(context, "migrating", *ids, [&](const std::string& id) {
    return store->sessions().migrate_session(id);
  });
  Rounds rounds(context);
  rounds.begin();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) {
      rounds.failed((*ids)[i], results[i].error());
    } else if (context.json) {
      write_report(rounds.json(), *results[i]);
    } else {
      print_report(context, *results[i]);
    }
  }
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  return rounds.end();
}

}  // namespace

void add_migrate(CommandLine& line) {
  line.add<MigrateArguments>(
      "migrate", "rewrite sessions of older versions; the old file is kept",
      [](Declare& declare, MigrateArguments& arguments) {
        declare.optional_session(arguments.session);
      },
      run_migrate);
}

}  // namespace quipu::cli
