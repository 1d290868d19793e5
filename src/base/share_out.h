// Sharing work out among threads.
#pragma once

#include <cstddef>
#include <functional>

namespace quipu {

/// Calls `work(i)` for every i below `count`, each once, in any order: from this
/// thread and from up to `threads - 1` others, which are gone on return. 0 threads:
/// as many as there are cores. Where the system gives fewer, fewer do it.
///
/// When `work` throws, what is not begun is left, and one of the exceptions is thrown here.
void share_out(std::size_t count, std::size_t threads,
               const std::function<void(std::size_t)>& work);

}  // namespace quipu
