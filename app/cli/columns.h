// Text measured in terminal columns: wide characters take two, combining ones
// none. For text that went through sanitize.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quipu::cli {

std::size_t columns_of(char32_t code_point);
std::size_t columns_of(std::string_view text);

/// `text` in at most `columns`, with `ellipsis` where something was cut off: at
/// the end, or at the start when the end says more (paths).
std::string cut(std::string_view text, std::size_t columns, std::string_view ellipsis);
std::string cut_start(std::string_view text, std::size_t columns, std::string_view ellipsis);

/// Filled up with spaces to `columns`.
std::string pad(std::string text, std::size_t columns);
std::string pad_start(std::string text, std::size_t columns);

/// Lines of at most `columns` (at least one character each), broken at spaces
/// where possible; tabs become spaces. 0 columns: only line feeds break.
std::vector<std::string> wrap(std::string_view text, std::size_t columns);

/// A text of names and what they mean, such as a help text: of a line that is too wide
/// what is meant goes on below itself. 0 columns: as it is.
std::string wrap_meanings(std::string_view text, std::size_t columns);

}  // namespace quipu::cli
