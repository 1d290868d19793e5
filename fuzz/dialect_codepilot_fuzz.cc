#include <cstddef>
#include <cstdint>
#include <string>

#include "dialect/codepilot/codepilot.h"
#include "row_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quipu::dialect::codepilot::Codepilot dialect;
  quipu::dialect::fuzz_rows(dialect, {reinterpret_cast<const char*>(data), size});
  return 0;
}
