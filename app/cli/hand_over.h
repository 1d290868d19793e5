// HandOver: files that an agent's own program takes in, as `opencode import FILE` does.
//
// They wait in a directory that nobody else can look into, and that is gone with this.
#pragma once

#include <string>
#include <vector>

#include "quipu/export.h"
#include "quipu/result.h"

namespace quipu::cli {

class HandOver {
 public:
  HandOver() = default;
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;
  ~HandOver();

  /// Where the next file is to be written. Its name says nothing of the session, so that the
  /// program does not name that when it speaks of a file which it could not read.
  Result<std::string> next_path();

  /// Runs the command for each of the files (`ExportReport::taken_in_by`). `not_found` when
  /// there is no such program, `io_error` with what it said when it failed or did not name the
  /// session. Ctrl-C ends it.
  Result<void> run(const ExportReport& report) const;

 private:
  Result<void> run(const std::string& program, const std::vector<std::string>& words,
                   const ExportReport& report) const;

  std::string directory_;  // empty: none was needed yet
  std::vector<std::string> paths_;
};

}  // namespace quipu::cli
