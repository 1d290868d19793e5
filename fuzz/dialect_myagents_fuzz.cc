#include <cstddef>
#include <cstdint>
#include <string>

#include "dialect/myagents/myagents.h"
#include "dialect_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using quipu::dialect::StoredRecord;
  static const quipu::dialect::myagents::MyAgents dialect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  quipu::dialect::fuzz_dialect(dialect, "/sessions/x.jsonl", text);
  quipu::dialect::fuzz_dialect(dialect, "/sessions/x.json", text);
  if (!quipu::json::validate(text).ok()) return 0;
  // The files beside a session, and a message that the document may have, too.
  quipu::dialect::fuzz_understanding(
      dialect, {StoredRecord{.id = "1", .kind = "message", .payload = R"({"id":"1"})"},
                StoredRecord{.id = "2", .kind = "legacy", .payload = text},
                StoredRecord{.id = "3", .kind = "session", .payload = text}});
  return 0;
}
