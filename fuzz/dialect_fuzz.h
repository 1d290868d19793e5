// Any bytes as a file of some agent: read to the end, byte for byte, and whatever is
// in it can be understood.
#pragma once

#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "base/json_scan.h"
#include "dialect/carry.h"
#include "dialect/dialect.h"
#include "support/memory_host.h"

namespace quipu::dialect {

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline void require_json(std::string_view value) {
  require(value.empty() || json::validate(value).ok());
}

inline void fuzz_understanding(const Dialect& dialect, const std::vector<StoredRecord>& records) {
  std::string memory;
  for (const StoredRecord& record : records) {
    require_json(record.payload);
    Note note;
    note.memory = std::move(memory);
    dialect.note(record.kind, record.payload, note);
    memory = std::move(note.memory);
    Lifted lifted;
    dialect.lift(record.kind, record.payload, lifted);
    for (const PartView& part : lifted.all_parts()) {
      for (const std::string_view value : {part.text, part.content, part.data, part.input}) {
        require_json(value);
      }
    }
  }
  const auto count = static_cast<std::uint32_t>(records.size());
  for (std::uint32_t at = 0; at < count && at < 32; ++at) {
    for (const Pick& pick : dialect.conversation(records, at)) {
      require(pick.record < count);
      require_json(pick.payload);
      Lifted lifted;
      const StoredRecord& record = records[pick.record];
      dialect.lift(record.kind, pick.payload.empty() ? record.payload : pick.payload, lifted);
      require(pick.message == Pick::kAll || pick.message < lifted.messages().size());
    }
  }
}

inline void fuzz_dialect(const Dialect& dialect, const std::string& path, const std::string& text) {
  MemoryHost host;
  host.files[path] = text;
  dialect.recognises(path, text);
  const Source source{
      .agent = std::string(dialect.name()), .path = path, .part = {}, .files = {path}};
  const auto reader = dialect.open(source, host, {});
  if (!reader.ok()) return;
  std::string back;
  std::deque<std::string> kept;
  std::vector<StoredRecord> records;
  std::uint32_t last = kNoRecord;
  Record record;
  for (;;) {
    const auto found = (*reader)->next(record);
    require(found.ok());
    if (!*found) break;
    back += record.bytes;
    back += record.end;
    std::string buffer;
    const std::string& payload = kept.emplace_back(carry(record, buffer).payload);
    StoredRecord stored;
    stored.id = kept.emplace_back(record.id);
    stored.kind = kept.emplace_back(record.kind);
    stored.payload = understood(payload, kept);
    stored.parent = record.is_fact ? kNoRecord : last;
    if ((*reader)->is_whole()) stored.place = static_cast<std::uint32_t>(records.size());
    records.push_back(stored);
    if (!record.is_fact) last = static_cast<std::uint32_t>(records.size() - 1);
    if ((*reader)->outline().in_base) (*reader)->outline().in_base(stored.payload);
  }
  require(back == text);
  fuzz_understanding(dialect, records);
}

}  // namespace quipu::dialect
