// SessionNames: which of several sources that say they are the same session gets
// that session's name: the first in the order of the sources, whichever thread is
// faster. So the same sources give the same sessions.
//
// A source asks when it knows its session, and waits until all before it have asked
// or need no name (`pass`). Sources are begun in their order, so somebody always goes on.
//
// Thread-safety: every call from every thread.
#pragma once

#include <condition_variable>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace quipu::exchange {

enum class NameClaim : unsigned char {
  kGranted,
  kRefused,  // it is another source's
  kShared,   // it is another source's, which is a copy of the same file
};

class SessionNames {
 public:
  /// Of so many sources, which are called by their place among them.
  explicit SessionNames(std::size_t sources) : passed_(sources) {}

  /// `file`: what the source is called wherever it lies.
  NameClaim claim(std::size_t source, const std::string& session_id, const std::string& file);
  /// The source needs no name, or has it. May be said again.
  void pass(std::size_t source);

 private:
  struct Owner {
    std::size_t source = 0;
    std::string file;
  };

  Mutex mutex_;
  std::condition_variable_any moved_;
  std::vector<bool> passed_ GUARDED_BY(mutex_);
  std::size_t next_ GUARDED_BY(mutex_) = 0;  // all before it have passed
  int waiting_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, Owner> owners_ GUARDED_BY(mutex_);
};

}  // namespace quipu::exchange
