// The state that a SimDisk and its processes share. Internal to src/fs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fs/fs.h"
#include "fs/sim_fault.h"
#include "fs/sim_inode.h"
#include "fs/sim_tree.h"

namespace quipu::fs::sim {

inline constexpr std::size_t kDefaultFileCapacity = 256 * 1024;
inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

struct Process {
  std::uint64_t number = 0;
  FaultState faults;
};

struct Lock {
  std::uint32_t slot;
  std::uint64_t byte;
  const void* holder;  // the open file
  const Process* process;
};

/// Everything but `mutex` is guarded by it; the functions require it.
struct Core {
  std::mutex mutex;
  Tree tree;
  std::vector<Inode> inodes;  // slots; a slot that is not live is free
  std::vector<Lock> locks;
  FaultState faults;
  std::uint64_t next_number = 1;
  std::uint64_t next_process = 1;
  std::uint64_t boot_id = 1;
  std::int64_t clock_ms = 0;
  std::size_t file_capacity = kDefaultFileCapacity;
  std::uint64_t capacity = kUnlimited;
  bool recording = false;
  bool orphans = false;  // a file may have lost its last name
  std::vector<CallRecord> records;

  Verdict enter(Process& process, SimCall call, std::string_view path);
  void leave(Process& process, const Verdict& verdict);
  void drop_locks(const Process& process);

  /// The directory of that path, as the processes see it.
  Result<std::uint32_t> directory(std::string_view path) const;
  struct Place {
    std::uint32_t directory;
    std::string_view name;
  };
  Result<Place> place(std::string_view path) const;
  Result<std::uint32_t> file(std::string_view path) const;

  std::uint32_t make_inode();
  void close(std::uint32_t slot);
  /// Frees the slots of files that nobody can reach any more.
  void collect();
  /// How many of `size` bytes at `offset` have room.
  std::size_t room(const Inode& inode, std::uint64_t offset, std::size_t size);
  void touch(Inode& inode) { inode.modified_ms = ++clock_ms; }
};

/// One call: takes the mutex, asks for the verdict, and crashes at the end if
/// it was the last.
class Call {
 public:
  Call(Core& core, Process& process, SimCall call, std::string_view path)
      : lock_(core.mutex),
        core_(core),
        process_(process),
        call_(call),
        path_(path),
        verdict_(core.enter(process, call, path)) {}
  ~Call() { core_.leave(process_, verdict_); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool refused() const { return verdict_.refused(); }
  const Verdict& verdict() const { return verdict_; }
  /// Why it was refused.
  Error error() const;
  Error error(int number) const;
  Error wrong(std::string_view why) const;

 private:
  std::string what() const;

  std::lock_guard<std::mutex> lock_;
  Core& core_;
  Process& process_;
  SimCall call_;
  std::string_view path_;
  Verdict verdict_;
};

}  // namespace quipu::fs::sim
