// ListedFiles: a look at files by somebody who has just listed a directory. Whether something
// is there beside a file of it, most often not, needs no call then.
//
// Thread-safety: one thread, but for what it passes on.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "fs/host_files.h"

namespace quipu::exchange {

class ListedFiles final : public fs::HostFiles {
 public:
  explicit ListedFiles(fs::HostFiles& files) : files_(files) {}

  /// What is in this directory; both outlive the calls that follow. `names` are sorted, as
  /// `list` gives them.
  void listed(const std::string& directory, const std::vector<fs::HostName>& names) {
    directory_ = &directory;
    names_ = &names;
  }

  bool exists(const std::string& path) override {
    const std::size_t slash = path.rfind('/');
    const bool is_listed = directory_ != nullptr && slash == directory_->size() &&
                           path.compare(0, slash, *directory_) == 0;
    if (!is_listed) return files_.exists(path);
    const auto name = std::string_view(path).substr(slash + 1);
    const auto found = std::lower_bound(
        names_->begin(), names_->end(), name,
        [](const fs::HostName& one, std::string_view other) { return one.name < other; });
    // A link may lead to nothing.
    return found != names_->end() && found->name == name && files_.exists(path);
  }

  Result<std::string> read(const std::string& path, std::size_t bytes_max) override {
    return files_.read(path, bytes_max);
  }
  Result<fs::HostStat> stat(const std::string& path) override { return files_.stat(path); }
  Result<std::vector<fs::HostName>> list(const std::string& path) override {
    return files_.list(path);
  }
  Result<std::unique_ptr<fs::HostFile>> open(const std::string& path) override {
    return files_.open(path);
  }
  Made made_of(const std::string& path, std::size_t bytes_max,
               const std::function<Made(std::string text)>& make) override {
    return files_.made_of(path, bytes_max, make);
  }
  std::vector<std::string> shared_places() override { return files_.shared_places(); }

 private:
  fs::HostFiles& files_;
  const std::string* directory_ = nullptr;
  const std::vector<fs::HostName>* names_ = nullptr;
};

}  // namespace quipu::exchange
