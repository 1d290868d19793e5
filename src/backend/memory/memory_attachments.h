// Attachments of the memory: backend.
#pragma once

#include <map>

#include "backend/attachment.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace quipu::memory {

class MemoryAttachments : public AttachmentStore {
 public:
  explicit MemoryAttachments(Clock& clock) : clock_(clock) {}

  Result<std::unique_ptr<AttachmentSink>> create() override;
  Result<std::unique_ptr<AttachmentSource>> open(const std::string& sha256) override;
  Result<AttachmentFacts> facts(const std::string& sha256) override;
  Result<std::vector<AttachmentFacts>> list() override;
  Result<void> set_aside(const std::string& sha256) override;

  Result<void> add(const std::string& sha256, std::string bytes);

 private:
  struct Stored {
    std::shared_ptr<const std::string> bytes;
    std::int64_t modified_ms = 0;
  };

  Clock& clock_;
  Mutex mutex_;
  std::map<std::string, Stored> all_ GUARDED_BY(mutex_);
};

}  // namespace quipu::memory
