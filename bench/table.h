// One row a claim, one table a run.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace quipu::bench {

enum class Unit : unsigned char { kNanoseconds, kBytesPerSecond, kPerSecond, kBytes, kShare };

struct Bar {
  enum class Kind : unsigned char { kRatioAtMost, kRatioAtLeast, kOursAtMost, kOursAtLeast };
  Kind kind = Kind::kRatioAtMost;
  double value = 0;
};

struct Row {
  std::string name;
  Unit unit = Unit::kNanoseconds;
  double ours = 0;
  std::optional<double> other{};  // what it is compared with
  std::optional<double> ratio{};  // median of the rounds, so not ours / other
  std::optional<Bar> bar{};       // none: for the reader's information

  /// Whether the bar is kept; a row without one keeps it.
  bool ok() const;
};

void print_table(std::ostream& out, const std::vector<Row>& rows);
void print_json(std::ostream& out, const std::vector<Row>& rows, std::uint64_t entries,
                std::uint64_t bytes, std::uint64_t digest);

}  // namespace quipu::bench
