#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.h"
#include "quipu/search.h"

namespace quipu {
namespace {

// Of the time that a look took: logs that are many are looked at less often.
constexpr int kRestPerWork = 20;
// How long its end may have to wait.
constexpr std::chrono::milliseconds kNap{20};

}  // namespace

struct SearchFollower::State {
  State(SessionSearch& of, std::chrono::milliseconds between)
      : search(of), pause(between), thread([this] { run(); }) {}

  void run() {
    Clock& clock = Clock::system();
    while (!stopped) {
      const auto start = clock.monotonic();
      ignore(search.refresh([this](std::uint64_t, std::uint64_t) { return !stopped; }),
             "the next look tries again, and a search says what is wrong");
      const auto end = clock.monotonic();
      const auto until =
          end + std::max<std::chrono::nanoseconds>(pause, (end - start) * kRestPerWork);
      while (!stopped && clock.monotonic() < until) clock.sleep(kNap);
    }
  }

  SessionSearch& search;
  const std::chrono::milliseconds pause;
  std::atomic<bool> stopped = false;
  std::thread thread;  // last: it uses the others
};

SearchFollower::SearchFollower(SessionSearch& search, std::chrono::milliseconds pause)
    : state_(std::make_unique<State>(search, pause)) {}

SearchFollower::~SearchFollower() {
  state_->stopped = true;
  state_->thread.join();
}

}  // namespace quipu
