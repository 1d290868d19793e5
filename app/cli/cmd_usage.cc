#include <array>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/project_scope.h"
#include "cli/table.h"
#include "cli/times.h"
#include "quipu/usage.h"

namespace quipu::cli {
namespace {

constexpr std::array<std::pair<std::string_view, UsageBy>, 5> kBy{{
    {"day", UsageBy::kDay},
    {"agent", UsageBy::kAgent},
    {"model", UsageBy::kModel},
    {"project", UsageBy::kProject},
    {"session", UsageBy::kSession},
}};

struct UsageArguments {
  std::string by = "day";
  std::string from;
  std::string to;
};

double dollars(std::int64_t nano_usd) { return static_cast<double>(nano_usd) / 1e9; }

void write_sum(JsonWriter& json, std::string_view by, const UsageSum& sum) {
  json.begin_object();
  if (!by.empty()) json.optional_member(by, sum.name);
  json.member("requests", sum.requests)
      .member("input", sum.tokens_in)
      .member("output", sum.tokens_out)
      .member("cacheRead", sum.cache_read)
      .member("cacheWrite", sum.cache_write)
      .member("reasoning", sum.reasoning)
      .key("cost")
      .raw(fmt::format("{}", dollars(sum.cost_nano_usd)))
      .end_object();
}

std::vector<std::string> cells_of(const std::string& name, const UsageSum& sum) {
  return {name,
          count_text(sum.requests),
          count_text(sum.tokens_in),
          count_text(sum.tokens_out),
          count_text(sum.cache_read),
          count_text(sum.cache_write),
          count_text(sum.reasoning),
          sum.cost_nano_usd == 0 ? "" : fmt::format("{:.2f}", dollars(sum.cost_nano_usd))};
}

void print_table(Context& context, const std::string& by, const UsageTable& usage) {
  std::string title = by;
  for (char& c : title) c = static_cast<char>(c - 'a' + 'A');
  Table table({{.title = title, .fit = Table::Fit::kCutEnd},
               {.title = "REQUESTS", .right = true},
               {.title = "INPUT", .right = true},
               {.title = "OUTPUT", .right = true},
               {.title = "CACHE READ", .right = true, .expendable = true},
               {.title = "CACHE WRITE", .right = true, .expendable = true},
               {.title = "REASONING", .right = true, .expendable = true},
               {.title = "COST $", .right = true}});
  for (const UsageSum& row : usage.rows) {
    table.add(cells_of(row.name.empty() ? "-" : context.shown(row.name), row));
  }
  table.add(cells_of("total", usage.total));
  for (const std::string& text : table.lines(context.out.terminal())) context.out.line(text);
}

Result<int> run_usage(Context& context, const UsageArguments& arguments) {
  UsageOptions options{.project = ProjectScope::all()};
  for (const auto& [name, by] : kBy) {
    if (arguments.by == name) options.by = by;
  }
  for (const auto& [text, into] :
       {std::pair{&arguments.from, &options.from_ms}, std::pair{&arguments.to, &options.to_ms}}) {
    if (text->empty()) continue;
    *into = read_time(*text, now_ms());
    if (!*into) {
      return context.refuse(Error(Code::kInvalidArgument, "no time: " + *text)
                                .with_hint("such as 2026-03-01, 2h, 7d"));
    }
  }
  auto store = context.open_store();
  if (!store) return std::move(store).error();
  auto usage = sum_usage(*store, options);
  if (!usage) return std::move(usage).error();
  if (!context.json) {
    print_table(context, arguments.by, *usage);
    return kExitOk;
  }
  JsonWriter json;
  json.begin_object().member("by", arguments.by).key("rows").begin_array();
  for (const UsageSum& row : usage->rows) write_sum(json, arguments.by, row);
  json.end_array().key("total");
  write_sum(json, {}, usage->total);
  context.out.data_line(json.end_object().text());
  return kExitOk;
}

}  // namespace

void add_usage(CommandLine& line) {
  line.add<UsageArguments>(
      "usage", "what requests to models took, each counted once",
      [](Declare& declare, UsageArguments& arguments) {
        declare
            .choice("--by", arguments.by, {"day", "agent", "model", "project", "session"},
                    "day, agent, model, project or session")
            .option("--from", "TIME", arguments.from, "from this time on")
            .option("--to", "TIME", arguments.to, "before this time")
            .footer(
                "Of all sessions of the store. A request that is written down several times, or "
                "in copies\nof a session, counts once. Costs are those that were recorded.");
      },
      run_usage);
}

}  // namespace quipu::cli
