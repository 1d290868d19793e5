#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/project_scope.h"
#include "cli/table.h"
#include "cli/times.h"
#include "cli/usage_report.h"

namespace quipu::cli {
namespace {

constexpr std::size_t kBarLeast = 8;
constexpr std::size_t kBarMost = 40;
constexpr std::size_t kModelsNamed = 5;

double dollars(std::int64_t nano_usd) { return static_cast<double>(nano_usd) / 1e9; }

std::uint64_t tokens_of(const UsageSum& sum) { return sum.tokens_in + sum.tokens_out; }

// "12.34"; "~" before what is computed, "+" after what lacks something, "?" for nothing known.
std::string cost_cell(const UsageSum& sum) {
  if (!sum.has_cost()) return "?";
  const double cost = dollars(sum.cost_nano_usd());
  const std::string amount =
      cost > 0 && cost < 0.005 ? std::string("<0.01") : fmt::format("{:.2f}", cost);
  return fmt::format("{}{}{}", sum.cost_computed_nano_usd > 0 ? "~" : "", amount,
                     sum.unpriced > 0 ? "+" : "");
}

std::string time_cell(const UsageLatency& latency, std::uint64_t ms) {
  if (latency.requests == 0) return "";
  return ms < 10'000 ? fmt::format("{} ms", ms)
                     : fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
}

class UsageTable {
 public:
  UsageTable(Context& context, const ShownUsage& usage)
      : context_(context), usage_(usage), terminal_(context.out.terminal()) {}

  void print() {
    Table table(columns());
    std::vector<double> lengths;  // of bars; one a row
    const auto add = [&](const std::string& name, const UsageSum& sum, double length) {
      table.add(cells(name, sum));
      lengths.push_back(length);
    };
    for (const UsageGroup* group : sorted(usage_.report.groups, usage_.by)) {
      add(shown(usage_.by, group->name), group->sum, measure(group->sum));
      for (const UsageGroup* part : sorted(group->parts, usage_.then_by)) {
        add("  " + shown(usage_.then_by, part->name), part->sum, 0);
      }
    }
    add("total", usage_.report.total, 0);
    const bool has_bars = terminal_.is_terminal && is_in_time(usage_);
    Terminal room = terminal_;
    if (has_bars && room.width > kBarLeast + 2) room.width -= kBarLeast + 2;
    std::vector<std::string> lines = table.lines(room);
    if (has_bars) add_bars(lines, lengths);
    for (const std::string& line : lines) context_.out.line(line);
  }

 private:
  std::vector<Table::Column> columns() const {
    std::string title = usage_.by;
    for (char& c : title) c = static_cast<char>(c - 'a' + 'A');
    std::vector<Table::Column> columns = {
        {.title = title, .fit = Table::Fit::kCutEnd},
        {.title = "REQUESTS", .right = true},
        {.title = "INPUT", .right = true},
        {.title = "OUTPUT", .right = true},
        {.title = "CACHE READ", .right = true, .expendable = true},
        {.title = "CACHE WRITE", .right = true, .expendable = true},
        {.title = "REASONING", .right = true, .expendable = true}};
    if (has_latency()) {
      for (const char* name : {"P50", "P90", "P99"}) {
        columns.push_back({.title = name, .right = true, .expendable = true});
      }
    }
    columns.push_back({.title = "COST $", .right = true});
    return columns;
  }

  std::vector<std::string> cells(const std::string& name, const UsageSum& sum) const {
    std::vector<std::string> cells = {name,
                                      count_text(sum.requests),
                                      count_text(sum.tokens_in),
                                      count_text(sum.tokens_out),
                                      count_text(sum.cache_read),
                                      count_text(sum.cache_write),
                                      count_text(sum.reasoning)};
    if (has_latency()) {
      for (const std::uint64_t ms : {sum.latency.p50_ms, sum.latency.p90_ms, sum.latency.p99_ms}) {
        cells.push_back(time_cell(sum.latency, ms));
      }
    }
    cells.push_back(cost_cell(sum));
    return cells;
  }

  bool has_latency() const { return usage_.report.total.latency.requests > 0; }

  std::string shown(const std::string& by, const std::string& name) const {
    const std::string text = by == "project" ? project_name(usage_.projects, name) : name;
    return text.empty() ? "-" : context_.shown(text);
  }

