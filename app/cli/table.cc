#include "cli/table.h"

#include <algorithm>

#include "cli/columns.h"

namespace quipu::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 10;  // of a column that is cut

}  // namespace

std::vector<std::size_t> Table::widths(std::size_t limit, std::vector<bool>& shown) const {
  std::vector<std::size_t> wanted(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    wanted[c] = columns_of(columns_[c].title);
    for (const auto& row : rows_) wanted[c] = std::max(wanted[c], columns_of(row[c]));
  }
  shown.assign(columns_.size(), true);
  if (limit == 0) return wanted;

  while (true) {
    std::size_t whole = 0;
    std::vector<std::size_t> soft;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c]) continue;
      whole += c == 0 ? 0 : kGap;
      if (columns_[c].fit == Fit::kWhole) {
        whole += wanted[c];
      } else {
        soft.push_back(c);
      }
    }
    std::size_t room = limit > whole ? limit - whole : 0;
    const auto expendable = std::find_if(columns_.rbegin(), columns_.rend(), [&](const Column& c) {
      const auto i = static_cast<std::size_t>(&c - columns_.data());
      return c.expendable && shown[i];
    });
    std::size_t least = 0;
    for (std::size_t c : soft) least += std::min(wanted[c], kNarrowest);
    if (room < least && expendable != columns_.rend()) {
      shown[static_cast<std::size_t>(&*expendable - columns_.data())] = false;
      continue;
    }
    // The narrowest first: what it does not need goes to the others.
    std::sort(soft.begin(), soft.end(), [&](auto a, auto b) { return wanted[a] < wanted[b]; });
    for (std::size_t i = 0; i < soft.size(); ++i) {
      wanted[soft[i]] = std::min(wanted[soft[i]], room / (soft.size() - i));
      room -= wanted[soft[i]];
    }
    return wanted;
  }
}

std::vector<std::string> Table::lines(const Terminal& terminal) const {
  std::vector<bool> shown;
  const std::vector<std::size_t> width = widths(terminal.width, shown);
  const std::string_view ellipsis = Glyphs::of(terminal).ellipsis;

  const auto render = [&](auto cell_of) {
    std::string line;
    std::size_t blank = 0;  // owed spaces: no line ends with them
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c]) continue;
      std::string cell = cell_of(c);
      if (columns_[c].fit == Fit::kCutEnd) cell = cut(cell, width[c], ellipsis);
      if (columns_[c].fit == Fit::kCutStart) cell = cut_start(cell, width[c], ellipsis);
      if (columns_[c].right) cell = pad_start(std::move(cell), width[c]);
      line.append(cell.empty() ? 0 : blank, ' ');
      if (!cell.empty()) blank = 0;
      line += cell;
      const std::size_t used = columns_of(cell);
      blank += (used < width[c] ? width[c] - used : 0) + kGap;
    }
    return line;
  };

  std::vector<std::string> out;
  out.push_back(
      paint(terminal, Style::kBold, render([&](std::size_t c) { return columns_[c].title; })));
  for (const auto& row : rows_) out.push_back(render([&](std::size_t c) { return row[c]; }));
  return out;
}

}  // namespace quipu::cli
