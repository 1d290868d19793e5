// A machine's files as a test wants them: in memory.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "fs/host_files.h"

namespace quipu {

class MemoryHost : public fs::HostFiles {
 public:
  std::map<std::string, std::string> files;  // by absolute path

  bool exists(const std::string& path) override;
  Result<std::string> read(const std::string& path, std::size_t bytes_max) override;
  std::vector<std::string> shared_places() override { return {"/"}; }
  Result<fs::HostStat> stat(const std::string& path) override;
  Result<std::vector<fs::HostName>> list(const std::string& path) override;
  Result<std::unique_ptr<fs::HostFile>> open(const std::string& path) override;

  /// What happens while somebody waits for changes, one after the other: changes `files`
  /// and says what it did.
  std::vector<std::function<fs::HostChanges()>> happenings;
  std::size_t happened = 0;
  std::set<std::string> watched;  // directories
  Result<std::unique_ptr<fs::HostWatch>> watch() override;
};

}  // namespace quipu
