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

  /// Where a file of this name is to be written.
  Result<std::string> path_of(const std::string& name);

  /// Runs the command for each of the files (`ExportReport::taken_in_by`). `not_found` when
  /// there is no such program, `io_error` with what it said when it failed or did not name the
  /// session.
  Result<void> run(const ExportReport& report) const;

 private:
  Result<void> run(const std::vector<std::string>& words, const ExportReport& report) const;

  std::string directory_;  // empty: none was needed yet
};

}  // namespace quipu::cli
