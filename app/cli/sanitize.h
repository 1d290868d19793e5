// Content made safe for a terminal.
//
// Sessions hold what web pages, tools and other people wrote: bytes that move
// the cursor, set the window's title, answer questions in the user's name, or
// reorder what is read. Everything of that kind is shown as a visible escape
// and does nothing:
//
//   C0 controls (but line feed and tab), DEL, C1 controls   \u001b
//   controls of writing direction, invisible characters     \u202e
//   bytes that are no UTF-8                                  \x9b
//
// ESC itself is replaced, so no sequence (CSI, OSC, DCS, ...) survives; the
// rest of it is ordinary text. Escapes above U+FFFF are written as two \u, so
// that JSON stays JSON.
#pragma once

#include <string>
#include <string_view>

namespace quipu::cli {

enum class Charset : unsigned char {
  kUtf8,
  /// For terminals that would take the bytes of UTF-8 as something else, 0x9B
  /// as a control sequence for one: all but ASCII is escaped.
  kAscii,
};

/// Whether showing this character could do or hide something.
bool is_unsafe(char32_t code_point);

/// Keeps line feed and tab. Never contains another control byte.
std::string safe_text(std::string_view content, Charset charset = Charset::kUtf8);

/// The same on one line: runs of white space become a single space.
std::string safe_line(std::string_view content, Charset charset = Charset::kUtf8);

}  // namespace quipu::cli
