#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/ids.h"
#include "cli/project_scope.h"
#include "cli/summary_json.h"
#include "cli/table.h"
#include "cli/times.h"

namespace quipu::cli {
namespace {

struct StatsArguments {
  std::string session;
  std::string project;
  bool all = false;
};

struct SessionSum {
  std::uint64_t sessions = 0;
  SessionCounts counts;

  void add(const SessionSummary& session) {
    ++sessions;
    counts += session.totals;
  }
};

struct Stats {
  SessionSum total;
  std::map<std::string, SessionSum> by_model;
  std::map<std::string, SessionSum> by_project;  // by id
};

Stats count(const std::vector<SessionSummary>& sessions) {
  Stats stats;
  for (const SessionSummary& session : sessions) {
    stats.total.add(session);
    stats.by_model[session.model].add(session);
    stats.by_project[session.project_id].add(session);
  }
  return stats;
}

void write_sum(JsonWriter& json, const SessionSum& sum) {
  json.begin_object().member("sessions", sum.sessions).key("counts");
  write_counts(json, sum.counts);
  json.end_object();
}

void print_json(Context& context, const Stats& stats) {
  JsonWriter json;
  json.begin_object().key("total");
  write_sum(json, stats.total);
  const auto group = [&](const char* name, const char* key,
                         const std::map<std::string, SessionSum>& sums) {
    json.key(name).begin_array();
    for (const auto& [value, sum] : sums) {
      json.begin_object().optional_member(key, value).key("sum");
      write_sum(json, sum);
      json.end_object();
    }
    json.end_array();
  };
  group("byModel", "model", stats.by_model);
  group("byProject", "projectId", stats.by_project);
  context.out.data_line(json.end_object().text());
}

void add_row(Table& table, std::string name, const SessionSum& sum) {
  table.add({std::move(name), std::to_string(sum.sessions), count_text(sum.counts.messages),
             count_text(sum.counts.tokens_in), count_text(sum.counts.tokens_out),
             count_text(sum.counts.cache_read), count_text(sum.counts.cache_write),
             fmt::format("{:.2f}", static_cast<double>(sum.counts.cost_nano_usd) / 1e9)});
}

void print_table(Context& context, const Stats& stats, const std::vector<Project>& projects) {
  Table table({{.title = "", .fit = Table::Fit::kCutEnd},
               {.title = "SESSIONS", .right = true},
               {.title = "MESSAGES", .right = true},
               {.title = "IN", .right = true},
               {.title = "OUT", .right = true},
               {.title = "CACHE READ", .right = true, .expendable = true},
               {.title = "CACHE WRITE", .right = true, .expendable = true},
               {.title = "USD", .right = true}});
  add_row(table, "all", stats.total);
  for (const auto& [model, sum] : stats.by_model) {
    add_row(table, "model " + (model.empty() ? "(none)" : context.shown(model)), sum);
  }
  for (const auto& [id, sum] : stats.by_project) {
    add_row(table, "project " + (id.empty() ? "(none)" : context.shown(project_name(projects, id))),
            sum);
  }
  for (const std::string& line : table.lines(context.out.terminal())) context.out.line(line);
}

Result<std::vector<SessionSummary>> chosen(Store& store, Projects& projects,
                                           const StatsArguments& arguments) {
  SessionStore& sessions = store.sessions();
  if (!arguments.session.empty()) {
    auto id = resolve_session(sessions, arguments.session);
    if (!id) return std::move(id).error();
    auto summary = sessions.describe_session(*id);
    if (!summary) return std::move(summary).error();
    return std::vector{std::move(summary).value()};
  }
  auto project = chosen_project(projects, arguments.project, arguments.all);
  if (!project) return std::move(project).error();
  const SessionFilter filter{.project =
                                 *project ? ProjectScope::of((*project)->id) : ProjectScope::all()};
  auto page =
      sessions.list_sessions(filter, {.after = {}, .limit = std::numeric_limits<size_t>::max()});
  if (!page) return std::move(page).error();
  return std::move(page->items);
}

Result<int> run_stats(Context& context, const StatsArguments& arguments) {
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  Projects projects(*store);
  auto known = projects.list();
  if (!known) return std::move(known).error();
  auto sessions = chosen(*store, projects, arguments);
  if (!sessions) return std::move(sessions).error();
  const Stats stats = count(*sessions);
  if (context.json) {
    print_json(context, stats);
  } else {
    print_table(context, stats, *known);
  }
  for (const auto& session : *sessions) {
    if (!session.problem.empty()) {
      context.warn("session " + session.session_id + " is not counted: " + session.problem);
    }
  }
  return kExitOk;
}

}  // namespace

void add_stats(CommandLine& line) {
  line.add<StatsArguments>(
      "stats", "count messages, tokens and cost, by model and project",
      [](Declare& declare, StatsArguments& arguments) {
        declare.optional_session(arguments.session)
            .option("--project", "ID|PATH", arguments.project,
                    "of this project (else the one of the current directory)")
            .flag("--all", arguments.all, "of all projects");
      },
      run_stats);
}

}  // namespace quipu::cli
