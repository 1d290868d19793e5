// What stands at the other end of a stream, and what may be sent to it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/sanitize.h"

namespace quipu::cli {

enum class ColorMode : unsigned char { kAuto, kAlways, kNever };

/// The environment's say in colours.
struct ColorWishes {
  bool no_color = false;        // NO_COLOR, not empty
  bool clicolor_force = false;  // CLICOLOR_FORCE, not empty and not 0
  bool dumb = false;            // TERM is unset or "dumb"

  static ColorWishes from_environment();
};

/// The option decides, then NO_COLOR, then CLICOLOR_FORCE, then the terminal.
bool use_color(ColorMode mode, const ColorWishes& wishes, bool is_terminal);

struct Terminal {
  bool is_terminal = false;
  bool color = false;
  /// The locale is UTF-8.
  bool utf8 = false;
  /// Columns to fit into; 0: no limit (a pipe).
  std::size_t width = 0;

  static Terminal inspect(int fd, ColorMode mode);

  Charset charset() const { return is_terminal && !utf8 ? Charset::kAscii : Charset::kUtf8; }
};

enum class Style : unsigned char { kBold, kDim, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan };

/// `text` in this style where the terminal shows colours.
std::string paint(const Terminal& terminal, Style style, std::string_view text);

/// The lines and marks of drawings: boxes on a UTF-8 terminal, else ASCII.
struct Glyphs {
  std::string_view node, current, vertical, tee, rule, ellipsis, arrow_right, arrow_left;

  static const Glyphs& of(const Terminal& terminal);
};

}  // namespace quipu::cli
