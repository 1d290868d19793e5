// SideFiles: a source that is more than its first file. After the records of the
// first come the others, each whole, as one fact of kind "file", or of the kind that
// the dialect gives it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "dialect/reader.h"

namespace quipu::dialect {

class SideFiles : public Reader {
 public:
  /// `first` reads the first of `source.files`; this reads the rest. Both `source`
  /// and `files` must outlive it. `kind_of`: the kind of a file by its `file_name`.
  using KindOf = std::function<std::string(std::string_view name)>;
  SideFiles(std::unique_ptr<Reader> first, const Source& source, fs::HostFiles& files,
            KindOf kind_of = {});

  const Outline& outline() const override { return first_->outline(); }
  Result<bool> next(Record& record) override;
  ReadPosition position() const override { return first_->position(); }
  bool is_whole() const override { return first_->is_whole(); }

 private:
  std::unique_ptr<Reader> first_;
  const Source& source_;
  fs::HostFiles& files_;
  KindOf kind_of_;
  std::uint32_t at_ = 0;
  std::string text_;
};

}  // namespace quipu::dialect
