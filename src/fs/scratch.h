// Scratch: files of our own for a short while, such as a copy of a file that must not
// be touched. They have no names while they are filled, names for the moment in which
// somebody opens them, and then none again: whatever ends the process, nothing is left.
//
// In TMPDIR, else /var/tmp, else /tmp; where the file system has no files without names,
// they have theirs from the beginning.
//
// Thread-safety: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "quipu/result.h"

namespace quipu::fs {

class Scratch {
 public:
  /// `no_space`, `not_allowed` … when there is no place that takes files.
  static Result<Scratch> make();
  Scratch(Scratch&&) noexcept;
  Scratch& operator=(Scratch&&) noexcept;
  ~Scratch();

  /// Adds to the end of a file, which is made with its first bytes, or with none.
  Result<void> append(const std::string& name, std::string_view bytes);

  /// The files have their names now, in the directory that this answers.
  Result<std::string> show();
  /// The names are gone, and those of files that were made beside them. What is open
  /// stays open.
  void hide();

 private:
  struct Files;
  explicit Scratch(std::unique_ptr<Files> files);
  std::unique_ptr<Files> files_;
};

}  // namespace quipu::fs
