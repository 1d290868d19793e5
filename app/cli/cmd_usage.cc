#include <unistd.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/json_out.h"
#include "cli/project_scope.h"
#include "cli/time_zone.h"
#include "cli/times.h"
#include "cli/usage_report.h"
#include "quipu/limits.h"

namespace quipu::cli {
namespace {

constexpr std::array<std::pair<std::string_view, UsageBy>, 7> kBy{{
    {"day", UsageBy::kDay},
    {"week", UsageBy::kWeek},
    {"month", UsageBy::kMonth},
    {"agent", UsageBy::kAgent},
    {"model", UsageBy::kModel},
    {"project", UsageBy::kProject},
    {"session", UsageBy::kSession},
}};
// Records of one append.
constexpr std::size_t kRecordsAtOnce = 4096;

struct UsageArguments {
  std::string action;
  std::string file = "-";
  std::string by = "day";
  bool breakdown = false;
  std::string since;
  std::string until;
  std::string time_zone = "UTC";
  std::string project;
  bool all = false;
  std::optional<std::string> agent;
  std::optional<std::string> model;
  std::string prices;
  bool csv = false;
};

UsageBy by_of(std::string_view name) {
  for (const auto& [word, by] : kBy) {
    if (word == name) return by;
  }
  return UsageBy::kDay;
}

// What needs no store to be understood.
Result<UsageQuery> query_of(const UsageArguments& arguments) {
  UsageQuery query{.by = by_of(arguments.by), .project = ProjectScope::all()};
  // First: dates are those of this zone.
  if (auto used = use_time_zone(arguments.time_zone); !used) return std::move(used).error();
  if (arguments.time_zone != "UTC") query.utc_offset_ms = utc_offset_ms;
  query.agent = arguments.agent;
  query.model = arguments.model;
  for (const auto& [option, text, into] :
       {std::tuple{"--since (--from)", &arguments.since, &query.from_ms},
        std::tuple{"--until (--to)", &arguments.until, &query.to_ms}}) {
    if (text->empty()) continue;
    *into = read_time(*text, now_ms());
    if (!*into) {
      return Error(Code::kInvalidArgument, fmt::format("{} '{}' is no time", option, *text))
          .with_hint("A date (2026-03-01), a time (2026-03-01T09:30:00Z), or how long ago (7d).");
    }
  }
  return query;
}

void print(Context& context, const UsageArguments& arguments, const ShownUsage& usage) {
  if (context.json) return context.out.data_line(usage_json(usage));
  if (arguments.csv) {
    for (const std::string& line : usage_csv(usage)) {
      // On a terminal as it is read there; else as the standard wants it.
      context.out.data_line(context.out.terminal().is_terminal ? line : line + "\r");
    }
    return;
  }
  if (usage.report.total.requests == 0) return context.note("No usage.");
  print_usage_table(context, usage);
  print_usage_notes(context, usage);
}

Result<int> show_usage(Context& context, const UsageArguments& arguments) {
  auto query = query_of(arguments);
  if (!query) return context.refuse(query.error());
  ShownUsage usage;
  usage.by = arguments.by;
  usage.time_zone = arguments.time_zone;
  auto prices = load_prices(arguments.prices);
  if (!prices) return std::move(prices).error();
  usage.prices = std::move(prices).value();
  if (usage.prices) query->prices = &usage.prices->list;
  if (arguments.breakdown) {
    // Models are what prices differ by; models themselves are divided by who used them.
    usage.then_by = arguments.by == "model" ? "agent" : "model";
    query->then_by = by_of(usage.then_by);
  }
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  Projects projects(*store);
  auto project = chosen_project(projects, arguments.project, arguments.all);
  if (!project) return std::move(project).error();
  if (*project) query->project = ProjectScope::of((*project)->id);
  auto known = projects.list();
  if (!known) return std::move(known).error();
  usage.projects = std::move(known).value();
  auto report = UsageStore(*store).aggregate(*query);
  if (!report) return std::move(report).error();
  usage.report = std::move(report).value();
  print(context, arguments, usage);
  if (*project && arguments.project.empty() && !arguments.csv) {
    context.note(fmt::format("Only project {}: --all counts the others, too.",
                             context.shown((*project)->name)));
  }
  for (const UsageReport::Unread& session : usage.report.unread) {
    context.warn("session " + session.session_id + " is not counted: " + session.problem);
  }
  return usage.report.unread.empty() ? kExitOk : kExitCorrupt;
}

Result<int> add_records(Context& context, const UsageArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto input = Input::open(arguments.file);
  if (!input) return std::move(input).error();
  if (isatty(input->fd()) == 1) {
    context.note("Reading records from the terminal; Ctrl-D ends them.");
  }
  LineReader reader(input->fd(), input->place(), kLineBytesMax);
  UsageAdded all;
  while (true) {
    auto batch = read_batch(reader, kRecordsAtOnce);
    if (!batch) return std::move(batch).error();
    if (batch->lines.empty()) break;
    std::vector<UsageRecord> records;
    for (std::size_t i = 0; i < batch->views.size(); ++i) {
      auto record = read_usage_record(batch->views[i]);
      if (!record) {
        return std::move(record).error().in(
            fmt::format("{}:{}", input->place(), batch->line_numbers[i]));
      }
      records.push_back(std::move(record).value());
    }
    auto added = UsageStore(*store).add(records);
    if (!added) return std::move(added).error();
    all.added += added->added;
    all.present += added->present;
  }
  if (auto closed = store->close(); !closed) return std::move(closed).error();
  JsonWriter json;
  json.begin_object().member("added", all.added).member("present", all.present).end_object();
  context.out.data_line(json.text());
  return kExitOk;
}

Result<int> run_usage(Context& context, const UsageArguments& arguments) {
  if (arguments.action == "add") return add_records(context, arguments);
  if (arguments.action.empty()) return show_usage(context, arguments);
  return context.refuse(
      Error(Code::kInvalidArgument, fmt::format("after `usage`: add, not '{}'", arguments.action))
          .with_hint("`quipu usage --by model` shows what models took."));
}

}  // namespace

void add_usage(CommandLine& line) {
  line.add<UsageArguments>(
      "usage", "what requests to models took, each counted once",
      [](Declare& declare, UsageArguments& arguments) {
        declare.optional_positional("ACTION", arguments.action, "add: record usage of no session")
            .optional_positional("FILE", arguments.file, "of add: records, - is standard input")
            .choice("--by", arguments.by,
                    {"day", "week", "month", "agent", "model", "project", "session"},
                    "what is put together")
            .flag("--breakdown", arguments.breakdown, "divide each row by model")
            .option("--since,--from", "TIME", arguments.since, "from this time on")
            .option("--until,--to", "TIME", arguments.until, "before this time")
            .option("--tz", "ZONE", arguments.time_zone,
                    "whose days: UTC, local, +05:30, Europe/Berlin")
            .option("--project", "ID|PATH", arguments.project,
                    "of this project (else the one of the current directory)")
            .flag("--all", arguments.all, "of all projects")
            .option("--agent", "ID", arguments.agent, "of this agent")
            .option("--model", "NAME", arguments.model, "of this model; * stands for any text")
            .option("--prices", "FILE", arguments.prices,
                    "prices for what nobody recorded (else QUIPU_PRICES, else the user's)")
            .flag("--csv", arguments.csv, "as comma-separated values")
            .footer(
                "quipu usage --by model --since 7d\n"
                "quipu usage --by month --breakdown --prices prices.json --csv\n"
                "quipu usage add records.jsonl\n"
                "\n"
                "A request that is written down several times, or in copies of a session, counts "
                "once.\nCosts: ~ computed with the price file, + of some requests unknown, ? of "
                "all.\ndocs/usage.md has prices and records.");
      },
      run_usage);
}

}  // namespace quipu::cli
