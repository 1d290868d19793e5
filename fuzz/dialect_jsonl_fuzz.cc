#include <cstddef>
#include <cstdint>
#include <string>

#include "dialect/jsonl/jsonl.h"
#include "dialect_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quipu::dialect::jsonl::Jsonl dialect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  quipu::dialect::fuzz_dialect(dialect, "/x.jsonl", text);
  return 0;
}
