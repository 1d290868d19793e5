#include <algorithm>
#include <atomic>

#include "base/try.h"
#include "events/event_log.h"
#include "events/feed.h"
#include "events/journal.h"
#include "store/guarded.h"

namespace quipu {
namespace {

// How long somebody who cancels has to wait.
constexpr std::chrono::milliseconds kPatience{100};

TailOptions checked(TailOptions options) {
  options.batch = std::max<std::size_t>(options.batch, 1);
  return options;
}

}  // namespace

struct EventTail::State {
  State(std::shared_ptr<events::EventLog> shared, const TailOptions& options)
      : log(std::move(shared)),
        clock(log->backend().filler().clock),
        watch(log->backend().watch()),
        journal(*log),
        feed(*log, checked(options)) {}

  Result<std::vector<Event>> next(std::chrono::milliseconds wait);
  /// True when all that was noted is in the log, or cannot be.
  Result<bool> catch_up();
  Result<std::vector<Event>> read();
  Result<void> settle();
  /// False when nothing has changed before the deadline.
  Result<bool> wait_until(std::chrono::nanoseconds deadline);

  std::shared_ptr<events::EventLog> log;
  Clock& clock;
  // Before anything is looked at: what changes after that is told.
  std::unique_ptr<LogWatch> watch;
  events::Journal journal;
  events::Feed feed;
  std::atomic<bool> cancelled = false;
  events::Journal::Durable durable;  // what was settled by us
};

Result<bool> EventTail::State::catch_up() {
  if (!journal.has_work()) return true;
  return journal.catch_up();
}

// A reader may see what is not on the disk yet. A cursor that survives a power cut
// which its event did not would pass over what is written in its place.
Result<void> EventTail::State::settle() {
  const events::Place& place = feed.cursor().place;
  const Ordinal needed = place.ordinal + (place.told > 0 ? 1 : 0);
  for (const events::Journal::Durable& known : {journal.durable(), durable}) {
    if (known.segment > place.segment) return {};
    if (known.segment == place.segment && known.entries >= needed) return {};
  }
  const events::Journal::Durable then{.segment = place.segment,
                                      .entries = std::max(feed.seen(), needed)};
  TRY_ASSIGN(const bool is_closed, log->exists(place.segment + 1));
  if (is_closed) return {};
  auto settled = log->backend().settle(events::EventLog::log_id(place.segment));
  const bool is_fine = settled.ok() || events::is_read_only(settled.error().code()) ||
                       settled.error().code() == Code::kNotFound;
  if (!is_fine) return settled;
  durable = then;
  return {};
}

Result<std::vector<Event>> EventTail::State::read() {
  const events::Cursor before = feed.cursor();
  auto events = feed.read();
  auto settled = events.ok() && !events->empty() ? settle() : Result<void>();
  if (!events.ok() || !settled.ok()) feed.go_back(before);
  if (!settled.ok()) return std::move(settled).error();
  return events;
}

Result<bool> EventTail::State::wait_until(std::chrono::nanoseconds deadline) {
  using std::chrono::milliseconds;
  while (!cancelled) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock.monotonic());
    if (left <= milliseconds::zero()) return false;
    TRY_ASSIGN(const LogChanges changes, watch->wait(std::min(left, kPatience)));
    journal.note(changes);
    if (changes.all || !changes.logs.empty()) return true;
  }
  return false;
}

Result<std::vector<Event>> EventTail::State::next(std::chrono::milliseconds wait) {
  const std::chrono::nanoseconds deadline = clock.monotonic() + wait;
  TRY_ASSIGN(const LogChanges changes, watch->wait(std::chrono::milliseconds::zero()));
  journal.note(changes);
  while (!cancelled) {
    auto caught_up = catch_up();
    TRY_ASSIGN(auto events, read());
    if (!events.empty()) return events;
    if (!caught_up.ok()) return std::move(caught_up).error();
    if (!feed.at_end() || !*caught_up) continue;
    TRY_ASSIGN(const bool changed, wait_until(deadline));
    if (!changed) break;
  }
  return std::vector<Event>();
}

EventTail::EventTail(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventTail::EventTail(EventTail&&) noexcept = default;
EventTail& EventTail::operator=(EventTail&&) noexcept = default;
EventTail::~EventTail() = default;

Result<std::vector<Event>> EventTail::next(std::chrono::milliseconds wait) {
  return guarded([&] { return state_->next(wait); });
}

std::string EventTail::cursor() const { return state_->feed.cursor_text(); }
void EventTail::cancel() { state_->cancelled = true; }
bool EventTail::is_cancelled() const { return state_->cancelled; }
const std::optional<Error>& EventTail::journal_problem() const { return state_->journal.problem(); }
std::uint32_t EventTail::damaged() const { return state_->feed.damaged(); }

Result<EventTail> EventStore::tail(std::string_view cursor, const TailOptions& options) {
  return guarded([&]() -> Result<EventTail> {
    auto state = std::make_unique<EventTail::State>(log_, options);
    if (!cursor.empty()) {
      TRY_ASSIGN(const auto read, events::read_cursor(log_->backend().store_id(), cursor));
      TRY(state->feed.seek(read));
    } else if (options.from_now) {
      for (bool done = false; !done;) {
        TRY_ASSIGN(done, state->catch_up());
      }
      TRY(state->feed.forward());
    } else {
      TRY(state->feed.rewind());
    }
    return EventTail(std::move(state));
  });
}

}  // namespace quipu
