// A simulated disk for tests: in memory, deterministic, and it knows what is
// synced and what is not.
//
//   SimDisk disk;
//   disk.set_faults({.crash_after = 7});
//   run_workload(*disk.process());                    // fails after call 7
//   SimDisk after = disk.crash(policy, seed);         // what the power cut left
//   recover(*after.process());
//
// Several processes may use one disk. Making a crash image of a few small files
// costs about a microsecond: files that a crash does not change are shared.
//
// Thread-safety: a disk, its processes and their files may be used from several
// threads; images and copies are disks of their own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs/fs.h"
#include "fs/sim_crash.h"
#include "fs/sim_fault.h"

namespace quipu::fs {

namespace sim {
struct Core;
struct Process;
}  // namespace sim

/// One process on a disk. Files keep working when it is destroyed.
class SimFs final : public Fs {
 public:
  SimFs(std::shared_ptr<sim::Core> core, std::shared_ptr<sim::Process> process);

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<std::unique_ptr<File>> create_unnamed(const std::string& directory) override;
  Result<void> link(File& file, const std::string& path) override;
  Result<void> link(const std::string& existing, const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> make_dir(const std::string& path) override;
  Result<void> sync_dir(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<Stat> stat(const std::string& path) override;
  std::uint64_t boot_id() const override;

  /// Counts this process's calls from now on. A crash kills the process: its
  /// locks are free, its later calls fail, the disk and other processes go on.
  /// What it stores through shared mappings after that is not held back.
  void set_faults(const FaultPlan& plan);
  std::uint64_t calls() const;
  bool dead() const;
  /// Kills it now.
  void kill();

 private:
  std::shared_ptr<sim::Core> core_;
  std::shared_ptr<sim::Process> process_;
};

class SimDisk {
 public:
  /// Empty; a write beyond `file_capacity` in one file is ENOSPC.
  SimDisk();
  explicit SimDisk(std::size_t file_capacity);
  /// A copy is as `crash` with kKilled: unsynced state included; processes,
  /// locks, faults and records not.
  SimDisk(const SimDisk& other);
  SimDisk(SimDisk&&) noexcept = default;
  SimDisk& operator=(SimDisk other) noexcept;
  ~SimDisk() = default;

  std::unique_ptr<SimFs> process();

  /// The disk as a power cut leaves it, with another boot id (kKilled: the same).
  /// Equal arguments give equal disks.
  SimDisk crash(CrashPolicy policy, std::uint64_t seed) const;
  /// For exhaustive tests: image `number` of `crash_variants` (saturating).
  /// Garbage comes from the number as well.
  SimDisk crash_variant(CrashPolicy policy, std::uint64_t number) const;
  std::uint64_t crash_variants(CrashPolicy policy) const;
  /// Whether data or names differ from what is durable: if not, policies differ
  /// in nothing but the boot id.
  bool unsynced_data() const;
  bool unsynced_names() const;

  /// A hash of the durable tree: paths and bytes. `ignore` is asked for the last
  /// component of each file's path.
  std::uint64_t fingerprint(bool (*ignore)(std::string_view name) = nullptr) const;

  /// Counts calls of all processes from now on. A crash is one of the machine.
  void set_faults(const FaultPlan& plan);
  std::uint64_t calls() const;
  bool crashed() const;
  /// Whether the call of `fail_at` has happened.
  bool fault_fired() const;
  /// Keeps kind, path and process of each call that is not after a crash.
  void record(bool on);
  std::vector<CallRecord> records() const;

  void set_boot_id(std::uint64_t boot_id);
  /// All files together; a write beyond it is short, then ENOSPC.
  void set_capacity_bytes(std::uint64_t total);

  // For tests to look and meddle; none of these is a call. What is written is
  // durable, and so are the directories on its way.

  /// As processes see it; nothing when there is no such file.
  std::optional<std::string> read_file(std::string_view path) const;
  /// As the medium has it, under the names the processes see.
  std::optional<std::string> read_durable(std::string_view path) const;
  void write_file(std::string_view path, std::string_view bytes);
  void remove_file(std::string_view path);
  /// XORs a byte; false when the file has no such byte.
  bool flip(std::string_view path, std::uint64_t offset, unsigned char mask);
  /// Paths of all files, sorted.
  std::vector<std::string> files() const;

 private:
  explicit SimDisk(std::shared_ptr<sim::Core> core);
  SimDisk image(CrashPolicy policy, sim::Chooser& chooser) const;

  std::shared_ptr<sim::Core> core_;
};

}  // namespace quipu::fs
