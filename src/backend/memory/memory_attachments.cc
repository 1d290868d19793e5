#include "backend/memory/memory_attachments.h"

#include <algorithm>

namespace quipu::memory {
namespace {

class MemorySink : public AttachmentSink {
 public:
  explicit MemorySink(MemoryAttachments& store) : store_(store) {}
  Result<void> write(std::string_view bytes) override {
    bytes_ += bytes;
    return {};
  }
  Result<void> commit(const std::string& sha256) override {
    return store_.add(sha256, std::move(bytes_));
  }

 private:
  MemoryAttachments& store_;
  std::string bytes_;
};

class MemorySource : public AttachmentSource {
 public:
  explicit MemorySource(std::shared_ptr<const std::string> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_->size(); }
  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override {
    if (offset >= bytes_->size()) return std::size_t{0};
    return bytes_->copy(into.data(), into.size(), static_cast<std::size_t>(offset));
  }

 private:
  std::shared_ptr<const std::string> bytes_;
};

Error no_attachment(const std::string& sha256) {
  return {Code::kNotFound, "there is no attachment " + sha256};
}

}  // namespace

Result<void> MemoryAttachments::add(const std::string& sha256, std::string bytes) {
  MutexLock lock(mutex_);
  Stored stored{.bytes = std::make_shared<const std::string>(std::move(bytes)),
                .modified_ms = clock_.unix_ms()};
  if (all_.emplace(sha256, std::move(stored)).second) return {};
  return Error(Code::kIdConflict, "attachment " + sha256 + " exists already");
}

Result<std::unique_ptr<AttachmentSink>> MemoryAttachments::create() {
  return std::unique_ptr<AttachmentSink>(std::make_unique<MemorySink>(*this));
}

Result<std::unique_ptr<AttachmentSource>> MemoryAttachments::open(const std::string& sha256) {
  MutexLock lock(mutex_);
  const auto found = all_.find(sha256);
  if (found == all_.end()) return no_attachment(sha256);
  return std::unique_ptr<AttachmentSource>(std::make_unique<MemorySource>(found->second.bytes));
}

Result<AttachmentFacts> MemoryAttachments::facts(const std::string& sha256) {
  MutexLock lock(mutex_);
  const auto found = all_.find(sha256);
  if (found == all_.end()) return no_attachment(sha256);
  return AttachmentFacts{.sha256 = sha256,
                         .bytes = found->second.bytes->size(),
                         .modified_ms = found->second.modified_ms};
}

Result<std::vector<AttachmentFacts>> MemoryAttachments::list() {
  MutexLock lock(mutex_);
  std::vector<AttachmentFacts> all;
  for (const auto& [sha256, stored] : all_) {
    all.push_back(
        {.sha256 = sha256, .bytes = stored.bytes->size(), .modified_ms = stored.modified_ms});
  }
  return all;
}

Result<void> MemoryAttachments::set_aside(const std::string& sha256) {
  MutexLock lock(mutex_);
  all_.erase(sha256);
  return {};
}

}  // namespace quipu::memory
