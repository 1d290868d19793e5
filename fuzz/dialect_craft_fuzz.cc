#include <cstddef>
#include <cstdint>
#include <string>

#include "dialect/craft/craft.h"
#include "dialect_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quipu::dialect::craft::Craft dialect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  quipu::dialect::fuzz_dialect(dialect, "/w/sessions/x/session.jsonl", text);
  return 0;
}
