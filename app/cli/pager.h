// Long output on a terminal goes through a pager.
#pragma once

#include <sys/types.h>

#include <string>

#include "cli/output.h"

namespace quipu::cli {

class Pager {
 public:
  /// The command: QUIPU_PAGER, PAGER, else `less -FRX` (which leaves at once
  /// when everything fits the screen) where it is installed. Empty: none.
  static std::string command();

  Pager() = default;
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  ~Pager() { finish(); }

  /// Puts a pager between `out` and the terminal. Without one, or when it
  /// cannot be started, nothing changes.
  void start(Output& out);
  /// Waits until the reader has left the pager.
  void finish();

 private:
  Output* out_ = nullptr;
  pid_t child_ = -1;
};

}  // namespace quipu::cli
