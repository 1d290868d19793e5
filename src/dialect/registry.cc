#include <array>

#include "dialect/dialect.h"
#include "dialect/pi/pi.h"

namespace quipu::dialect {

std::span<const Dialect* const> all_dialects() {
  static const pi::Pi pi;
  static const std::array<const Dialect*, 1> all{&pi};
  return all;
}

}  // namespace quipu::dialect
