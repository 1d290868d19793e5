#include "fs/sim_buffer.h"

#include <cstring>
#include <new>
#include <vector>

#include "base/mutex.h"

namespace quipu::fs::sim {
namespace {

constexpr std::align_val_t kAlignment{4096};
constexpr std::size_t kMaxPooled = 256;

struct Pool {
  Mutex mutex;
  std::vector<Buffer*> buffers GUARDED_BY(mutex);
};

// Never destroyed: disks of static storage may give buffers back at exit.
Pool& pool() {
  static Pool* const pool = new Pool;
  return *pool;
}

}  // namespace

void Buffer::Free::operator()(std::byte* data) const { ::operator delete(data, kAlignment); }

Buffer::Buffer(std::size_t capacity)
    : capacity_(capacity),
      used_(capacity),  // fresh memory is garbage; the first clear_from makes it zero
      data_(static_cast<std::byte*>(::operator new(capacity, kAlignment))) {}

void Buffer::clear_from(std::size_t begin) {
  if (begin >= used_) return;
  std::memset(data() + begin, 0, used_ - begin);
  used_ = begin;
}

BufferRef BufferRef::make(std::size_t capacity) {
  Buffer* buffer = nullptr;
  {
    Pool& from = pool();
    const MutexLock lock(from.mutex);
    if (!from.buffers.empty() && from.buffers.back()->capacity_ == capacity) {
      buffer = from.buffers.back();
      from.buffers.pop_back();
    }
  }
  if (buffer == nullptr) {
    buffer = new Buffer(capacity);
  } else {
    buffer->refs_.store(1, std::memory_order_relaxed);
  }
  buffer->clear_from(0);
  return BufferRef(buffer);
}

BufferRef BufferRef::clone(std::size_t size) const {
  BufferRef copy = make(buffer_->capacity());
  std::memcpy(copy->data(), buffer_->data(), size);
  copy->touch(size);
  return copy;
}

void BufferRef::recycle(Buffer* buffer) {
  {
    Pool& to = pool();
    const MutexLock lock(to.mutex);
    if (to.buffers.size() < kMaxPooled) {
      to.buffers.push_back(buffer);
      return;
    }
  }
  delete buffer;
}

}  // namespace quipu::fs::sim
