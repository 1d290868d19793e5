// What the feed says when logs are not as it left them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "support/event_reader.h"
#include "support/fresh_store.h"
#include "support/wrapped_backend.h"

namespace quipu::test {
namespace {

using Lines = std::vector<std::string>;
namespace files = std::filesystem;

class JournalTest : public ::testing::Test {
 protected:
  std::string log(const std::string& session) const {
    return scratch_.path() + "/store/sessions/" + session + ".jsonl";
  }
  void say(const std::string& session, const std::string& id) {
    const NewEntry entry = message(id, "user", "hi");
    must(store().sessions().append_session_entries(session, {&entry, 1}));
  }
  // As another process finds it.
  void reopen() { store_.emplace(must(Store::open(scratch_.path() + "/store"))); }
  Store& store() { return *store_; }
  Lines rest(std::string& cursor) {
    auto tail = must(EventStore(store()).tail(cursor));
    const auto events = all_of(tail);
    cursor = tail.cursor();
    return told(events);
  }

  ScratchDir scratch_;
  std::optional<Store> store_ = must(Store::open(scratch_.path() + "/store", {.create = true}));
  std::string cursor_;
};

TEST_F(JournalTest, ALogThatWasCutOffIsToldAnew) {
  must(store().sessions().create_session({.id = "s"}));
  say("s", "a");
  const auto size = files::file_size(log("s"));
  say("s", "b");
  EXPECT_EQ(3u, rest(cursor_).size());
  store_.reset();
  files::resize_file(log("s"), size);
  files::remove(files::path(log("s")).replace_extension(".idx"));
  reopen();
  say("s", "c");
  const Lines told = rest(cursor_);
  ASSERT_EQ(4u, told.size());
  EXPECT_EQ("session_replaced s", told[0]);
  EXPECT_EQ("entry_appended s/1 a", told[2]);
  EXPECT_EQ("entry_appended s/2 c", told[3]);
  say("s", "d");
  EXPECT_EQ(Lines{"entry_appended s/3 d"}, rest(cursor_));
  auto all = must(EventStore(store()).tail());
  const auto events = all_of(all);
  expect_complete(store(), events);
  // What is gone is told of without what it was.
  EXPECT_EQ("entry_appended s/2 ", quipu::test::told(events[2]));
}

TEST_F(JournalTest, AsManyOtherBytesAreNoticed) {
  must(store().sessions().create_session({.id = "s"}));
  const auto size = files::file_size(log("s"));
  say("s", "a");
  EXPECT_EQ(2u, rest(cursor_).size());
  const auto told_at = files::last_write_time(log("s"));
  store_.reset();
  files::resize_file(log("s"), size);
  files::remove(files::path(log("s")).replace_extension(".idx"));
  reopen();
  say("s", "b");
  files::last_write_time(log("s"), told_at + std::chrono::seconds(1));
  EXPECT_EQ("session_replaced s", rest(cursor_).at(0));
}

TEST_F(JournalTest, ASessionThatIsGoneAndComesBack) {
  must(store().sessions().create_session({.id = "s"}));
  EXPECT_EQ(1u, rest(cursor_).size());
  files::rename(log("s"), scratch_.path() + "/aside");
  EXPECT_EQ(Lines{"session_removed s"}, rest(cursor_));
  EXPECT_TRUE(rest(cursor_).empty());
  files::remove(files::path(log("s")).replace_extension(".idx"));
  files::rename(scratch_.path() + "/aside", log("s"));
  EXPECT_EQ(1u, rest(cursor_).size());
  EXPECT_TRUE(rest(cursor_).empty());
}

// A copy made by other means is the same store in other files.
TEST_F(JournalTest, ACopyOfTheFilesGoesOn) {
  must(store().sessions().create_session({.id = "s"}));
  say("s", "a");
  EXPECT_EQ(2u, rest(cursor_).size());
  must(store().close());
  files::rename(scratch_.path() + "/store", scratch_.path() + "/old");
  files::copy(scratch_.path() + "/old", scratch_.path() + "/store", files::copy_options::recursive);
  reopen();
  EXPECT_TRUE(rest(cursor_).empty());
  say("s", "b");
  EXPECT_EQ(Lines{"entry_appended s/2 b"}, rest(cursor_));
}

// The store was restored from before the cursor.
TEST_F(JournalTest, ACursorFromTheFutureIsRefused) {
  must(store().sessions().create_session({.id = "s"}));
  EXPECT_EQ(1u, rest(cursor_).size());
  must(store().close());
  files::copy(scratch_.path() + "/store", scratch_.path() + "/old", files::copy_options::recursive);
  reopen();
  say("s", "a");
  say("s", "b");
  EXPECT_EQ(2u, rest(cursor_).size());
  store_.reset();
  files::remove_all(scratch_.path() + "/store");
  files::rename(scratch_.path() + "/old", scratch_.path() + "/store");
  reopen();
  const auto gone = EventStore(store()).tail(cursor_);
  EXPECT_EQ(Code::kNotFound, code_of(gone));
  std::string oldest = gone.error().actual();
  EXPECT_EQ(1u, rest(oldest).size());
}

TEST_F(JournalTest, LinesOfOtherProgramsAreToldOf) {
  must(store().sessions().create_session({.id = "s"}));
  std::ofstream(log("s"), std::ios::app) << R"({"said":"by hand"})"
                                         << "\n";
  const Lines told = rest(cursor_);
  ASSERT_EQ(2u, told.size());
  EXPECT_TRUE(told[1].starts_with("entry_appended s/1 adopted-")) << told[1];
}

// A log whose end is being written has nothing new, and then it has.
TEST_F(JournalTest, ATornTailIsNoEntry) {
  must(store().sessions().create_session({.id = "s"}));
  EXPECT_EQ(1u, rest(cursor_).size());
  std::ofstream(log("s"), std::ios::app) << R"({"id":"half","type":"mess)";
  auto tail = must(EventStore(store()).tail(cursor_));
  EXPECT_TRUE(all_of(tail).empty());
  say("s", "a");
  EXPECT_EQ(Lines{"entry_appended s/1 a"}, told(all_of(tail)));
}

// A line of a segment that rotted away is passed over, and that is said.
TEST_F(JournalTest, DamageIsSaid) {
  const NewEvent batch[] = {event_of("a"), event_of("b"), event_of("c")};
  for (const NewEvent& event : batch) must(EventStore(store()).append({&event, 1}));
  must(store().close());
  const std::string segment = scratch_.path() + "/store/system/events.00000001.jsonl";
  std::fstream file(segment, std::ios::in | std::ios::out);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  file.seekp(static_cast<std::streamoff>(text.find("fact.b")));
  file << "\x01";
  file.close();
  files::remove(files::path(segment).replace_extension(".idx"));
  reopen();
  auto tail = must(EventStore(store()).tail());
  EXPECT_EQ((Lines{"a", "c"}), told(all_of(tail)));
  EXPECT_EQ(1u, tail.damaged());
}

// Reads and nothing else.
class ReadOnlyBackend : public WrappedBackend {
 public:
  using WrappedBackend::WrappedBackend;
  Result<void> create(const std::string&, std::span<const std::string>) override { return no(); }
  Result<AppendResult> append(const std::string&, const Batch&, const AppendOptions&) override {
    return no();
  }
  Result<void> settle(const std::string&) override { return no(); }

