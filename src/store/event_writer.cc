// Invariants:
//   1. What waits stays in the queue until it is stored; only from its front is taken away.
//   2. One thread at a time stores (`busy_`), without the mutex.
//   3. Events have ids and times when they enter the queue: storing them again after an
//      unknown outcome adds nothing.
//   4. An event that no append will ever take stands in nobody's way: a batch that is
//      refused is stored one by one, and what is refused then is put aside.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <thread>

#include "base/mutex.h"
#include "base/time_text.h"
#include "base/try.h"
#include "base/uuid.h"
#include "events/event_log.h"
#include "store/event_entry.h"
#include "store/guarded.h"

namespace quipu {
namespace {

// After a failure, before the thread tries again.
constexpr std::chrono::milliseconds kPause{500};

struct Waiting {
  NewEvent event;
  NewEntry entry;
  std::size_t bytes = 0;
};

}  // namespace

struct EventWriter::State {
  State(const Store& store, const EventWriterOptions& given)
      : options(given),
        log(EventStore(store, given.events).log_),
        filler(store.backend()->filler()) {}

  Result<std::string> add(NewEvent event) EXCLUDES(mutex);
  Result<void> flush() EXCLUDES(mutex);
  void work() EXCLUDES(mutex);
  void stop() EXCLUDES(mutex);

  bool is_full(std::size_t more) const REQUIRES(mutex);
  bool is_due() const REQUIRES(mutex);
  Result<void> make_room(std::size_t more) REQUIRES(mutex);
  /// Stores what is in front; somebody else may be doing so: waits for that instead.
  Result<void> store_some() REQUIRES(mutex);
  void take_off(std::size_t events) REQUIRES(mutex);
  /// Whether it goes on all the same.
  bool put_aside(std::size_t events, const Error& error) REQUIRES(mutex);
  std::vector<NewEntry> front() const REQUIRES(mutex);

  const EventWriterOptions options;
  const std::shared_ptr<events::EventLog> log;
  Filler filler;
  std::thread thread;

