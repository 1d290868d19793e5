#include "dialect/side_files.h"

#include "base/try.h"

namespace quipu::dialect {

namespace {

constexpr int kDirectoryDepthMax = 8;

Result<void> add_below(const std::string& directory, fs::HostFiles& files, int depth,
                       std::vector<std::string>& found) {
  TRY_ASSIGN(const auto names, files.list(directory));
  for (const fs::HostName& name : names) {
    const std::string path = directory + "/" + name.name;
    if (name.kind == fs::HostKind::kFile) found.push_back(path);
    if (name.kind == fs::HostKind::kDirectory && depth < kDirectoryDepthMax) {
      TRY(add_below(path, files, depth + 1, found));
    }
  }
  return {};
}

}  // namespace

SideFiles::SideFiles(std::unique_ptr<Reader> first, const Source& source, fs::HostFiles& files,
                     KindOf kind_of, PartOf part_of)
    : first_(std::move(first)),
      source_(source),
      files_(files),
      kind_of_(std::move(kind_of)),
      part_of_(std::move(part_of)) {}

Result<bool> SideFiles::next(Record& record) {
  if (at_ == 0) {
    TRY_ASSIGN(const bool found, first_->next(record));
    if (found) return true;
  }
  while (++at_ < source_.files.size()) {
    record = Record();
    record.file = at_;
    const std::string name = file_name(source_, at_);
    record.kind = kind_of_ ? kind_of_(name) : "file";
    record.is_fact = true;
    record.end = {};
    record.id = "file:" + name;
    auto part = part_of_ ? part_of_(name) : std::nullopt;
    if (!part) {
      TRY(read_file(record));
      return true;
    }
    if (part->empty()) continue;
    text_ = std::move(*part);
    record.bytes = text_;
    return true;
  }
  return false;
}

Result<void> SideFiles::read_file(Record& record) {
  TRY_ASSIGN(const auto file, files_.open(source_.files[at_]));
  const fs::HostStat stat = file->stat();
  if (stat.size > kRecordBytesMax / 2) {  // as text it may be twice as long
    record.large_size = stat.size;
    return {};
  }
  text_.resize(stat.size);
  TRY_ASSIGN(const std::size_t got, file->read_at(std::span(text_), 0));
  text_.resize(got);
  record.bytes = text_;
  return {};
}

Result<void> add_files_below(const std::string& directory, fs::HostFiles& files,
                             std::vector<std::string>& found) {
  if (!files.exists(directory)) return {};
  return add_below(directory, files, 0, found);
}

}  // namespace quipu::dialect
