// Any bytes as a rollout: read, lifted, noted, put together. Every byte comes back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "dialect/carry.h"
#include "dialect/codex/codex.h"
#include "support/memory_host.h"

namespace {

using namespace quipu;
using namespace quipu::dialect;

void require(bool holds) {
  if (!holds) std::abort();
}

void run(const std::string& path, const std::string& text) {
  static const codex::Codex codex;
  MemoryHost host;
  host.files[path] = text;
  const Source source{.agent = "codex", .path = path, .part = {}, .files = {path}};
  auto reader = codex.open(source, host, {});
  if (!reader.ok()) return;
  const Outline& outline = (*reader)->outline();
  std::string back;
  std::string memory;
  std::deque<std::string> payloads;
  std::vector<StoredRecord> records;
  std::deque<std::string> kinds;
  std::uint32_t last = kNoRecord;
  Record record;
  for (;;) {
    auto more = (*reader)->next(record);
    if (!more.ok() || !*more) break;
    back += record.bytes;
    back += record.end;
    std::string buffer;
    const std::string& carried = payloads.emplace_back(std::string(carry(record, buffer).payload));
    const std::string_view payload = understood(carried, payloads);
    if (outline.in_base) outline.in_base(payload);
    StoredRecord stored;
    stored.kind = kinds.emplace_back(record.kind);
    stored.payload = payload;
    stored.parent = record.is_fact ? kNoRecord : last;
    records.push_back(stored);
    if (!record.is_fact) last = static_cast<std::uint32_t>(records.size() - 1);
    Note note;
    note.memory = memory;
    codex.note(stored.kind, payload, note);
    memory = note.memory;
    Lifted lifted;
    codex.lift(stored.kind, payload, lifted);
  }
  require(back == text);
  for (const Pick& pick : codex.conversation(records, last)) {
    Lifted lifted;
    codex.lift(records[pick.record].kind, records[pick.record].payload, lifted);
    require(pick.message == Pick::kAll || pick.message < lifted.messages().size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  run("/rollout-2026-01-02T03-04-05-11111111-1111-7111-8111-111111111111.jsonl", text);
  run("/rollout-2025-04-17-11111111-1111-7111-8111-111111111111.json", text);
  return 0;
}
