#include <array>

#include "dialect/dialect.h"
#include "dialect/gemini/gemini.h"
#include "dialect/pi/pi.h"

namespace quipu::dialect {

std::span<const Dialect* const> all_dialects() {
  static const gemini::Gemini gemini;
  static const pi::Pi pi;
  static const std::array<const Dialect*, 2> all{&gemini, &pi};
  return all;
}

}  // namespace quipu::dialect
