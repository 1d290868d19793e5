// Attachments in a database. The bytes come in chunks under a name of their own, the
// upload; the attachment's row points at it, so a name never stands for bytes that are not
// all there. What an upload that was never finished leaves is bytes without a row.
#pragma once

#include "backend/attachment.h"
#include "base/clock.h"
#include "sql/pool.h"

namespace quipu::sqlstore {

class SqlAttachments : public AttachmentStore {
 public:
  SqlAttachments(sql::Pool& pool, Clock& clock, Random& random)
      : pool_(pool), clock_(clock), random_(random) {}

  Result<std::unique_ptr<AttachmentSink>> create() override;
  Result<std::unique_ptr<AttachmentSource>> open(const std::string& sha256) override;
  Result<AttachmentFacts> facts(const std::string& sha256) override;
  Result<std::vector<AttachmentFacts>> list() override;
  Result<void> set_aside(const std::string& sha256) override;

 private:
  sql::Pool& pool_;
  Clock& clock_;
  Random& random_;
};

}  // namespace quipu::sqlstore
