// How much of the long tests is run: QUIPU_TEST_SCALE, 1 by default.
#pragma once

#include <cstdlib>

namespace quipu {

/// QUIPU_TEST_SCALE, 1 when unset.
inline double test_scale() {
  const char* text = std::getenv("QUIPU_TEST_SCALE");
  return text != nullptr && *text != '\0' ? std::atof(text) : 1.0;
}

}  // namespace quipu
