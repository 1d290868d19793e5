#include "backend/file/new_log.h"

#include "base/try.h"
#include "log/seal.h"
#include "quipu/limits.h"

namespace quipu::file {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{256} << 10;
constexpr std::size_t kUsualLines = 128;

}  // namespace

Result<std::unique_ptr<FileNewLog>> FileNewLog::begin(fs::Fs& fs, const std::string& directory,
                                                      const std::string& session_id) {
  TRY_ASSIGN(auto file, fs.create_unnamed(directory));
  return std::unique_ptr<FileNewLog>(new FileNewLog(std::move(file), session_id));
}

FileNewLog::FileNewLog(std::unique_ptr<fs::File> file, const std::string& session_id)
    : NewLog(session_id), file_(std::move(file)), chain_(log::chain_seed(session_id)) {
  lines_.reserve(kWriteBytes);
  ends_.reserve(kUsualLines);
}

Result<void> FileNewLog::add(const EntryParts& entry) {
  append_entry_json(lines_, entry);
  return end_line();
}

Result<void> FileNewLog::add(std::string_view entry) {
  lines_ += entry;
  return end_line();
}

// The seal comes before the final brace.
Result<void> FileNewLog::end_line() {
  lines_.pop_back();
  log::append_unsealed(lines_, {});
  ends_.push_back(lines_.size());
  if (lines_.size() < kWriteBytes && ends_.size() < kBatchEntriesMax) return {};
  return write();
}

Result<void> FileNewLog::write() {
  std::size_t start = 0;
  auto remaining = static_cast<std::uint32_t>(ends_.size());
  for (const std::size_t end : ends_) {
    chain_ = log::write_seal(lines_.data() + start, end - start, --remaining, chain_);
    start = end;
  }
  TRY(fs::append_all(*file_, lines_));
  lines_.clear();
  ends_.clear();
  return {};
}

Result<void> FileNewLog::finish() {
  TRY(write());
  lines_.shrink_to_fit();
  ends_.shrink_to_fit();
  return {};
}

}  // namespace quipu::file
