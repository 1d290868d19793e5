#include "table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

namespace quipu::bench {
namespace {

std::string number(double value, const char* unit) {
  std::array<char, 48> text{};
  const char* format = value >= 100 ? "%.0f%s" : value >= 10 ? "%.1f%s" : "%.2f%s";
  std::snprintf(text.data(), text.size(), format, value, unit);
  return text.data();
}

std::string quantity(double value, Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      if (value < 1e3) return number(value, " ns");
      return value < 1e6 ? number(value / 1e3, " us") : number(value / 1e6, " ms");
    case Unit::kBytesPerSecond:
      return value < 1e9 ? number(value / 1e6, " MB/s") : number(value / 1e9, " GB/s");
    case Unit::kPerSecond:
      return number(value, " /s");
    case Unit::kBytes:
      return number(value / (1 << 20), " MiB");
    case Unit::kShare:
      return number(value * 100, " %");
  }
  return {};
}

bool is_least(Bar::Kind kind) {
  return kind == Bar::Kind::kRatioAtLeast || kind == Bar::Kind::kOursAtLeast;
}

bool is_ratio(Bar::Kind kind) {
  return kind == Bar::Kind::kRatioAtMost || kind == Bar::Kind::kRatioAtLeast;
}

std::string bar_text(const Row& row) {
  if (!row.bar) return "-";
  const std::string sign = is_least(row.bar->kind) ? ">= " : "<= ";
  return sign + (is_ratio(row.bar->kind) ? number(row.bar->value, "")
                                         : quantity(row.bar->value, row.unit));
}

std::string verdict(const Row& row) {
  if (!row.bar) return "-";
  return row.ok() ? "ok" : "OVER";
}

void append_number(std::string& out, const char* key, std::optional<double> value) {
  std::array<char, 96> text{};
  if (value) {
    std::snprintf(text.data(), text.size(), ",\"%s\":%.6g", key, *value);
  } else {
    std::snprintf(text.data(), text.size(), ",\"%s\":null", key);
  }
  out += text.data();
}

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return "ns";
    case Unit::kBytesPerSecond:
      return "B/s";
    case Unit::kPerSecond:
      return "1/s";
    case Unit::kBytes:
      return "B";
    case Unit::kShare:
      return "share";
  }
  return "";
}

}  // namespace

bool Row::ok() const {
  if (!bar) return true;
  if (is_ratio(bar->kind) && !ratio) return false;
  const double value = is_ratio(bar->kind) ? *ratio : ours;
  return is_least(bar->kind) ? value >= bar->value : value <= bar->value;
}

void print_table(std::ostream& out, const std::vector<Row>& rows) {
  using Cells = std::array<std::string, 6>;
  std::vector<Cells> lines{{"what", "ours", "raw", "ratio", "bar", ""}};
  for (const Row& row : rows) {
    lines.push_back({row.name, quantity(row.ours, row.unit),
                     row.other ? quantity(*row.other, row.unit) : "-",
                     row.ratio ? number(*row.ratio, "") : "-", bar_text(row), verdict(row)});
  }
  std::array<std::size_t, 6> widths{};
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string blank(widths[i] - cells[i].size(), ' ');
      // Words to the left, numbers to the right.
      out << (i == 0 || i == 5 ? cells[i] + blank : blank + cells[i]) << (i < 5 ? "  " : "\n");
    }
  }
}

void print_json(std::ostream& out, const std::vector<Row>& rows, std::uint64_t entries,
                std::uint64_t bytes, std::uint64_t digest) {
  std::array<char, 24> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(digest));
  std::string text = "{\"work\":{\"entries\":" + std::to_string(entries) +
                     ",\"bytes\":" + std::to_string(bytes) + ",\"digest\":\"" + hex.data() +
                     "\"},\"rows\":[";
  for (const Row& row : rows) {
    if (text.back() != '[') text += ',';
    text += "{\"name\":\"" + row.name + "\",\"unit\":\"" + unit_name(row.unit) + "\"";
    append_number(text, "ours", row.ours);
    append_number(text, "raw", row.other);
    append_number(text, "ratio", row.ratio);
    text += ",\"bar\":\"" + bar_text(row) + "\",\"ok\":" + (row.ok() ? "true" : "false") + "}";
  }
  out << text << "]}\n";
}

}  // namespace quipu::bench
