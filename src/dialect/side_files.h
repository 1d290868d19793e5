// SideFiles: a source that is more than its first file. After the records of the
// first come the others, each whole, as one fact of kind "file".
#pragma once

#include <memory>

#include "dialect/reader.h"

namespace quipu::dialect {

class SideFiles : public Reader {
 public:
  /// `first` reads the first of `source.files`; this reads the rest. Both `source`
  /// and `files` must outlive it.
  SideFiles(std::unique_ptr<Reader> first, const Source& source, fs::HostFiles& files);

  const Outline& outline() const override { return first_->outline(); }
  Result<bool> next(Record& record) override;
  ReadPosition position() const override { return first_->position(); }
  bool is_whole() const override { return first_->is_whole(); }

 private:
  std::unique_ptr<Reader> first_;
  const Source& source_;
  fs::HostFiles& files_;
  std::uint32_t at_ = 0;
  std::string text_;
};

}  // namespace quipu::dialect
