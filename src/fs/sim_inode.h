// One file of the simulated disk: what the page cache holds, what the medium
// holds, and the operations in between.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fs/fs.h"
#include "fs/sim_buffer.h"
#include "fs/sim_crash.h"

namespace quipu::fs::sim {

/// What a failed sync does to the page cache. In all cases the pages count as
/// clean afterwards: a later sync succeeds and proves nothing.
enum class SyncFailure : std::uint8_t {
  kKept,      // readers go on seeing bytes that are not on the medium (ext4, XFS)
  kReverted,  // readers see what the medium holds (btrfs)
  kDone,      // the bytes are on the medium all the same
};

/// Bytes [begin, end) of a file.
struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

/// A value: copies share memory until one of them writes or is mapped.
///
/// Invariants: without `durable_`, the medium holds the first `durable_size_`
/// bytes of `current_`, and `durable_size_ <= size_`. Once `own_current` was
/// called, `current_` is zero behind `size_`. With neither `ops_` nor
/// `mapped_` nor `lost_`, page cache and medium are equal.
class Inode {
 public:
  Inode() = default;
  Inode(std::uint64_t number, std::size_t capacity);

  /// A copy that may live on another disk.
  Inode clone() const;

  bool live() const { return number_ != 0; }
  std::uint64_t number() const { return number_; }
  std::uint64_t size() const { return size_; }
  std::size_t capacity() const { return current_->capacity(); }
  std::string_view bytes() const { return view(current_, size_); }
  std::string_view durable_bytes() const {
    return view(durable_ ? durable_ : current_, durable_size_);
  }
  /// Whether a power cut could change the file.
  bool dirty() const;

  /// The range must fit into the capacity.
  void write(std::uint64_t offset, std::string_view bytes);
  void truncate(std::uint64_t size);
  void sync();
  void fail_sync(SyncFailure how);
  Mapping map(std::uint64_t offset, std::size_t size, MapMode mode);
  /// Stores through mappings made so far reach the file no more.
  void detach_mappings();

  /// The file after a power cut.
  Inode crash(DataLoss loss, Chooser& chooser) const;

  std::int64_t modified_ms = 0;
  std::uint32_t opens = 0;

 private:
  struct Op {
    std::uint64_t offset;  // of a truncation: the new size
    std::uint64_t length;
    std::size_t position;    // of the bytes in written_
    std::uint64_t new_size;  // of the file
    bool truncation;
  };

  static std::string_view view(const BufferRef& buffer, std::uint64_t size) {
    return {reinterpret_cast<const char*>(buffer->data()), static_cast<std::size_t>(size)};
  }
  void own_current();
  void split_durable();
  void keep_ghost(std::uint64_t begin, std::uint64_t end);
  void forget_ops();
  void flush_pages(BufferRef& medium, std::uint64_t& medium_size) const;

  Inode clean_copy(BufferRef content, std::uint64_t size) const;
  Inode crash_prefix(Chooser& chooser) const;
  Inode crash_blocks(std::uint64_t block, DataLoss loss, Chooser& chooser) const;
  bool changed(Range block) const;
  void lose_block(Buffer& out, Range block, std::uint64_t block_size, DataLoss loss,
                  Chooser& chooser) const;
  void fill_stale(Buffer& out, Range range, std::uint64_t block_size) const;

  std::uint64_t number_ = 0;
  BufferRef current_;
  std::uint64_t size_ = 0;
  BufferRef durable_;
  std::uint64_t durable_size_ = 0;
  // The lowest size since the last sync: the medium's bytes below it are in place.
  std::uint64_t floor_ = 0;
  std::vector<Op> ops_;
  std::string written_;
  bool mapped_ = false;  // bytes may have changed without an operation
  bool lost_ = false;    // a sync failed: page cache and medium differ beyond ops_
  // Bytes that this place of the medium held before: cut off, or never part of the file.
  BufferRef ghost_;
  Range ghost_range_ = {0, 0};
};

}  // namespace quipu::fs::sim