  mutable Mutex mutex;
  std::condition_variable_any changed;
  std::deque<Waiting> queue GUARDED_BY(mutex);
  std::size_t queue_bytes GUARDED_BY(mutex) = 0;
  std::chrono::nanoseconds oldest_at GUARDED_BY(mutex){};  // on the monotonic clock
  std::uint64_t added GUARDED_BY(mutex) = 0;
  std::uint64_t stored GUARDED_BY(mutex) = 0;  // or put aside
  bool busy GUARDED_BY(mutex) = false;
  bool is_repeat GUARDED_BY(mutex) = false;  // the front was tried before
  std::size_t singly GUARDED_BY(mutex) = 0;  // so many in front go one by one
  std::vector<NewEvent> refused GUARDED_BY(mutex);
  std::optional<Error> refusal GUARDED_BY(mutex);  // not told yet
  std::optional<Error> failure GUARDED_BY(mutex);
  bool closed GUARDED_BY(mutex) = false;
  bool stopping GUARDED_BY(mutex) = false;
};

bool EventWriter::State::is_full(std::size_t more) const {
  if (queue.empty()) return false;  // one always fits
  return queue.size() >= options.buffer_events || queue_bytes + more > options.buffer_bytes;
}

bool EventWriter::State::is_due() const {
  if (queue.empty()) return false;
  return queue.size() >= options.batch_events || queue_bytes >= options.batch_bytes ||
         filler.clock.monotonic() - oldest_at >= options.linger;
}

std::vector<NewEntry> EventWriter::State::front() const {
  std::vector<NewEntry> entries;
  std::size_t bytes = 0;
  for (const Waiting& one : queue) {
    if (!entries.empty() && (singly > 0 || entries.size() >= options.batch_events ||
                             bytes + one.bytes > std::max(options.batch_bytes, one.bytes))) {
      break;
    }
    bytes += one.bytes;
    entries.push_back(one.entry);
  }
  return entries;
}

Result<void> EventWriter::State::store_some() {
  if (busy) {
    changed.wait(mutex, [&]() REQUIRES(mutex) { return !busy; });
    return failure ? Result<void>(*failure) : Result<void>();
  }
  if (queue.empty()) return {};
  const std::vector<NewEntry> entries = front();
  const bool repeats = is_repeat;
  busy = true;
  mutex.unlock();
  auto done = guarded([&] { return log->append_events(entries, repeats); });
  mutex.lock();
  busy = false;
  is_repeat = !done.ok();
  failure.reset();
  if (done.ok()) {
    take_off(entries.size());
  } else if (!put_aside(entries.size(), done.error())) {
    failure = done.error();
  }
  changed.notify_all();
  return failure ? Result<void>(*failure) : Result<void>();
}

void EventWriter::State::take_off(std::size_t events) {
  for (std::size_t i = 0; i < events; ++i) {
    queue_bytes -= queue.front().bytes;
    queue.pop_front();
  }
  stored += events;
  singly -= std::min(singly, events);
  oldest_at = filler.clock.monotonic();
}

bool EventWriter::State::put_aside(std::size_t events, const Error& error) {
  if (error.code() != Code::kIdConflict && error.code() != Code::kBadBatch) return false;
  if (events > 1) {
    singly = events;
    return true;
  }
  refused.push_back(queue.front().event);
  refusal = error;
  take_off(1);
  return true;
}

Result<void> EventWriter::State::make_room(std::size_t more) {
  while (is_full(more)) {
    std::optional<Error> why;
    if (options.when_full == WhenFull::kWait && options.own_thread) {
      changed.wait(mutex, [&]() REQUIRES(mutex) { return !is_full(more) || failure || closed; });
      if (failure) why = failure;
      if (closed) return Error(Code::kInvalidArgument, "the writer is closed");
    } else if (options.when_full == WhenFull::kWait) {
      if (auto done = store_some(); !done.ok()) why = std::move(done).error();
    }
    if (!is_full(more)) return {};
    if (!why && options.when_full == WhenFull::kWait) continue;
    const std::string message = std::to_string(queue.size()) + " events wait to be stored";
    return Error(Code::kBusy, why ? message + ": " + why->message() : message)
        .with_hint("wait a moment, or flush, and add it again");
  }
  return {};
}

Result<std::string> EventWriter::State::add(NewEvent event) {
  const std::int64_t now = filler.clock.unix_ms();
  if (event.id.empty()) event.id = uuid_v7(now, filler.random);
  if (event.timestamp.empty()) event.timestamp = format_timestamp(now);
  TRY_ASSIGN(NewEntry entry, event_entry(event));
  // One that is refused must not take others with it.
  TRY_ASSIGN(const Batch batch, admit_entries({&entry, 1}, filler));
  const std::size_t bytes = batch.bytes;
  std::string id = event.id;
  MutexLock lock(mutex);
  if (closed) return Error(Code::kInvalidArgument, "the writer is closed");
  TRY(make_room(bytes));
  if (queue.empty()) oldest_at = filler.clock.monotonic();
  const bool was_empty = queue.empty();
  queue.push_back({.event = std::move(event), .entry = std::move(entry), .bytes = bytes});
  queue_bytes += bytes;
  ++added;
  if (!is_due() && !was_empty) return id;
  if (options.own_thread) {
    changed.notify_all();
  } else if (is_due() && !busy) {
    ignore(store_some(), "the event waits; flush says what is wrong");
  }
  return id;
}

Result<void> EventWriter::State::flush() {
  MutexLock lock(mutex);
  const std::uint64_t target = added;
  while (stored < target) TRY(store_some());
  if (!refusal) return {};
  const Error said = *std::exchange(refusal, std::nullopt);
  return said;
}

void EventWriter::State::work() {
  MutexLock lock(mutex);
  while (!stopping) {
    if (queue.empty()) {
      changed.wait(mutex, [&]() REQUIRES(mutex) { return stopping || !queue.empty(); });
    } else if (!is_due()) {
      changed.wait_for(mutex, options.linger,
                       [&]() REQUIRES(mutex) { return stopping || is_due(); });
    } else if (!store_some().ok()) {
      changed.wait_for(mutex, kPause, [&]() REQUIRES(mutex) { return stopping; });
    }
  }
}

void EventWriter::State::stop() {
  {
    MutexLock lock(mutex);
    closed = true;
    stopping = true;
    changed.notify_all();
  }
  if (thread.joinable()) thread.join();
}

EventWriter::EventWriter(const Store& store, const EventWriterOptions& options)
    : state_(std::make_unique<State>(store, options)) {
  if (options.own_thread) state_->thread = std::thread([state = state_.get()] { state->work(); });
}

EventWriter::~EventWriter() {
  ignore(close(), "whoever wants to know calls close");
  state_->stop();
}

Result<std::string> EventWriter::add(NewEvent event) {
  return guarded([&] { return state_->add(std::move(event)); });
}

Result<void> EventWriter::flush() {
  return guarded([&] { return state_->flush(); });
}

Result<void> EventWriter::close() {
  {
    MutexLock lock(state_->mutex);
    state_->closed = true;
    state_->changed.notify_all();
  }
  TRY(flush());
  state_->stop();
  return {};
}

std::vector<NewEvent> EventWriter::waiting() const {
  MutexLock lock(state_->mutex);
  std::vector<NewEvent> events;
  for (const Waiting& one : state_->queue) events.push_back(one.event);
  return events;
}

std::vector<NewEvent> EventWriter::refused() const {
  MutexLock lock(state_->mutex);
  return state_->refused;
}

}  // namespace quipu
