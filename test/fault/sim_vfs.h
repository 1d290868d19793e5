// SimVfs: SQLite's way to a simulated disk, as the one that it comes with is to the operating
// system.
//
// Every read, write, truncation, sync, look and removal is a call of the Fs, so it can be the last
// one before a crash, fail, or be short; what SQLite makes of it is what its unix VFS would: it
// goes on after short writes, ENOSPC is SQLITE_FULL, and a directory that cannot be synced is no
// error. Locks and the index of the write-ahead log are in memory, shared between the connections
// of this object, which is one process, and end with it.
//
// Thread-safety: one thread.
#pragma once

#include <memory>

#include "fs/fs.h"

namespace quipu::fault {

class SimVfs {
 public:
  explicit SimVfs(std::shared_ptr<fs::Fs> fs);
  /// After the last connection.
  ~SimVfs();
  SimVfs(const SimVfs&) = delete;
  SimVfs& operator=(const SimVfs&) = delete;

  /// For ConnectionOptions::vfs.
  const char* name() const;

 private:
  struct Registered;
  std::unique_ptr<Registered> registered_;
};

}  // namespace quipu::fault
