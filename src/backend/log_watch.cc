#include "backend/log_watch.h"

#include <algorithm>

#include "base/try.h"

namespace quipu {

Result<LogChanges> PollingWatch::wait(std::chrono::milliseconds time) {
  constexpr std::chrono::nanoseconds kPause = std::chrono::milliseconds(100);
  const std::chrono::nanoseconds deadline = clock_.monotonic() + time;
  for (;;) {
    TRY_ASSIGN(std::string stamp, stamp_());
    if (stamp != last_) {
      last_ = std::move(stamp);
      return LogChanges{.logs = {}, .all = true};
    }
    const std::chrono::nanoseconds left = deadline - clock_.monotonic();
    if (left <= std::chrono::nanoseconds::zero()) return LogChanges{};
    clock_.sleep(std::min(left, kPause));
  }
}

}  // namespace quipu
