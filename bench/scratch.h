// A directory for the data of one run, in the current directory (so on a real
// disk, if that is where the benchmark is started) and gone afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace quipu::bench {

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Whether the data lies in memory, where durable rows mean nothing.
  bool in_memory() const;
  /// Writes everything back, so that no row pays for an earlier one's data.
  void settle() const;

 private:
  std::filesystem::path path_;
};

}  // namespace quipu::bench
