// The buffer before the log of events: it stores in batches, holds back who is too fast, and
// loses nothing.
#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "backend/memory/memory_backend.h"
#include "support/event_reader.h"
#include "support/wrapped_backend.h"

namespace quipu::test {
namespace {

using std::chrono::milliseconds;
using Lines = std::vector<std::string>;

// Appends answer as planned: first those that fail.
class PlannedBackend : public WrappedBackend {
 public:
  explicit PlannedBackend(Clock& clock)
      : WrappedBackend(memory::make_backend(clock, Random::system())) {}

  Result<AppendResult> append(const std::string& id, const Batch& batch,
                              const AppendOptions& options) override {
    sizes.push_back(batch.drafts.size());
    const Code code = failures.empty() ? Code::kInternal : failures.front();
    if (!failures.empty()) failures.pop_front();
    const bool is_lost = code == Code::kDurabilityUnknown;
    if (code != Code::kInternal && !is_lost) return Error(code, "planned");
    auto stored = WrappedBackend::append(id, batch, options);
    if (is_lost) return Error(code, "the answer was lost");
    return stored;
  }

  std::vector<std::size_t> sizes;
  std::deque<Code> failures;
};

class EventWriterTest : public ::testing::Test {
 protected:
  static EventWriterOptions by_caller() {
    EventWriterOptions options;
    options.own_thread = false;
    options.batch_events = 3;
    options.linger = milliseconds(100);
    return options;
  }
  Lines stored() {
    auto tail = must(EventStore(store_).tail());
    return told(all_of(tail));
  }

  ManualClock clock_;
  std::shared_ptr<PlannedBackend> backend_ = std::make_shared<PlannedBackend>(clock_);
  Store store_{backend_};
};

TEST_F(EventWriterTest, StoresByNumber) {
  EventWriter writer(store_, by_caller());
  for (const char* type : {"a", "b", "c", "d"}) must(writer.add(event_of(type)));
  EXPECT_EQ(std::vector<std::size_t>{3}, backend_->sizes);
  ASSERT_EQ(1u, writer.waiting().size());
  EXPECT_EQ("d", writer.waiting()[0].type);
  must(writer.close());
  EXPECT_EQ((Lines{"a", "b", "c", "d"}), stored());
  EXPECT_EQ(Code::kInvalidArgument, code_of(writer.add(event_of("e"))));
}

TEST_F(EventWriterTest, StoresByTime) {
  EventWriter writer(store_, by_caller());
  must(writer.add(event_of("a")));
  clock_.advance(milliseconds(99));
  must(writer.add(event_of("b")));
  EXPECT_TRUE(backend_->sizes.empty());
  clock_.advance(milliseconds(1));
  must(writer.add(event_of("c")));
  EXPECT_EQ(std::vector<std::size_t>{3}, backend_->sizes);
}

TEST_F(EventWriterTest, StoresBySize) {
  EventWriterOptions options = by_caller();
  options.batch_events = 100;
  options.batch_bytes = 1000;
  EventWriter writer(store_, options);
  const std::string payload = R"({"x":")" + std::string(600, 'x') + "\"}";
  must(writer.add(event_of("a", "", payload)));
  EXPECT_TRUE(backend_->sizes.empty());
  must(writer.add(event_of("b", "", payload)));
  must(writer.flush());
  EXPECT_EQ((std::vector<std::size_t>{1, 1}), backend_->sizes);
}

TEST_F(EventWriterTest, WhatTheDoorRefusesIsRefusedAtOnce) {
  EventWriter writer(store_, by_caller());
  EXPECT_EQ(Code::kInvalidArgument, code_of(writer.add(event_of(""))));
  EXPECT_EQ(Code::kInvalidArgument, code_of(writer.add(event_of("t", "", "{"))));
  EXPECT_EQ(Code::kInvalidArgument, code_of(writer.add(event_of("quipu.x"))));
  must(writer.add(event_of("a")));
  must(writer.close());
  EXPECT_EQ(Lines{"a"}, stored());
}

TEST_F(EventWriterTest, WhenItIsFullItIsBusy) {
  EventWriterOptions options = by_caller();
  options.batch_events = 100;
  options.buffer_events = 2;
  options.when_full = WhenFull::kBusy;
  EventWriter writer(store_, options);
  must(writer.add(event_of("a")));
  must(writer.add(event_of("b")));
  EXPECT_EQ(Code::kBusy, code_of(writer.add(event_of("c"))));
  must(writer.flush());
  must(writer.add(event_of("c")));
  must(writer.close());
  EXPECT_EQ((Lines{"a", "b", "c"}), stored());
}

TEST_F(EventWriterTest, BytesFillItToo) {
  EventWriterOptions options = by_caller();
  options.batch_events = 100;
  options.buffer_bytes = 500;
  options.when_full = WhenFull::kBusy;
  EventWriter writer(store_, options);
  const std::string payload = R"({"x":")" + std::string(600, 'x') + "\"}";
  must(writer.add(event_of("a", "", payload)));  // one always fits
  EXPECT_EQ(Code::kBusy, code_of(writer.add(event_of("b"))));
}

