#include "cli/columns.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>

#include "cli/utf8.h"

namespace quipu::cli {
namespace {

constexpr std::size_t kTabStop = 4;

// The C library has the table; the user's locale has no say in it, because
// what we print is UTF-8 whatever the locale.
int library_width(char32_t value) {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return 1;
  const locale_t before = uselocale(utf8);
  const int width = wcwidth(static_cast<wchar_t>(value));
  uselocale(before);
  return width;
}

std::string_view take_code_point(std::string_view& text, std::size_t& columns) {
  const CodePoint next = first_code_point(text);
  columns = next.valid ? columns_of(next.value) : 1;
  const std::string_view taken = text.substr(0, next.bytes);
  text.remove_prefix(next.bytes);
  return taken;
}

std::string expand_tabs(std::string_view line) {
  std::string out;
  std::size_t at = 0;
  while (!line.empty()) {
    std::size_t columns = 0;
    const std::string_view taken = take_code_point(line, columns);
    if (taken == "\t") {
      columns = kTabStop - at % kTabStop;
      out.append(columns, ' ');
    } else {
      out += taken;
    }
    at += columns;
  }
  return out;
}

// How many bytes of `line` fit, and where to go on after the break.
struct Break {
  std::size_t end, next;
};

Break find_break(std::string_view line, std::size_t columns) {
  std::size_t used = 0;
  std::size_t at = 0;
  std::size_t space = std::string_view::npos;
  while (at < line.size()) {
    std::string_view rest = line.substr(at);
    std::size_t width = 0;
    const std::string_view taken = take_code_point(rest, width);
    if (used + width > columns && at > 0) {
      if (taken == " ") return {at, at + 1};
      if (space == std::string_view::npos) return {at, at};
      return {space, space + 1};
    }
    if (taken == " " && at > 0) space = at;
    used += width;
    at += taken.size();
  }
  return {line.size(), line.size()};
}

}  // namespace

std::size_t columns_of(char32_t value) {
  if (value < 0x300) return 1;
  const int width = library_width(value);
  return width < 0 ? 1 : static_cast<std::size_t>(width);
}

std::size_t columns_of(std::string_view text) {
  std::size_t total = 0;
  while (!text.empty()) {
    std::size_t columns = 0;
    take_code_point(text, columns);
    total += columns;
  }
  return total;
}

std::string cut(std::string_view text, std::size_t columns, std::string_view ellipsis) {
  if (columns_of(text) <= columns) return std::string(text);
  const std::size_t dots = columns_of(ellipsis);
  if (dots > columns) return {};
  std::string out;
  std::size_t used = dots;
  while (!text.empty()) {
    std::size_t width = 0;
    const std::string_view taken = take_code_point(text, width);
    if (used + width > columns) break;
    used += width;
    out += taken;
  }
  return out.append(ellipsis);
}

std::string cut_start(std::string_view text, std::size_t columns, std::string_view ellipsis) {
  std::size_t total = columns_of(text);
  if (total <= columns) return std::string(text);
  const std::size_t dots = columns_of(ellipsis);
  if (dots > columns) return {};
  while (total + dots > columns && !text.empty()) {
    std::size_t width = 0;
    take_code_point(text, width);
    total -= width;
  }
  return std::string(ellipsis).append(text);
}

std::string pad(std::string text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  if (used < columns) text.append(columns - used, ' ');
  return text;
}

std::string pad_start(std::string text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  if (used < columns) text.insert(0, columns - used, ' ');
  return text;
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (true) {
    const std::size_t feed = text.find('\n');
    const std::string expanded = expand_tabs(text.substr(0, feed));
    std::string_view line = expanded;
    if (columns == 0) {
      lines.emplace_back(line);
    } else {
      do {
        const Break at = find_break(line, columns);
        lines.emplace_back(line.substr(0, at.end));
        line.remove_prefix(at.next);
      } while (!line.empty());
    }
    if (feed == std::string_view::npos) return lines;
    text.remove_prefix(feed + 1);
  }
}

std::string wrap_meanings(std::string_view text, std::size_t columns) {
  if (columns == 0) return std::string(text);
  std::string out;
  for (const std::string& line : wrap(text, 0)) {
    const std::size_t name = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t gap = columns_of(line) > columns ? line.find("  ", name) : std::string::npos;
    // Where there are no two, all of it is meant.
    const std::size_t start =
        gap == std::string::npos ? name : std::min(line.find_first_not_of(' ', gap), line.size());
    std::size_t margin = columns_of(std::string_view(line).substr(0, start));
    std::string before = line.substr(0, start);
    if (margin > columns / 2) {  // the meaning below the name
      margin = name + 4;
      out += before.substr(0, gap) + '\n';
      before.assign(margin, ' ');
    }
    for (const std::string& part :
         wrap(std::string_view(line).substr(start), columns - std::min(margin, columns - 1))) {
      out += before + part + '\n';
      before.assign(margin, ' ');
    }
  }
  // wrap() gives an empty line for what is behind the last line feed.
  if (text.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace quipu::cli