  // Days in their order; of everything else what took most comes first.
  static std::vector<const UsageGroup*> sorted(const std::vector<UsageGroup>& groups,
                                               const std::string& by) {
    std::vector<const UsageGroup*> order;
    for (const UsageGroup& group : groups) order.push_back(&group);
    if (by == "day" || by == "week" || by == "month") return order;
    std::stable_sort(order.begin(), order.end(), [](const UsageGroup* a, const UsageGroup* b) {
      if (a->sum.cost_nano_usd() != b->sum.cost_nano_usd()) {
        return a->sum.cost_nano_usd() > b->sum.cost_nano_usd();
      }
      return tokens_of(a->sum) > tokens_of(b->sum);
    });
    return order;
  }

  // Costs, if all are known: else the bars would say what nobody knows.
  double measure(const UsageSum& sum) const {
    return usage_.report.total.unpriced == 0 ? dollars(sum.cost_nano_usd())
                                             : static_cast<double>(tokens_of(sum));
  }

  void add_bars(std::vector<std::string>& lines, const std::vector<double>& lengths) const {
    const double longest = *std::max_element(lengths.begin(), lengths.end());
    std::size_t width = 0;
    // All lines end where the last column does; the titles may be in colour.
    for (std::size_t row = 1; row < lines.size(); ++row) {
      width = std::max(width, columns_of(lines[row]));
    }
    const std::size_t room = terminal_.width > width + 2 ? terminal_.width - width - 2 : 0;
    if (room < kBarLeast || longest <= 0) return;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      std::string& line = lines[row + 1];  // after the titles
      const std::string drawn =
          bar(lengths[row] / longest, std::min(room, kBarMost), terminal_.utf8);
      if (!drawn.empty())
        line = pad(std::move(line), width + 2) + paint(terminal_, Style::kCyan, drawn);
    }
  }

  Context& context_;
  const ShownUsage& usage_;
  const Terminal& terminal_;
};

}  // namespace

bool is_in_time(const ShownUsage& usage) {
  return usage.by == "day" || usage.by == "week" || usage.by == "month";
}

std::string bar(double share, std::size_t columns, bool utf8) {
  static constexpr std::array kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(
      std::clamp(share, 0.0, 1.0) * static_cast<double>(columns) * 8 + 0.5);
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += utf8 ? "█" : "#";
  if (utf8) text += kEighths[eighths % 8];
  // Little is not nothing.
  if (text.empty() && share > 0) text = utf8 ? "▏" : "#";
  return text;
}

void print_usage_table(Context& context, const ShownUsage& usage) {
  UsageTable(context, usage).print();
}

void print_usage_notes(Context& context, const ShownUsage& usage) {
  const UsageReport& report = usage.report;
  if (is_in_time(usage)) {
    context.note(fmt::format("{}s of {}.",
                             usage.by == "day"    ? "Day"
                             : usage.by == "week" ? "Week"
                                                  : "Month",
                             usage.time_zone == "local" ? "local time" : usage.time_zone));
  }
  if (report.total.cost_computed_nano_usd > 0) {
    context.note(fmt::format("~ ${:.2f} of ${:.2f} is computed, with prices of {} ({}).",
                             dollars(report.total.cost_computed_nano_usd),
                             dollars(report.total.cost_nano_usd()), usage.prices->list.updated(),
                             usage.prices->path));
  }
  if (report.unpriced.empty()) return;
  std::vector<const UsageGroup*> models;
  for (const UsageGroup& model : report.unpriced) models.push_back(&model);
  std::stable_sort(models.begin(), models.end(), [](const UsageGroup* a, const UsageGroup* b) {
    return tokens_of(a->sum) > tokens_of(b->sum);
  });
  context.note(fmt::format("{} of {} requests have no recorded cost, and {}:",
                           report.total.unpriced, report.total.requests,
                           usage.prices ? "the price file has none for their models"
                                        : "there is no price file (docs/usage.md)"));
  for (std::size_t i = 0; i < std::min(models.size(), kModelsNamed); ++i) {
    const UsageGroup& model = *models[i];
    context.note(fmt::format("  {}: {} requests, {} tokens in, {} out",
                             model.name.empty() ? "an unknown model" : context.shown(model.name),
                             model.sum.requests, count_text(model.sum.tokens_in),
                             count_text(model.sum.tokens_out)));
  }
  if (models.size() > kModelsNamed) {
    context.note(fmt::format("  and {} more models", models.size() - kModelsNamed));
  }
}

}  // namespace quipu::cli
