// Tables that fit the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal.h"

namespace quipu::cli {

class Table {
 public:
  enum class Fit : unsigned char {
    kWhole,     // never cut
    kCutEnd,    // may be cut
    kCutStart,  // may be cut, its end says more
  };
  struct Column {
    std::string title;
    Fit fit = Fit::kWhole;
    bool right = false;  // numbers
    /// Left out first when the width does not suffice.
    bool expendable = false;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Cells must be safe for a terminal.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// Title line first. No line is wider than the terminal, unless the whole
  /// columns alone are.
  std::vector<std::string> lines(const Terminal& terminal) const;

 private:
  std::vector<std::size_t> widths(std::size_t limit, std::vector<bool>& shown) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace quipu::cli
