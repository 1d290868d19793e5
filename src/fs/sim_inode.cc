#include "fs/sim_inode.h"

#include <algorithm>
#include <cstring>

namespace quipu::fs::sim {
namespace {

constexpr std::uint64_t kPage = 4096;

std::size_t to_size(std::uint64_t value) { return static_cast<std::size_t>(value); }

void copy_range(Buffer& to, const Buffer& from, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  std::memcpy(to.data() + begin, from.data() + begin, to_size(end - begin));
  to.touch(to_size(end));
}

void zero_range(Buffer& buffer, std::uint64_t begin, std::uint64_t end) {
  if (begin < end) std::memset(buffer.data() + begin, 0, to_size(end - begin));
}

void fill_random(Buffer& out, Range range, Chooser& chooser) {
  for (std::uint64_t at = range.begin; at < range.end;) {
    const std::uint64_t noise = chooser.noise();
    const std::uint64_t length = std::min<std::uint64_t>(sizeof noise, range.end - at);
    std::memcpy(out.data() + at, &noise, to_size(length));
    at += length;
  }
}

// Keeps a buffer pinned for as long as a mapping of it lives.
struct Pin {
  Pin(BufferRef buffer, bool shared) : held(std::move(buffer)), writes(shared) {
    held->pins.fetch_add(1, std::memory_order_acq_rel);
    if (writes) held->writers.fetch_add(1, std::memory_order_acq_rel);
  }
  ~Pin() {
    if (writes) held->writers.fetch_sub(1, std::memory_order_acq_rel);
    held->pins.fetch_sub(1, std::memory_order_acq_rel);
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

  BufferRef held;
  bool writes;
};

}  // namespace

Inode::Inode(std::uint64_t number, std::size_t capacity)
    : number_(number), current_(BufferRef::make(capacity)) {}

Inode Inode::clone() const {
  Inode copy = *this;
  copy.opens = 0;
  if (live() && current_.pinned()) {
    copy.current_ = current_.clone(to_size(size_));
  }
  return copy;
}

bool Inode::dirty() const {
  if (!ops_.empty() || lost_) return true;
  return mapped_ && bytes() != durable_bytes();
}

// A pinned buffer is referred to by its mappings and by this inode alone.
void Inode::own_current() {
  if (!current_.pinned() && !current_.alone()) current_ = current_.clone(to_size(size_));
}

void Inode::split_durable() {
  if (!durable_) durable_ = current_.clone(to_size(durable_size_));
}

void Inode::write(std::uint64_t offset, std::string_view bytes) {
  own_current();
  const std::uint64_t end = offset + bytes.size();
  if (offset < durable_size_) split_durable();
  std::memcpy(current_->data() + offset, bytes.data(), bytes.size());
  size_ = std::max(size_, end);
  current_->touch(to_size(size_));
  ops_.push_back({offset, bytes.size(), written_.size(), size_, false});
  written_.append(bytes);
}

void Inode::truncate(std::uint64_t size) {
  own_current();
  if (size < durable_size_) split_durable();
  if (size < size_) {
    keep_ghost(size, size_);
    current_->clear_from(to_size(size));
  }
  size_ = size;
  current_->touch(to_size(size_));
  floor_ = std::min(floor_, size);
  ops_.push_back({size, 0, written_.size(), size, true});
}

// Ranges only ever meet or overlap: to be cut off again further down, the file
// must have reached up to there.
void Inode::keep_ghost(std::uint64_t begin, std::uint64_t end) {
  if (!ghost_) {
    ghost_ = BufferRef::make(capacity());
    ghost_range_ = {begin, end};
  } else {
    if (!ghost_.alone()) ghost_ = ghost_.clone(to_size(ghost_range_.end));
    ghost_range_ = {std::min(ghost_range_.begin, begin), std::max(ghost_range_.end, end)};
  }
  copy_range(*ghost_.operator->(), *current_.operator->(), begin, end);
}

void Inode::forget_ops() {
  ops_.clear();
  written_.clear();
  floor_ = durable_size_;
  mapped_ = current_.shared_mapped();
}

// Writes the dirty pages, and only them, to `medium`.
void Inode::flush_pages(BufferRef& medium, std::uint64_t& medium_size) const {
  if (!medium.alone()) medium = medium.clone(to_size(medium_size));
  medium->clear_from(to_size(std::min(medium_size, floor_)));
  for (const Op& op : ops_) {
    if (op.truncation) continue;
    const std::uint64_t end = (op.offset + op.length + kPage - 1) / kPage * kPage;
    copy_range(*medium.operator->(), *current_.operator->(), op.offset / kPage * kPage,
               std::min(end, size_));
  }
  medium_size = size_;
  medium->clear_from(to_size(size_));
}

void Inode::sync() {
  if (lost_ && !mapped_) {
    if (ops_.empty()) return;
    flush_pages(durable_, durable_size_);
    forget_ops();
    return;
  }
  if (ops_.empty() && !mapped_) return;
  lost_ = false;
  durable_size_ = size_;
  durable_ = current_.shared_mapped() ? current_.clone(to_size(size_)) : BufferRef();
  forget_ops();
}

void Inode::fail_sync(SyncFailure how) {
  if (how == SyncFailure::kDone) return sync();
  if (!dirty()) return;
  if (how == SyncFailure::kKept) {
    split_durable();
    lost_ = true;
    forget_ops();
    return;
  }
  own_current();
  if (durable_) copy_range(*current_.operator->(), *durable_.operator->(), 0, durable_size_);
  current_->clear_from(to_size(durable_size_));
  size_ = durable_size_;
  lost_ = false;
  forget_ops();
  if (!mapped_) durable_ = BufferRef();
}

Mapping Inode::map(std::uint64_t offset, std::size_t size, MapMode mode) {
  if (mode == MapMode::kPrivate) {
    // A snapshot: whether a private mapping sees later writes is unspecified.
    auto own = std::make_shared<BufferRef>(BufferRef::make(capacity()));
    if (offset < size_) {
      const std::size_t length = std::min<std::size_t>(size, to_size(size_ - offset));
      std::memcpy((*own)->data(), current_->data() + offset, length);
      (*own)->touch(capacity());
    }
    std::byte* const data = (*own)->data();
    return Mapping(data, size, std::move(own));
  }
  own_current();
  if (mode == MapMode::kShared) {
    split_durable();
    mapped_ = true;
  }
  auto pin = std::make_shared<Pin>(current_, mode == MapMode::kShared);
  return Mapping(current_->data() + offset, size, std::move(pin));
}

void Inode::detach_mappings() {
  if (live() && current_.pinned()) current_ = current_.clone(to_size(size_));
}

// The file with this content and nothing unsynced.
Inode Inode::clean_copy(BufferRef content, std::uint64_t size) const {
  Inode copy;
  copy.number_ = number_;
  copy.modified_ms = modified_ms;
  copy.current_ = std::move(content);
  copy.size_ = copy.durable_size_ = copy.floor_ = size;
  if (size < size_ && !current_.pinned()) {
    // Written to the medium perhaps, but beyond what the file system knows of.
    copy.ghost_ = current_;
    copy.ghost_range_ = {size, size_};
  } else {
    copy.ghost_ = ghost_;
    copy.ghost_range_ = ghost_range_;
  }
  return copy;
}

Inode Inode::crash(DataLoss loss, Chooser& chooser) const {
  if (!live()) return {};
  if (loss == DataLoss::kKilled) return clone();
  const auto shareable = [](const BufferRef& buffer, std::uint64_t size) {
    return buffer.pinned() ? buffer.clone(to_size(size)) : buffer;
  };
  const BufferRef& medium = durable_ ? durable_ : current_;
  if (!dirty() || loss == DataLoss::kNothing || (lost_ && ops_.empty() && !mapped_)) {
    return clean_copy(shareable(medium, durable_size_), durable_size_);
  }
  switch (loss) {
    case DataLoss::kEverything: {
      if (!lost_) return clean_copy(shareable(current_, size_), size_);
      BufferRef content = durable_;
      std::uint64_t size = durable_size_;
      flush_pages(content, size);
      return clean_copy(std::move(content), size);
    }
    case DataLoss::kPrefix:
      return crash_prefix(chooser);
    case DataLoss::kBlocks512Zero:
    case DataLoss::kBlocks512Stale:
    case DataLoss::kBlocks512Random:
      return crash_blocks(512, loss, chooser);
    default:
      return crash_blocks(kPage, loss, chooser);
  }
}

Inode Inode::crash_prefix(Chooser& chooser) const {
  std::uint64_t total = mapped_ ? size_ : 0;
  for (const Op& op : ops_) total += op.truncation ? 1 : op.length;
  std::uint64_t budget = chooser.choose(total + 1);

  std::uint64_t size = durable_size_;
  BufferRef out = (durable_ ? durable_ : current_).clone(to_size(size));
  for (const Op& op : ops_) {
    if (budget == 0) break;
    if (op.truncation) {
      --budget;
      size = op.offset;
      out->clear_from(to_size(size));
      out->touch(to_size(size));
      continue;
    }
    const std::uint64_t length = std::min(budget, op.length);
    budget -= length;
    std::memcpy(out->data() + op.offset, written_.data() + op.position, to_size(length));
    size = std::max(size, op.offset + length);
    out->touch(to_size(size));
  }
  if (mapped_ && budget > 0) {
    const std::uint64_t length = std::min(budget, size_);
    copy_range(*out.operator->(), *current_.operator->(), 0, length);
    size = std::max(size, length);
  }
  return clean_copy(std::move(out), size);
}

bool Inode::changed(Range block) const {
  for (const Op& op : ops_) {
    if (!op.truncation && op.offset < block.end && op.offset + op.length > block.begin) return true;
  }
  if (!mapped_) return false;
  // Stores through a mapping leave no trace but the difference.
  if (block.end > durable_size_) return true;
  const std::uint64_t end = std::min(block.end, size_);
  return block.begin < end &&
         std::memcmp(current_->data() + block.begin, durable_->data() + block.begin,
                     to_size(end - block.begin)) != 0;
}

Inode Inode::crash_blocks(std::uint64_t block_size, DataLoss loss, Chooser& chooser) const {
  std::uint64_t size = size_;
  std::uint64_t most = std::max(size_, durable_size_);
  for (const Op& op : ops_) most = std::max(most, op.new_size);
  if (loss == DataLoss::kDataWithoutSize) {
    size = durable_size_;
  } else if (loss != DataLoss::kSizeWithoutData && ops_.size() > 1) {
    size = ops_[chooser.choose(ops_.size())].new_size;
  }
  BufferRef out = (durable_ ? durable_ : current_).clone(to_size(std::min(durable_size_, size)));
  out->touch(to_size(size));
  for (std::uint64_t begin = 0; begin < most; begin += block_size) {
    if (!changed({begin, std::min(begin + block_size, most)})) continue;
    // Also for blocks beyond the size: the number of choices must not depend on
    // earlier ones, or numbered variants would miss some.
    const bool survives = loss == DataLoss::kDataWithoutSize ||
                          (loss != DataLoss::kSizeWithoutData && chooser.choose(2) == 1);
    const Range block = {begin, std::min(begin + block_size, size)};
    if (survives) {
      copy_range(*out.operator->(), *current_.operator->(), block.begin,
                 std::min(block.end, size_));
    } else if (block.begin < block.end) {
      lose_block(*out.operator->(), block, block_size, loss, chooser);
    }
  }
  return clean_copy(std::move(out), size);
}

// `out` holds the medium's bytes of the block already, zero beyond its size.
void Inode::lose_block(Buffer& out, Range block, std::uint64_t block_size, DataLoss loss,
                       Chooser& chooser) const {
  const Range exposed = {std::max(block.begin, floor_), block.end};
  switch (loss) {
    case DataLoss::kBlocks512Stale:
    case DataLoss::kBlocks4096Stale:
      fill_stale(out, exposed, block_size);
      break;
    case DataLoss::kBlocks512Random:
    case DataLoss::kBlocks4096Random:
      fill_random(out, exposed, chooser);
      // What is being overwritten may become unreadable, though not its neighbours.
      for (const Op& op : ops_) {
        if (op.truncation) continue;
        fill_random(out,
                    {std::max(op.offset, block.begin),
                     std::min({op.offset + op.length, block.end, floor_})},
                    chooser);
      }
      break;
    default:
      zero_range(out, exposed.begin, exposed.end);
  }
}

// The first of these that there is: what the medium has, what was cut off here,
// the block before, and in a file smaller than a block its beginning.
void Inode::fill_stale(Buffer& out, Range range, std::uint64_t block_size) const {
  const std::string_view medium = durable_bytes();
  std::uint64_t at = std::max(range.begin, durable_size_);
  if (ghost_ && at >= ghost_range_.begin && at < ghost_range_.end) {
    const std::uint64_t end = std::min(range.end, ghost_range_.end);
    copy_range(out, *ghost_.operator->(), at, end);
    at = std::max(at, end);
  }
  for (; at < std::min(range.end, block_size); ++at) {
    out.data()[at] = medium.empty() ? std::byte{0}
                                    : static_cast<std::byte>(medium[(at - floor_) % medium.size()]);
  }
  if (at < range.end) {
    std::memcpy(out.data() + at, current_->data() + (at - block_size), to_size(range.end - at));
  }
}

}  // namespace quipu::fs::sim
