// Attachments in a file store: attachments/<sha256>, one plain file each.
//
// Order of an attachment's making: bytes, sync, name, sync of the directory. So
// a name never stands for bytes that a power cut could take, and a crash at any
// point leaves a whole attachment or none.
#pragma once

#include "backend/attachment.h"
#include "base/mutex.h"
#include "fs/fs.h"

namespace quipu::file {

class FileAttachments : public AttachmentStore {
 public:
  explicit FileAttachments(fs::Fs& fs) : fs_(fs) {}

  Result<std::unique_ptr<AttachmentSink>> create() override;
  Result<std::unique_ptr<AttachmentSource>> open(const std::string& sha256) override;
  Result<AttachmentFacts> facts(const std::string& sha256) override;
  Result<std::vector<AttachmentFacts>> list() override;
  Result<void> set_aside(const std::string& sha256) override;

 private:
  Result<void> make_directory();

  fs::Fs& fs_;
  Mutex mutex_;
  bool directory_made_ GUARDED_BY(mutex_) = false;
};

}  // namespace quipu::file
