#include "cli/terminal.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>

#include <fmt/format.h>

#include "cli/environment.h"

namespace quipu::cli {
namespace {

std::size_t find_width(int fd, bool is_terminal) {
  // COLUMNS is exported on purpose only (shells keep it to themselves), so it
  // counts for pipes as well.
  const std::string wanted = environment("COLUMNS");
  std::size_t columns = 0;
  const auto read = std::from_chars(wanted.data(), wanted.data() + wanted.size(), columns);
  if (read.ec == std::errc() && read.ptr == wanted.data() + wanted.size() && columns > 0) {
    return columns;
  }
  if (!is_terminal) return 0;
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

ColorWishes ColorWishes::from_environment() {
  const std::string force = environment("CLICOLOR_FORCE");
  const std::string term = environment("TERM");
  return {.no_color = !environment("NO_COLOR").empty(),
          .clicolor_force = !force.empty() && force != "0",
          .dumb = term.empty() || term == "dumb"};
}

bool use_color(ColorMode mode, const ColorWishes& wishes, bool is_terminal) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  if (wishes.no_color) return false;
  if (wishes.clicolor_force) return true;
  return is_terminal && !wishes.dumb;
}

Terminal Terminal::inspect(int fd, ColorMode mode) {
  const bool is_terminal = isatty(fd) == 1;
  return {.is_terminal = is_terminal,
          .color = use_color(mode, ColorWishes::from_environment(), is_terminal),
          .utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8",
          .width = find_width(fd, is_terminal)};
}

std::string paint(const Terminal& terminal, Style style, std::string_view text) {
  if (!terminal.color || text.empty()) return std::string(text);
  const int code = [style] {
    switch (style) {
      case Style::kBold:
        return 1;
      case Style::kDim:
        return 2;
      case Style::kRed:
        return 31;
      case Style::kGreen:
        return 32;
      case Style::kYellow:
        return 33;
      case Style::kBlue:
        return 34;
      case Style::kMagenta:
        return 35;
      case Style::kCyan:
        return 36;
    }
    return 0;
  }();
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

const Glyphs& Glyphs::of(const Terminal& terminal) {
  static constexpr Glyphs kBoxes{"○", "●", "│", "├─", "─", "…", "→", "←"};
  static constexpr Glyphs kAscii{"o", "*", "|", "|-", "-", "...", "->", "<-"};
  return terminal.is_terminal && terminal.utf8 ? kBoxes : kAscii;
}

}  // namespace quipu::cli