TEST_F(EventWriterTest, WhenItIsFullItStoresIfToldToWait) {
  EventWriterOptions options = by_caller();
  options.batch_events = 2;
  options.buffer_events = 2;
  EventWriter writer(store_, options);
  backend_->failures = {Code::kNoSpace, Code::kNoSpace};
  must(writer.add(event_of("a")));
  must(writer.add(event_of("b")));  // is due, and fails: both wait
  const auto full = writer.add(event_of("c"));
  ASSERT_EQ(Code::kBusy, code_of(full));
  EXPECT_NE(std::string::npos, full.error().message().find("planned"));
  must(writer.add(event_of("c")));
  must(writer.close());
  EXPECT_EQ((Lines{"a", "b", "c"}), stored());
}

TEST_F(EventWriterTest, WhatFailsWaitsAndIsTriedAgain) {
  EventWriter writer(store_, by_caller());
  must(writer.add(event_of("a")));
  must(writer.add(event_of("b")));
  for (const Code code : {Code::kNoSpace, Code::kIoError, Code::kBusy}) {
    backend_->failures = {code};
    EXPECT_EQ(code, code_of(writer.flush()));
    EXPECT_EQ(2u, writer.waiting().size());
  }
  backend_->failures = {Code::kStorageGone};
  EXPECT_EQ(Code::kStorageGone, code_of(writer.close()));
  EXPECT_EQ(2u, writer.waiting().size());
  must(writer.close());
  EXPECT_EQ((Lines{"a", "b"}), stored());
}

TEST_F(EventWriterTest, AnAnswerThatWasLostStoresNothingTwice) {
  EventWriterOptions options = by_caller();
  options.events.segment_bytes = 1;  // the second attempt finds another segment
  EventWriter writer(store_, options);
  must(writer.add(event_of("a")));
  backend_->failures = {Code::kDurabilityUnknown};
  EXPECT_EQ(Code::kDurabilityUnknown, code_of(writer.flush()));
  must(writer.add(event_of("b")));
  must(writer.close());
  EXPECT_EQ((Lines{"a", "b"}), stored());
}

TEST_F(EventWriterTest, AnIdThatIsTakenStopsNobodyElse) {
  const NewEvent first = event_of("a", "1");
  must(EventStore(store_).append({&first, 1}));
  EventWriter writer(store_, by_caller());
  must(writer.add(event_of("b", "2")));
  must(writer.add(event_of("other", "1")));
  must(writer.add(event_of("c", "2")));  // is due
  must(writer.add(event_of("d")));
  EXPECT_EQ(Code::kIdConflict, code_of(writer.flush()));
  ASSERT_EQ(2u, writer.refused().size());
  EXPECT_EQ("other", writer.refused()[0].type);
  EXPECT_EQ("c", writer.refused()[1].type);
  must(writer.close());
  EXPECT_EQ((Lines{"a", "b", "d"}), stored());
}

TEST_F(EventWriterTest, ItIsStoredWithoutClose) {
  { must(EventWriter(store_, by_caller()).add(event_of("a"))); }
  EXPECT_EQ(Lines{"a"}, stored());
}

// Four threads are faster than the store: they wait, and every event arrives once, in the
// order of its thread.
TEST(EventWriterThreads, ManyAddAndNothingIsLost) {
  constexpr int kThreads = 4;
  constexpr int kEvents = 2000;
  Store store = must(Store::open("memory:"));
  EventWriterOptions options;
  options.batch_events = 16;
  options.buffer_events = 40;
  options.events.segment_bytes = 100'000;
  EventWriter writer(store, options);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&writer, thread] {
      for (int i = 0; i < kEvents; ++i) {
        must(writer.add(
            event_of("t" + std::to_string(thread), "", "{\"n\":" + std::to_string(i) + "}")));
        if (i % 500 == 0) must(writer.flush());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  must(writer.close());
  std::map<std::string, int> next;
  auto tail = must(EventStore(store).tail());
  for (const Event& event : all_of(tail)) {
    EXPECT_EQ(std::to_string(next[event.type]++), member_of(event, "n"));
  }
  ASSERT_EQ(std::size_t{kThreads}, next.size());
  for (const auto& [type, count] : next) EXPECT_EQ(kEvents, count);
}

// Nobody adds, nobody flushes: the thread stores what has waited long enough.
TEST(EventWriterThreads, WhatWaitsIsStored) {
  Store store = must(Store::open("memory:"));
  EventWriter writer(store);
  auto tail = must(EventStore(store).tail());
  must(writer.add(event_of("a")));
  EXPECT_EQ(Lines{"a"}, told(must(tail.next(std::chrono::minutes(1)))));
}

}  // namespace
}  // namespace quipu::test
