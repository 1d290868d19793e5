// Memory of a simulated file: of fixed capacity, so that its address never
// changes and mappings stay coherent; counted, so that disks can share what
// neither of them writes; recycled, because crash sweeps make millions of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace quipu::fs::sim {

class Buffer {
 public:
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::size_t capacity() const { return capacity_; }

  /// Says that bytes below `end` may be other than zero.
  void touch(std::size_t end) {
    if (end > used_) used_ = end;
  }
  /// Makes everything from `begin` on zero.
  void clear_from(std::size_t begin);

  /// Mappings that must see writes to the file. A pinned buffer belongs to one
  /// inode only; `pins` and `writers` count all mappings and the shared ones.
  std::atomic<std::uint32_t> pins = 0;
  std::atomic<std::uint32_t> writers = 0;

 private:
  friend class BufferRef;
  struct Free {
    void operator()(std::byte* data) const;
  };
  explicit Buffer(std::size_t capacity);

  std::atomic<std::uint32_t> refs_ = 1;
  std::size_t capacity_;
  std::size_t used_ = 0;
  std::unique_ptr<std::byte, Free> data_;
};

/// Counted reference to a Buffer. Safe to copy and drop from any thread.
class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(const BufferRef& other) : buffer_(other.buffer_) {
    if (buffer_ != nullptr) buffer_->refs_.fetch_add(1, std::memory_order_relaxed);
  }
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef() {
    if (buffer_ != nullptr && buffer_->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      recycle(buffer_);
    }
  }

  /// All zero.
  static BufferRef make(std::size_t capacity);
  /// A new buffer of the same capacity with the first `size` bytes of this one.
  BufferRef clone(std::size_t size) const;

  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  bool alone() const { return buffer_->refs_.load(std::memory_order_acquire) == 1; }
  bool pinned() const { return buffer_->pins.load(std::memory_order_acquire) != 0; }
  bool shared_mapped() const { return buffer_->writers.load(std::memory_order_acquire) != 0; }

 private:
  explicit BufferRef(Buffer* buffer) : buffer_(buffer) {}
  static void recycle(Buffer* buffer);

  Buffer* buffer_ = nullptr;
};

}  // namespace quipu::fs::sim
