// A store in a SQLite file on a simulated disk, and the judge of what a crash or a failed call
// has left of it.
#pragma once

#include <memory>
#include <string>

#include "backend/sql/sql_backend.h"
#include "fault/crash_judge.h"
#include "fault/sim_vfs.h"
#include "fs/sim_fs.h"

namespace quipu::fault {

inline constexpr const char* kDatabase = "store.db";
/// Larger than anything that the tests write into one file.
inline constexpr std::size_t kDatabaseBytesMax = 1 << 20;

/// One process with the store open.
class SqliteProcess {
 public:
  SqliteProcess(std::shared_ptr<fs::Fs> fs, std::uint64_t seed)
      : fs_(std::move(fs)), vfs_(fs_), handle_(seed) {}

  Result<void> open(bool create = false);
  Handle& handle() { return handle_; }
  /// Takes the write-ahead log in, and goes on.
  Result<void> tidy() { return handle_.store().backend()->close(); }

  /// What is stored for other programs must fit the entries, and the file must be one that
  /// SQLite has nothing to say against.
  Complaint check_tables();

 private:
  std::shared_ptr<fs::Fs> fs_;
  SimVfs vfs_;
  Handle handle_;
};

/// As recover_and_judge for files: opens the store, reads everything, repeats the call that was
/// running, appends one more batch, and looks at everything again.
Complaint recover_database(fs::SimDisk& disk, Oracle& oracle, int level, CallObserver* observer);

/// SQLite's random numbers, which are in its files, from here on; `seed` is not 0.
void seed_sqlite(int seed);

}  // namespace quipu::fault
