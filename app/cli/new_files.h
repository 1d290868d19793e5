// NewFiles: files that are written whole or not at all, and never over others.
//
// Each is written under another name beside its own; `finish` gives them their names,
// when none of these is taken by a file that says something else. What was not finished
// is removed.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/result.h"

namespace quipu::cli {

class NewFiles {
 public:
  NewFiles() = default;
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles();

  /// The next bytes of the file. Directories are made.
  Result<void> write(const std::string& path, std::string_view bytes);
  /// `id_conflict` when one of them exists with other bytes: then none is made.
  Result<void> finish();

  /// In the order in which they were begun.
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Open {
    std::unique_ptr<std::FILE, Close> file;
    std::string beside;  // its name until then
  };
  Result<void> begin(const std::string& path, Open& open);

  std::map<std::string, Open> open_;
  std::vector<std::string> paths_;
};

/// Whether a relative path stays below the directory that it is relative to: names come
/// from what was imported.
bool is_below(const std::string& path);

}  // namespace quipu::cli
