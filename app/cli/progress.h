// A sign of life on stderr for anything that takes longer than a second.
//
// On a terminal a bar that is redrawn and vanishes at the end; elsewhere one
// line for every tenth, and nothing at all for what is done within a second.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "cli/terminal.h"

namespace quipu::cli {

/// The bar's text at one moment; `total` 0: unknown.
std::string progress_line(std::string_view what, std::uint64_t done, std::uint64_t total,
                          std::chrono::milliseconds elapsed, std::size_t width);

class Progress {
 public:
  /// `what` must be safe for a terminal. `enabled` false: does nothing.
  Progress(bool enabled, const Terminal& err, std::string what, std::uint64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void set(std::uint64_t done);

 private:
  using SteadyClock = std::chrono::steady_clock;

  void redraw_until_stopped();

  const Terminal terminal_;
  const std::string what_;
  const std::uint64_t total_;
  const SteadyClock::time_point start_ = SteadyClock::now();
  const bool enabled_;
  unsigned tenths_ = 0;  // printed, off a terminal

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::uint64_t done_ = 0;
  bool stopped_ = false;
  std::thread drawer_;
};

}  // namespace quipu::cli
