// HostWatch: says what changes in the user's own files, without looking at all of them
// again and again.
//
// Thread-safety: one thread at a time.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "quipu/result.h"

namespace quipu::fs {

/// What changed. A path may be named though nothing happened to it.
struct HostChanges {
  std::vector<std::string> files;  // written, made or moved to there
  /// More has changed than is said here: look at everything.
  bool missed = false;
};

class HostWatch {
 public:
  virtual ~HostWatch() = default;

  /// Watches a directory with all that are in it or come into it later; links are not
  /// followed. Again for one that is watched already changes nothing. `busy` when the
  /// system watches as much as it can.
  virtual Result<void> add(const std::string& directory) = 0;

  /// Waits until something changes, a signal comes or the time is over.
  virtual Result<HostChanges> wait(std::chrono::milliseconds time) = 0;
};

}  // namespace quipu::fs
