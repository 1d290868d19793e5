// An open file of the simulated disk. Internal to src/fs.
#pragma once

#include <memory>
#include <string>

#include "fs/fs.h"
#include "fs/sim_core.h"

namespace quipu::fs::sim {

class SimFile final : public File {
 public:
  enum class Access { kRead, kAppend, kWrite };

  /// Requires the mutex of `core`.
  SimFile(std::shared_ptr<Core> core, std::shared_ptr<Process> process, std::uint32_t slot,
          std::string path, Access access);
  ~SimFile() override;
  SimFile(const SimFile&) = delete;
  SimFile& operator=(const SimFile&) = delete;

  Result<std::size_t> read_at(std::span<char> into, std::uint64_t offset) override;
  Result<std::size_t> append(std::string_view bytes) override;
  Result<std::uint64_t> append_end() override;
  Result<std::size_t> write_at(std::string_view bytes, std::uint64_t offset) override;
  Result<void> truncate(std::uint64_t size) override;
  Result<void> allocate(std::uint64_t offset, std::uint64_t size) override;
  Result<void> sync() override;
  Result<Stat> stat() override;
  Result<Mapping> map(std::uint64_t offset, std::size_t size, MapMode mode) override;
  Result<bool> try_lock(std::uint64_t byte) override;
  Result<void> unlock(std::uint64_t byte) override;

  const Core* core() const { return core_.get(); }
  std::uint32_t slot() const { return slot_; }
  void set_path(const std::string& path) { path_ = path; }

 private:
  Inode& inode() { return core_->inodes[slot_]; }
  Result<std::size_t> write(const Call& call, std::string_view bytes, std::uint64_t offset);

  std::shared_ptr<Core> core_;
  std::shared_ptr<Process> process_;
  std::uint32_t slot_;
  std::string path_;
  Access access_;
  std::uint64_t append_end_ = 0;
};

Stat to_stat(const Inode& inode);

}  // namespace quipu::fs::sim
