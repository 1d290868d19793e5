#include <cstddef>
#include <cstdint>
#include <string>

#include "dialect/codex/codex.h"
#include "dialect_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quipu::dialect::codex::Codex dialect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  quipu::dialect::fuzz_dialect(
      dialect, "/rollout-2026-01-02T03-04-05-11111111-1111-7111-8111-111111111111.jsonl", text);
  quipu::dialect::fuzz_dialect(
      dialect, "/rollout-2025-04-17-11111111-1111-7111-8111-111111111111.json", text);
  return 0;
}
