#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/import_json.h"
#include "cli/progress.h"
#include "cli/project_scope.h"
#include "cli/stop_signal.h"
#include "cli/table.h"
#include "cli/times.h"
#include "quipu/import.h"

namespace quipu::cli {
namespace {

struct ImportArguments {
  std::vector<std::string> words;  // agents and paths
  bool dry_run = false;
  bool watch = false;
  std::string since;
  std::string project;
};

// What the words of reports mean to people; what is no such word says it itself.
std::string_view meaning_of(std::string_view what) {
  static constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
      {"base_missing", "what it goes on from is not here"},
      {"lost", "no longer in the source; what was imported stays"},
      {"not_an_object", "JSON, but no object; kept as it is"},
      {"not_json", "no JSON; kept as it is"},
      {"not_strict", "bytes that no JSON may have; kept as it is"},
      {"parent_missing", "its parent is not in the source, or comes later"},
      {"too_large", "larger than an entry may be: the whole is in an attachment"},
      {"torn", "cut off; kept as it is"},
  };
  for (const auto& [word, meaning] : kMeanings) {
    if (word == what) return meaning;
  }
  return {};
}

// What the system says of a file names it itself.
std::string said_of(const std::string& path, const std::string& what) {
  return what.find(path) != std::string::npos ? what : path + ": " + what;
}

void warn_of(Context& context, const std::vector<ImportProblem>& problems) {
  for (const ImportProblem& problem : problems) {
    const std::string times = problem.count > 1 ? fmt::format(" ({} times)", problem.count) : "";
    const std::string_view meaning = meaning_of(problem.what);
    context.warn(fmt::format("{}{}{}{}", said_of(problem.path, problem.what), times,
                             meaning.empty() ? "" : ": ", meaning));
  }
}

struct Sum {
  std::uint64_t sources = 0;
  std::uint64_t added = 0;
  std::uint64_t failed = 0;
  bool is_refused_by_disk = false;  // some of these
};

void print_report(Context& context, const ImportReport& report, Sum& sum) {
  ++sum.sources;
  sum.added += report.added;
  if (report.error) {
    ++sum.failed;
    if (exit_code(report.error->code()) == kExitStorage) sum.is_refused_by_disk = true;
  }
  if (context.json) {
    context.out.data_line(import_report_json(report));
  } else if (report.error) {
    context.warn(said_of(report.source, report.error->message()));
  } else {
    warn_of(context, report.problems);
  }
}

Result<int> watch(Context& context, Store& store, const FindOptions& options,
                  const std::string& project) {
  note_stop_signals();
  Sum sum;
  auto done = Importer(store).watch(
      options, {.project_id = project, .threads = 0},
      [&](const ImportReport& report) {
        print_report(context, report, sum);
        if (!context.json && report.added != 0) {
          context.note(fmt::format("{}: {}", report.session_id,
                                   counted(report.added, "new record", "new records")));
        }
        return context.out.flush().ok();
      },
      [] { return stop_wanted(); });
  if (!done) return std::move(done).error();
  return kExitOk;
}

Result<int> import(Context& context, Store& store, const std::vector<ImportSource>& sources,
                   const std::string& project) {
  Importer importer(store);
  Sum sum;
  auto done = [&] {
    Progress progress(!context.json, context.err, "importing", sources.size());
    return importer.run(sources, {.project_id = project, .threads = 0},
                        [&](const ImportReport& report) {
                          print_report(context, report, sum);
                          progress.set(sum.sources);
                          return !context.out.failed();
                        });
  }();
  if (!done) return std::move(done).error();
  context.note(fmt::format("{} added from {}", counted(sum.added, "record", "records"),
                           counted(sum.sources, "source", "sources")));
  if (sum.is_refused_by_disk) return kExitStorage;
  return sum.failed == 0 ? kExitOk : kExitFailed;
}

// Of what was named something cannot be had.
bool lacks_named(const FoundSources& found, const FindOptions& options) {
  return std::any_of(found.problems.begin(), found.problems.end(), [&](const auto& problem) {
    return std::any_of(options.paths.begin(), options.paths.end(), [&](const std::string& path) {
      std::error_code none;
      return std::filesystem::absolute(path, none).lexically_normal() == problem.path ||
             path == problem.path;
    });
  });
}

bool is_missing(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::symlink_status(path, ignored).type() ==
         std::filesystem::file_type::not_found;
}

void report_missing(Context& context, const std::string& word) {
  const std::vector<std::string> agents = known_agents();
  const std::string meant = nearest(word, agents);
  context.report(
      Error(Code::kNotFound, fmt::format("there is neither a file nor an agent '{}'", word))
          .with_hint((meant.empty() ? "" : fmt::format("Did you mean '{}'? ", meant)) +
                     fmt::format("Agents: {}.", fmt::join(agents, ", "))));
}

// Whether something that was named is not there. What is watched may come yet.
bool leave_out_missing(Context& context, FindOptions& options, bool is_watched) {
  const std::size_t named = options.paths.size();
  for (const std::string& path : options.paths) {
    if (!is_missing(path)) continue;
    if (is_watched) {
      context.warn(path + " is not there yet");
    } else {
      report_missing(context, path);
    }
  }
  if (!is_watched) std::erase_if(options.paths, is_missing);
  return options.paths.size() < named;
}

Result<int> import_found(Context& context, Store& store, const ImportArguments& arguments,
                         const FindOptions& options, const std::string& project) {
  auto found = Importer(store).find(options);
  if (!found) return context.refuse(std::move(found).error());
  note_found(context, *found);
  warn_of(context, found->problems);
  if (found->sources.empty()) {
    if (found->problems.empty()) context.note("no sessions of other agents were found");
    return options.paths.empty() || found->problems.empty() ? kExitOk : kExitFailed;
  }
  if (arguments.dry_run && context.json) {
    for (const ImportSource& source : found->sources) {
      context.out.data_line(import_source_json(source));
    }
  }
  auto done =
      arguments.dry_run ? Result<int>(kExitOk) : import(context, store, found->sources, project);
  if (done && *done == kExitOk && lacks_named(*found, options)) return kExitFailed;
  return done;
}

Result<int> run_import(Context& context, const ImportArguments& arguments) {
  if (arguments.dry_run && arguments.watch) {
    return context.refuse(Error(Code::kInvalidArgument, "--dry-run and --watch exclude each other")
                              .with_hint("`quipu sources` says what there is"));
  }
  FindOptions options = find_options(arguments.words);
  if (!arguments.since.empty()) {
    const auto since = read_time(arguments.since, now_ms());
    if (!since) {
      return context.refuse(Error(Code::kInvalidArgument, "--since: no time: " + arguments.since)
                                .with_hint("such as 2026-03-01, 2h, 7d"));
    }
    options.since_ms = *since;
  }
  const bool lacks_some = leave_out_missing(context, options, arguments.watch);
  if (lacks_some && options.paths.empty()) return kExitNotFound;
  auto store = arguments.dry_run ? context.open_store_or_none() : context.open_store(true);
  if (!store) return std::move(store).error();
  std::string project;
  if (!arguments.project.empty()) {
    Projects projects(*store);
    auto found = find_project(projects, arguments.project);
    if (!found) return std::move(found).error();
    project = found->id;
  }
  if (arguments.watch) return watch(context, *store, options, project);
  auto done = import_found(context, *store, arguments, options, project);
  return done && *done == kExitOk && lacks_some ? kExitNotFound : done;
}

}  // namespace

void add_import(CommandLine& line) {
  line.add<ImportArguments>(
      "import", "take in the sessions of other agents",
      [](Declare& declare, ImportArguments& arguments) {
        declare
            .words("AGENT|PATH", arguments.words,
                   "agents, files, directories; none: everything on this machine")
            .flag("--dry-run", arguments.dry_run, "say what would be imported")
            .flag("--watch", arguments.watch, "go on with what changes, until Ctrl-C")
            .option("--since", "TIME", arguments.since, "only what changed since then")
            .option("--project", "ID", arguments.project, "give the sessions to this project")
            .footer(
                "Nothing is written to a source. Importing again adds what is new and nothing "
                "else.\nWith --json a line a source: {source, agent, session, added, total, "
                "problems}; with --dry-run as\n`quipu sources` has them.");
      },
      run_import);
}

}  // namespace quipu::cli