 private:
  static Error no() { return {Code::kStorageGone, "read-only"}; }
};

TEST_F(JournalTest, AStoreThatCannotBeWrittenIsReadAsFarAsItWasTold) {
  must(store().sessions().create_session({.id = "s"}));
  const NewEvent event = event_of("x");
  must(EventStore(store()).append({&event, 1}));
  EXPECT_EQ(2u, rest(cursor_).size());
  say("s", "a");
  Store locked(std::make_shared<ReadOnlyBackend>(store().backend()));
  auto tail = must(EventStore(locked).tail());
  EXPECT_EQ(2u, all_of(tail).size());
  ASSERT_TRUE(tail.journal_problem());
  EXPECT_EQ(Code::kStorageGone, tail.journal_problem()->code());
  EXPECT_EQ(Code::kStorageGone, code_of(EventStore(locked).append({&event, 1})));
  Store empty(std::make_shared<ReadOnlyBackend>(must(Store::open("memory:")).backend()));
  auto nothing = must(EventStore(empty).tail());
  EXPECT_TRUE(all_of(nothing).empty());
}

// Changes of sessions are told once it is over, by the same tail.
TEST_F(JournalTest, AStoreThatCanBeWrittenAgainIsToldOfWhole) {
  class Backend : public ReadOnlyBackend {
   public:
    using ReadOnlyBackend::ReadOnlyBackend;
    Result<AppendResult> append(const std::string& id, const Batch& batch,
                                const AppendOptions& options) override {
      return is_locked ? ReadOnlyBackend::append(id, batch, options)
                       : WrappedBackend::append(id, batch, options);
    }
    bool is_locked = true;
  };
  const NewEvent event = event_of("x");
  must(EventStore(store()).append({&event, 1}));
  for (const char* session : {"s", "t"}) must(store().sessions().create_session({.id = session}));
  const auto backend = std::make_shared<Backend>(store().backend());
  Store locked(backend);
  auto tail = must(EventStore(locked).tail());
  EXPECT_EQ(Lines{"x"}, told(all_of(tail)));
  EXPECT_TRUE(tail.journal_problem());
  say("s", "a");
  EXPECT_TRUE(all_of(tail).empty());
  EXPECT_TRUE(tail.journal_problem());
  backend->is_locked = false;
  const auto events = all_of(tail);
  EXPECT_EQ(3u, events.size());
  expect_complete(store(), events);
  EXPECT_FALSE(tail.journal_problem());
}

// Somebody sees that a session is gone; before that is told, somebody else tells of its successor.
TEST_F(JournalTest, ALogEndsOnceForEverybody) {
  class Backend : public WrappedBackend {
   public:
    using WrappedBackend::WrappedBackend;
    Result<AppendResult> append(const std::string& id, const Batch& batch,
                                const AppendOptions& options) override {
      if (before) std::exchange(before, nullptr)();
      return WrappedBackend::append(id, batch, options);
    }
    std::function<void()> before;
  };
  must(store().sessions().create_session({.id = "s"}));
  say("s", "a");
  EXPECT_EQ(2u, rest(cursor_).size());
  store_.reset();
  files::remove(log("s"));
  files::remove(files::path(log("s")).replace_extension(".idx"));
  reopen();
  const auto backend = std::make_shared<Backend>(store().backend());
  Store other(backend);
  auto tail = must(EventStore(other).tail(cursor_));
  backend->before = [&] {
    must(store().sessions().create_session({.id = "s"}));
    EXPECT_EQ("session_replaced s", rest(cursor_).at(0));
  };
  EXPECT_EQ(2u, all_of(tail).size());
  say("s", "b");
  EXPECT_EQ(Lines{"entry_appended s/1 b"}, told(all_of(tail)));
  auto all = must(EventStore(store()).tail());
  expect_complete(store(), all_of(all));
}

// One log that cannot be read, or no log.
class UnreadableBackend : public WrappedBackend {
 public:
  using WrappedBackend::WrappedBackend;
  Result<std::shared_ptr<const LogView>> view(const std::string& id,
                                              std::shared_ptr<const Ancestry> above) override {
    if (why && (which.empty() || id == which)) return Error(*why, "unreadable");
    return WrappedBackend::view(id, std::move(above));
  }
  std::string which;
  std::optional<Code> why;
};

class UnreadableTest : public JournalTest {
 protected:
  UnreadableTest() {
    for (const char* session : {"bad", "good"}) {
      must(store().sessions().create_session({.id = session}));
      say(session, std::string(session) + "-1");
    }
    backend_->which = "bad";
  }

