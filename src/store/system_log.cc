#include "store/system_log.h"

#include "base/try.h"
#include "store/header_entry.h"

namespace quipu {

Result<std::shared_ptr<const Lineage>> SystemLog::read() const {
  auto lineage = backend_->lineage(id_);
  if (!lineage.ok() && lineage.error().code() == Code::kNotFound) {
    return std::shared_ptr<const Lineage>();
  }
  return lineage;
}

Result<void> SystemLog::append(std::span<const NewEntry> entries,
                               const std::optional<std::string>& expected_tail) const {
  TRY_ASSIGN(const Batch batch, admit_entries(entries, backend_->filler()));
  AppendOptions options;
  options.expected_tail = expected_tail;
  auto stored = backend_->append(id_, batch, options);
  if (!stored.ok() && stored.error().code() == Code::kNotFound) {
    SessionHeader header;
    header.version = kSchemaVersion;
    header.session_id = id_;
    const std::string first = header_entry(header, backend_->filler());
    auto made = backend_->create(id_, {&first, 1});
    // Somebody else may have been faster.
    if (!made.ok() && made.error().code() != Code::kIdConflict) return std::move(made).error();
    stored = backend_->append(id_, batch, options);
  }
  if (!stored.ok()) return std::move(stored).error();
  return {};
}

}  // namespace quipu
