#include "dialect/side_files.h"

#include "base/try.h"

namespace quipu::dialect {

SideFiles::SideFiles(std::unique_ptr<Reader> first, const Source& source, fs::HostFiles& files,
                     KindOf kind_of)
    : first_(std::move(first)), source_(source), files_(files), kind_of_(std::move(kind_of)) {}

Result<bool> SideFiles::next(Record& record) {
  if (at_ == 0) {
    TRY_ASSIGN(const bool found, first_->next(record));
    if (found) return true;
  }
  if (++at_ >= source_.files.size()) return false;
  record = Record();
  record.file = at_;
  const std::string name = file_name(source_, at_);
  record.kind = kind_of_ ? kind_of_(name) : "file";
  record.is_fact = true;
  record.end = {};
  record.id = "file:" + name;
  TRY_ASSIGN(const auto file, files_.open(source_.files[at_]));
  TRY_ASSIGN(const fs::HostStat stat, file->stat());
  if (stat.size > kRecordBytesMax / 2) {  // as text it may be twice as long
    record.large_size = stat.size;
    return true;
  }
  text_.resize(stat.size);
  TRY_ASSIGN(const std::size_t got, file->read_at(std::span(text_), 0));
  text_.resize(got);
  record.bytes = text_;
  return true;
}

}  // namespace quipu::dialect
