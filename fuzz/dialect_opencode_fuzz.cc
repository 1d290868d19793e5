#include <cstddef>
#include <cstdint>
#include <string>

#include "dialect/opencode/opencode.h"
#include "row_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quipu::dialect::opencode::Opencode dialect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  quipu::dialect::fuzz_dialect(dialect, "/x/export.json", text);
  quipu::dialect::fuzz_dialect(dialect, "/storage/session/p/ses_1.json", text);
  quipu::dialect::fuzz_rows(dialect, text);
  return 0;
}
