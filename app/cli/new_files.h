// NewFiles: files that are written whole or not at all, and never over others.
//
// Each is written under another name beside its own; `finish` gives them their names,
// when none of these is taken by a file that says something else. What was not finished
// is removed.
//
// An index that other programs write too may be replaced by one that says more, when it still
// says what it did.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "quipu/export.h"
#include "quipu/result.h"

namespace quipu::cli {

class NewFiles {
 public:
  NewFiles() = default;
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles();

  /// The next bytes of the file. Directories are made. Both are for their owner alone.
  Result<void> write(const std::string& path, std::string_view bytes);
  /// Another version of a file that is there; its permissions stay.
  Result<void> replace(const ExportedIndex& index);
  /// `id_conflict` when one of them exists with other bytes, `busy` when one that is to be
  /// replaced is being written or has changed: then none is made.
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
  /// A file that is to be replaced: the one that a link names.
  struct Replaced {
    std::string path;
    std::string beside;
    std::string before;
    std::string lock;
    bool is_locked = false;
  };
  Result<void> begin(const std::string& path, Open& open);
  static Result<void> lock(Replaced& replaced);

  std::map<std::string, Open> open_;
  std::vector<Replaced> replaced_;
  std::vector<std::string> paths_;
};

}  // namespace quipu::cli
