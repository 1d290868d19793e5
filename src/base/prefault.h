// Memory that is about to be written from end to end, asked for at once: the kernel
// gives it page by page otherwise, and each first touch costs more than the copy.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace quipu {

/// A hint. Whole pages of `bytes` at `at`, which the caller owns; their content stays.
inline void prefault([[maybe_unused]] char* at, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_POPULATE_WRITE)
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto from = (reinterpret_cast<std::uintptr_t>(at) + page - 1) & ~(page - 1);
  const auto to = (reinterpret_cast<std::uintptr_t>(at) + bytes) & ~(page - 1);
  // Older kernels say no, and nothing is lost.
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);
#endif
}

}  // namespace quipu
