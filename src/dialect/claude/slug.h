// How Claude calls the directory of a working directory's sessions.
#pragma once

#include <string>
#include <string_view>

namespace quipu::dialect::claude {

/// Everything but letters and digits of ASCII is a dash, each UTF-16 unit one; what
/// is longer than 200 ends with a hash of the path.
std::string slug_of(std::string_view cwd);

}  // namespace quipu::dialect::claude
