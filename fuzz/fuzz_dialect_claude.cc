// Any bytes as a file of Claude's: it is read to its end, byte for byte, and whatever
// is in it can be understood.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_scan.h"
#include "dialect/carry.h"
#include "dialect/claude/claude.h"

namespace {

using namespace quipu;
using namespace quipu::dialect;

void require(bool condition) {
  if (!condition) std::abort();
}

class OneFile final : public fs::HostFile {
 public:
  explicit OneFile(std::string_view text) : text_(text) {}
  Result<fs::HostStat> stat() override {
    fs::HostStat stat;
    stat.kind = fs::HostKind::kFile;
    stat.size = text_.size();
    return stat;
  }
  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override {
    if (offset >= text_.size()) return std::size_t{0};
    const std::string_view rest = text_.substr(offset, into.size());
    std::memcpy(into.data(), rest.data(), rest.size());
    return rest.size();
  }

 private:
  std::string_view text_;
};

class OneHost final : public fs::HostFiles {
 public:
  explicit OneHost(std::string_view text) : text_(text) {}
  bool exists(const std::string&) override { return false; }
  Result<std::string> read(const std::string&, std::size_t bytes_max) override {
    return std::string(text_.substr(0, bytes_max));
  }
  Result<std::unique_ptr<fs::HostFile>> open(const std::string&) override {
    return std::unique_ptr<fs::HostFile>(std::make_unique<OneFile>(text_));
  }

 private:
  std::string_view text_;
};

void understand(const Dialect& claude, const std::vector<StoredRecord>& records) {
  for (const StoredRecord& record : records) {
    require(json::validate(record.payload).ok());
    Lifted lifted;
    Note note;
    claude.lift(record.kind, record.payload, lifted);
    claude.note(record.kind, record.payload, note);
    for (const PartView& part : lifted.all_parts()) {
      for (const std::string_view value : {part.text, part.content, part.data, part.input}) {
        require(value.empty() || json::validate(value).ok());
      }
    }
  }
  const auto count = static_cast<std::uint32_t>(records.size());
  for (std::uint32_t at = 0; at < count && at < 32; ++at) {
    for (const Pick& pick : claude.conversation(records, at)) {
      require(pick.record < count);
      require(pick.payload.empty() || json::validate(pick.payload).ok());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const claude::Claude claude;
  claude.recognises("/p/x.jsonl", text);
  OneHost host(text);
  const Source source{.agent = "claude", .path = "/p/x.jsonl", .part = {}, .files = {"/p/x.jsonl"}};
  const auto reader = claude.open(source, host, {});
  require(reader.ok());
  std::string back;
  std::deque<std::string> kept;
  std::vector<StoredRecord> records;
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
    records.push_back(stored);
  }
  require(back == text);
  understand(claude, records);
  return 0;
}
