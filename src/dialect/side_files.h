// SideFiles: a source that is more than its first file. After the records of the
// first come the others, each whole, as one fact of kind "file", or of the kind that
// the dialect gives it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/reader.h"

namespace quipu::dialect {

class SideFiles : public Reader {
 public:
  /// `first` reads the first of `source.files`; this reads the rest. Both `source`
  /// and `files` must outlive it. `kind_of`: the kind of a file by its `file_name`.
  using KindOf = std::function<std::string(std::string_view name)>;
  /// `part_of`: what of a file that sessions share belongs to this one, as a file by
  /// itself; empty: no record. Nothing: all of it does.
  using PartOf = std::function<std::optional<std::string>(std::string_view name)>;
  SideFiles(std::unique_ptr<Reader> first, const Source& source, fs::HostFiles& files,
            KindOf kind_of = {}, PartOf part_of = {});

  const Outline& outline() const override { return first_->outline(); }
  Result<bool> next(Record& record) override;
  ReadPosition position() const override { return first_->position(); }
  std::string_view before_position(std::size_t bytes) const override {
    return first_->before_position(bytes);
  }
  bool is_whole() const override { return first_->is_whole(); }

 private:
  Result<void> read_file(Record& record);

  std::unique_ptr<Reader> first_;
  const Source& source_;
  fs::HostFiles& files_;
  KindOf kind_of_;
  PartOf part_of_;
  std::uint32_t at_ = 0;
  std::string text_;
};

/// Adds the regular files below a directory, sorted; links are not followed. None when
/// there is no such directory.
Result<void> add_files_below(const std::string& directory, fs::HostFiles& files,
                             std::vector<std::string>& found);

}  // namespace quipu::dialect
