// What the environment says.
#pragma once

#include <cstdlib>
#include <string>

namespace quipu::cli {

/// Empty also where the variable is not set.
inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace quipu::cli