  const std::shared_ptr<UnreadableBackend> backend_ =
      std::make_shared<UnreadableBackend>(store().backend());
  Store other_{backend_};
};

constexpr Code kOfASession[] = {Code::kNotAllowed, Code::kIoError, Code::kUnsupported,
                                Code::kCorrupt, Code::kInternal};

TEST_F(UnreadableTest, ASessionIsToldOfWhenItCanBeRead) {
  backend_->why = Code::kNotAllowed;
  auto tail = must(EventStore(other_).tail());
  EXPECT_EQ("entry_appended good/1 good-1", told(all_of(tail)).at(1));
  EXPECT_FALSE(tail.journal_problem());
  say("good", "good-2");
  EXPECT_EQ(Lines{"entry_appended good/2 good-2"}, told(all_of(tail)));
  backend_->why.reset();  // it looks as before
  EXPECT_EQ("entry_appended bad/1 bad-1", told(all_of(tail)).at(1));
}

TEST_F(UnreadableTest, ASessionDoesNotKeepOthersFromBeingToldOf) {
  for (const Code why : kOfASession) {
    SCOPED_TRACE(name(why));
    backend_->why = why;
    auto tail = must(EventStore(other_).tail(cursor_));
    const std::string id = "good-" + std::string(name(why));
    say("good", id);
    const Lines told = quipu::test::told(all_of(tail));
    ASSERT_FALSE(told.empty());
    EXPECT_TRUE(told.back().ends_with(id)) << told.back();
    cursor_ = tail.cursor();
  }
}

TEST_F(UnreadableTest, ASessionThatWasToldOfDoesNotKeepOthersFromBeingGiven) {
  const Lines all = rest(cursor_);
  ASSERT_EQ(4u, all.size());
  for (const Code why : kOfASession) {
    SCOPED_TRACE(name(why));
    backend_->why = why;
    auto tail = must(EventStore(other_).tail());
    const Lines told = quipu::test::told(all_of(tail));
    ASSERT_EQ(4u, told.size());
    EXPECT_EQ("entry_appended bad/1 ", told[1]);
    EXPECT_EQ(all[3], told[3]);
  }
}

TEST_F(JournalTest, AnEntryThatCannotBeReadDoesNotKeepOthersFromBeingGiven) {
  class View : public CountingView {
   public:
    using CountingView::CountingView;
    Result<StoredEntry> entry(Ordinal own) const override {
      if (own == 1) return Error(Code::kCorrupt, "it is not in the database");
      return CountingView::entry(own);
    }
  };
  class Backend : public WrappedBackend {
   public:
    using WrappedBackend::WrappedBackend;
    Result<std::shared_ptr<const LogView>> view(const std::string& id,
                                                std::shared_ptr<const Ancestry> above) override {
      auto view = must(WrappedBackend::view(id, std::move(above)));
      if (id != "s") return view;
      return std::shared_ptr<const LogView>(std::make_shared<View>(std::move(view), looked));
    }
    std::uint64_t looked = 0;
  };
  must(store().sessions().create_session({.id = "s"}));
  say("s", "a");
  say("s", "b");
  EXPECT_EQ(3u, rest(cursor_).size());
  Store other(std::make_shared<Backend>(store().backend()));
  auto tail = must(EventStore(other).tail());
  const Lines told = quipu::test::told(all_of(tail));
  ASSERT_EQ(3u, told.size());
  EXPECT_EQ("entry_appended s/1 ", told[1]);
  EXPECT_EQ("entry_appended s/2 b", told[2]);
}

// A server that was away: an error, and then everything.
TEST_F(UnreadableTest, NothingIsLostWhenTheStoreWasAway) {
  auto tail = must(EventStore(other_).tail());
  EXPECT_EQ(4u, all_of(tail).size());
  say("good", "good-2");
  backend_->which.clear();
  for (const Code why : {Code::kStorageGone, Code::kBusy, Code::kNoMemory}) {
    backend_->why = why;
    EXPECT_EQ(why, code_of(tail.next(std::chrono::milliseconds::zero())));
  }
  backend_->why.reset();
  EXPECT_EQ(Lines{"entry_appended good/2 good-2"}, told(all_of(tail)));
  say("bad", "bad-2");
  EXPECT_EQ(Lines{"entry_appended bad/2 bad-2"}, told(all_of(tail)));
}

// Counts what is asked of the store.
class CountedBackend : public WrappedBackend {
 public:
  using WrappedBackend::WrappedBackend;
  Result<std::vector<SurveyedLog>> survey() override {
    ++surveys;
    return WrappedBackend::survey();
  }
  Result<std::shared_ptr<const LogView>> view(const std::string& id,
                                              std::shared_ptr<const Ancestry> above) override {
    if (!id.starts_with(kSystemPrefix)) ++views;
    return WrappedBackend::view(id, std::move(above));
  }
  Result<AppendResult> append(const std::string& id, const Batch& batch,
                              const AppendOptions& options) override {
    ++appends;
    return WrappedBackend::append(id, batch, options);
  }
  int surveys = 0;
  int views = 0;
  int appends = 0;
};

// Segments that are looked at when events name their ids hold files.
TEST_F(JournalTest, FewOfManySegmentsStayOpen) {
  class Backend : public WrappedBackend {
   public:
    using WrappedBackend::WrappedBackend;
    Result<std::shared_ptr<const LogView>> view(const std::string& id,
                                                std::shared_ptr<const Ancestry> above) override {
      auto view = WrappedBackend::view(id, std::move(above));
      if (view.ok()) views.push_back(*view);
      return view;
    }
    std::vector<std::weak_ptr<const LogView>> views;
  };
  const auto backend = std::make_shared<Backend>(must(Store::open("memory:")).backend());
  Store store(backend);
  EventStore events(store, {.segment_bytes = 1});
  for (int i = 0; i < 40; ++i) {
    const NewEvent event = event_of("t", "e" + std::to_string(i));
    EXPECT_EQ(1u, must(events.append({&event, 1})).appended);
  }
  ASSERT_EQ(40u, must(events.segments()).size());
  for (int i = 0; i < 40; ++i) {
    const NewEvent event = event_of("t", "e" + std::to_string(i));
    EXPECT_EQ(1u, must(events.append({&event, 1})).already_present) << i;
    const auto open = std::count_if(backend->views.begin(), backend->views.end(),
                                    [](const auto& view) { return !view.expired(); });
    EXPECT_LE(open, 16);
  }
}

// What was told once costs a look at the directory, in whatever process.
TEST_F(JournalTest, WhatWasToldIsNotReadAgain) {
  for (int i = 0; i < 20; ++i) {
    must(store().sessions().create_session({.id = "s" + std::to_string(i)}));
  }
  EXPECT_EQ(20u, rest(cursor_).size());
  reopen();
  auto counted = std::make_shared<CountedBackend>(store().backend());
  Store other(counted);
  auto tail = must(EventStore(other).tail(cursor_));
  EXPECT_TRUE(all_of(tail).empty());
  EXPECT_EQ(0, counted->views);
  EXPECT_EQ(0, counted->appends);
  say("s7", "a");
  EXPECT_EQ(Lines{"entry_appended s7/1 a"}, told(all_of(tail)));
  EXPECT_LE(counted->views, 2);  // to tell, and to give
  EXPECT_EQ(1, counted->appends);
}

}  // namespace
}  // namespace quipu::test
