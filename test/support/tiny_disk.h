// A file system of a given size, to see what happens when it is full.
//
// Mounting needs root or a user namespace of our own. Where neither is to be had the constructor
// throws, and the test fails with a message that says so. The mount is seen by the thread that made
// the first TinyDisk and by what that thread starts afterwards, processes included; so it is gone
// with them, however they end. Without root there must be no other thread then.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace quipu::test {

class TinyDisk {
 public:
  /// Mounted over the empty directory `path`, with a root directory for child processes
  /// (`give_to_children`).
  TinyDisk(std::string path, std::uint64_t bytes);
  ~TinyDisk();
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;

  void resize(std::uint64_t bytes);

 private:
  const std::string path_;
  const pid_t owner_;  // a forked copy of the process unmounts nothing
};

}  // namespace quipu::test
