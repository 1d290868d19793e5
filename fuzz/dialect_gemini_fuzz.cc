#include <cstddef>
#include <cstdint>
#include <string>

#include "dialect/gemini/gemini.h"
#include "dialect_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const quipu::dialect::gemini::Gemini dialect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  quipu::dialect::fuzz_dialect(dialect, "/chats/session.jsonl", text);
  quipu::dialect::fuzz_dialect(dialect, "/chats/session.json", text);
  quipu::dialect::fuzz_dialect(dialect, "/tmp/checkpoint-x.json", text);
  return 0;
}
