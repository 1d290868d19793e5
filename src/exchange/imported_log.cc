#include "exchange/imported_log.h"

#include "backend/backend.h"
#include "base/time_text.h"
#include "base/try.h"
#include "base/uuid.h"

namespace quipu::exchange {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;
constexpr std::size_t kEntries = 4096;

}  // namespace

void ImportedLog::begin(std::string session_id, bool is_new) {
  session_id_ = std::move(session_id);
  is_unmade_ = is_new;
}

void ImportedLog::add(EntryParts parts) {
  const Filler filler = store_.backend()->filler();
  std::string id;
  std::string now;
  if (parts.id.empty()) parts.id = id = uuid_v7(filler.clock.unix_ms(), filler.random);
  if (parts.timestamp.empty()) parts.timestamp = now = format_timestamp(filler.clock.unix_ms());
  std::string entry;
  append_entry_json(entry, parts);
  pending_bytes_ += entry.size();
  pending_.push_back(std::move(entry));
}

bool ImportedLog::is_full() const {
  return pending_bytes_ >= kBytes || pending_.size() >= kEntries;
}

Result<void> ImportedLog::flush() {
  if (pending_.empty()) return {};
  if (is_unmade_) {
    TRY(store_.backend()->create(session_id_, pending_));
    is_unmade_ = false;
  } else {
    const std::vector<std::string_view> lines(pending_.begin(), pending_.end());
    AppendOptions options;
    options.durability = Durability::kRelaxed;
    TRY(store_.sessions().append_session_lines(session_id_, lines, options));
  }
  pending_.clear();
  pending_bytes_ = 0;
  return {};
}

Result<void> ImportedLog::settle() { return store_.backend()->settle(session_id_); }

}  // namespace quipu::exchange
