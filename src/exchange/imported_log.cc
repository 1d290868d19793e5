#include "exchange/imported_log.h"

#include "base/time_text.h"
#include "base/try.h"
#include "base/uuid.h"

namespace quipu::exchange {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;
constexpr std::size_t kEntries = 4096;

}  // namespace

Result<void> ImportedLog::begin(std::string session_id, bool is_new) {
  session_id_ = std::move(session_id);
  if (!is_new) return {};
  TRY_ASSIGN(new_, store_.backend()->new_log(session_id_));
  return {};
}

Result<void> ImportedLog::add(EntryParts parts) {
  const Filler filler = store_.backend()->filler();
  std::string id;
  std::string now;
  if (parts.id.empty()) parts.id = id = uuid_v7(filler.clock.unix_ms(), filler.random);
  if (parts.timestamp.empty()) parts.timestamp = now = format_timestamp(filler.clock.unix_ms());
  if (new_ != nullptr) return new_->add(parts);
  append_entry_json(pending_.emplace_back(), parts);
  pending_bytes_ += pending_.back().size();
  return {};
}

bool ImportedLog::is_full() const {
  return pending_bytes_ >= kBytes || pending_.size() >= kEntries;
}

Result<void> ImportedLog::flush() {
  if (pending_.empty()) return {};
  const std::vector<std::string_view> lines(pending_.begin(), pending_.end());
  AppendOptions options;
  options.durability = Durability::kRelaxed;
  // Whoever imports the same source at the same moment makes the same entries.
  options.mode = AppendMode::kMerge;
  TRY(store_.sessions().append_session_lines(session_id_, lines, options));
  pending_.clear();
  pending_bytes_ = 0;
  return {};
}

Result<void> ImportedLog::settle() { return store_.backend()->settle(session_id_); }

Result<std::unique_ptr<NewLog>> ImportedLog::take_new() {
  TRY(new_->finish());
  return std::move(new_);
}

}  // namespace quipu::exchange
