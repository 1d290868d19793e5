#include <cstddef>
#include <cstdint>
#include <string>

#include "dialect/claude/claude.h"
#include "dialect_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quipu::dialect::claude::Claude dialect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  quipu::dialect::fuzz_dialect(dialect, "/p/x.jsonl", text);
  return 0;
}
