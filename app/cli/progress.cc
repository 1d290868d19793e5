#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/columns.h"

namespace quipu::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{1000};
constexpr milliseconds kFrame{100};

// Losing a progress line harms nobody, so the result does not count.
void print(std::string_view text) {
  [[maybe_unused]] const ssize_t wrote = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string progress_line(std::string_view what, std::uint64_t done, std::uint64_t total,
                          milliseconds elapsed, std::size_t width) {
  const auto seconds = static_cast<double>(elapsed.count()) / 1000.0;
  if (total == 0 || done == 0) return cut(fmt::format("{} {:.0f} s", what, seconds), width, "");

  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const double left = seconds * (1.0 - part) / part;
  const std::string numbers =
      fmt::format(" {:3.0f} %  {:.0f} s, {:.0f} s left", part * 100, seconds, left);
  const std::size_t used = columns_of(what) + columns_of(numbers) + 3;
  std::string bar;
  if (width > used + 10) {
    const std::size_t cells = std::min<std::size_t>(width - used - 1, 40);
    const auto full = static_cast<std::size_t>(part * static_cast<double>(cells));
    bar = fmt::format(" [{}{}]", std::string(full, '#'), std::string(cells - full, ' '));
  }
  return cut(fmt::format("{}{}{}", what, bar, numbers), width, "");
}

Progress::Progress(bool enabled, const Terminal& err, std::string what, std::uint64_t total)
    : terminal_(err), what_(std::move(what)), total_(total), enabled_(enabled) {
  // A thread of its own: one long call into the library must not freeze the bar.
  if (enabled_ && terminal_.is_terminal) drawer_ = std::thread([this] { redraw_until_stopped(); });
}

Progress::~Progress() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  drawer_.join();
}

void Progress::set(std::uint64_t done) {
  if (!enabled_) return;
  if (terminal_.is_terminal) {
    const std::lock_guard lock(mutex_);
    done_ = done;
    return;
  }
  const auto tenths =
      total_ == 0 ? 0u : static_cast<unsigned>(std::min(done, total_) * 10 / total_);
  // Nobody needs to read that it is done: the answer says so.
  if (tenths <= tenths_ || tenths == 10 || SteadyClock::now() - start_ < kPatience) return;
  tenths_ = tenths;
  print(fmt::format("quipu: {} {} %\n", what_, tenths * 10));
}

void Progress::redraw_until_stopped() {
  std::unique_lock lock(mutex_);
  const auto stopped = [this] { return stopped_; };
  if (changed_.wait_for(lock, kPatience, stopped)) return;
  do {
    const auto elapsed = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - start_);
    const std::size_t width = std::max<std::size_t>(terminal_.width, 20) - 1;
    print("\r" + pad(progress_line(what_, done_, total_, elapsed, width), width));
  } while (!changed_.wait_for(lock, kFrame, stopped));
  print("\r" + std::string(std::max<std::size_t>(terminal_.width, 20) - 1, ' ') + "\r");
}

}  // namespace quipu::cli
