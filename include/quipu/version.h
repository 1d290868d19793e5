// The version of this library; CMake refuses to configure when it is not the project's.
#pragma once

#include <string_view>

namespace quipu {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace quipu
