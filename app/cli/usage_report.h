// A report of usage as people and programs get it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/price_file.h"
#include "quipu/project.h"
#include "quipu/usage.h"

namespace quipu::cli {

struct ShownUsage {
  UsageReport report;
  std::string by;       // "day"
  std::string then_by;  // empty: not divided
  std::string time_zone;
  std::optional<PriceFile> prices;
  std::vector<Project> projects;
};

/// Whether the groups come one after another in time.
bool is_in_time(const ShownUsage& usage);

/// A table that fits the terminal, with bars where there is room and the groups are days.
void print_usage_table(Context& context, const ShownUsage& usage);
/// What the table cannot say: costs that are computed or missing, whose days.
void print_usage_notes(Context& context, const ShownUsage& usage);

std::string usage_json(const ShownUsage& usage);
/// RFC 4180: a line of titles, then one a group, or one a part where groups are divided.
std::vector<std::string> usage_csv(const ShownUsage& usage);

/// `text` as one field: quoted where it must be.
std::string csv_field(std::string_view text);

/// A bar of `share` (0 to 1) of so many columns: eighths of a block, or '#'.
std::string bar(double share, std::size_t columns, bool utf8);

}  // namespace quipu::cli
