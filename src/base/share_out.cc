#include "base/share_out.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace quipu {

void share_out(std::size_t count, std::size_t threads,
               const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> has_failed = false;
  std::exception_ptr failure;  // written by the first that fails, read when all are done
  const auto take_some = [&]() noexcept {
    try {
      for (std::size_t i = next++; i < count && !has_failed; i = next++) work(i);
    } catch (...) {
      if (!has_failed.exchange(true)) failure = std::current_exception();
    }
  };
  const std::size_t wanted = threads != 0 ? threads : std::thread::hardware_concurrency();
  std::vector<std::thread> others;
  others.reserve(std::min(wanted, count));
  try {
    while (others.size() + 1 < std::min(wanted, count)) others.emplace_back(take_some);
  } catch (const std::system_error&) {
    // No more threads to be had: this one does what is left.
  }
  take_some();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace quipu
