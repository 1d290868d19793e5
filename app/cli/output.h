// Standard output: buffered, and with errors that are not lost.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal.h"
#include "quipu/result.h"

namespace quipu::cli {

class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}

  /// Set before the first write.
  void set_terminal(const Terminal& terminal) { terminal_ = terminal; }
  const Terminal& terminal() const { return terminal_; }

  /// Text that is safe for a terminal already.
  void text(std::string_view safe) { put(safe); }
  void line(std::string_view safe);
  /// Data for programs: into a pipe or file as it is, made safe on a terminal.
  void data_line(std::string_view data);

  /// Everything written so far has reached the other end. The first failure
  /// sticks: what is written after it goes nowhere.
  Result<void> flush();
  /// Nobody reads any more, so a long loop may stop.
  bool failed() const { return error_ != 0; }

  /// From now on the other end is a pager: that it is left before the end of
  /// the text is no error.
  void set_reader_may_leave() { reader_may_leave_ = true; }

 private:
  void put(std::string_view bytes);
  void drain();

  int fd_;
  Terminal terminal_;
  std::string buffer_;
  int error_ = 0;
  bool reader_may_leave_ = false;
};

}  // namespace quipu::cli
