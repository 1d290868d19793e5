// ExportTarget: where the files of an export go.
//
// They have names that their agent gives them, and get the paths that were asked for: by
// themselves, below a directory, or where the agent looks on this machine. Of an index that
// all sessions share (`Dialect::index_name`) an export has the part of one; where there is
// such a file already, the part is added to it, and the caller is told what it has to say then.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dialect/dialect.h"
#include "quipu/export.h"

namespace quipu::exchange {

class ExportTarget {
 public:
  /// `cwd`: where the session began. Everything must outlive this.
  ExportTarget(const dialect::Dialect& dialect, const dialect::Machine& machine,
               const ExportOptions& options, std::string cwd, const ExportSink& sink);

  /// The next bytes of a file; files may come in turns.
  Result<void> write(const std::string& name, std::string_view bytes);
  /// Behind the last file: says in the report what was written.
  Result<void> finish(ExportReport& report);

 private:
  Result<std::string> path_of(const std::string& name) const;
  bool is_index(const std::string& name) const;
  Result<void> pass(const std::string& name, std::string_view bytes);

  const dialect::Dialect& dialect_;
  const dialect::Machine& machine_;
  const ExportOptions& options_;
  const std::string cwd_;
  const ExportSink& sink_;
  std::unordered_map<std::string, std::string> by_name_;  // paths
  std::vector<std::string> paths_;                        // as they came
  std::string index_;                                     // its name; empty: none came
  std::string part_;
};

}  // namespace quipu::exchange
