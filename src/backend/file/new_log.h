// FileNewLog: a log file without a name, filled entry by entry.
//
// Each entry is rendered where it will be sealed and written from, so that its bytes
// are copied once. Lines are sealed when as many are together as are written at a time:
// a small log is one batch, a large one several. Nobody sees them before the file gets
// its name, whole and durable, so it does not matter where one batch ends.
//
// Memory: what is written at a time, and nothing once the log is finished.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "fs/fs.h"

namespace quipu::file {

class FileNewLog final : public NewLog {
 public:
  /// A file in `directory`. Nothing is synced.
  static Result<std::unique_ptr<FileNewLog>> begin(fs::Fs& fs, const std::string& directory,
                                                   const std::string& session_id);

  Result<void> add(const EntryParts& entry) override;
  /// A complete JSON object.
  Result<void> add(std::string_view entry);
  Result<void> finish() override;

  /// Of a log that is finished: its file, which is all that is left of it.
  std::unique_ptr<fs::File> take_file() { return std::move(file_); }

 private:
  FileNewLog(std::unique_ptr<fs::File> file, const std::string& session_id);

  Result<void> end_line();
  Result<void> write();

  std::unique_ptr<fs::File> file_;
  std::uint32_t chain_;
  std::string lines_;              // with room for their seals
  std::vector<std::size_t> ends_;  // of each of them
};

}  // namespace quipu::file
