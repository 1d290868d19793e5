// What appending does to the files of a session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "log_text.h"
#include "sim_store.h"

namespace quipu::log {
namespace {

using fs::SimCall;
using fs::SimDisk;

class Writer : public testing::Test {
 protected:
  Writer() {
    auto created = store.api().create_session(named("s"));
    EXPECT_TRUE(created.ok());
  }
  void must_append(SimStore& where, const std::vector<std::string>& lines,
                   const AppendOptions& options = {}) {
    const auto appended = where.append(lines, options);
    ASSERT_TRUE(appended.ok()) << appended.error().message();
    ASSERT_EQ(appended->appended_count, lines.size());
  }
  std::string log_bytes() { return disk.read_file(kLogPath).value(); }
  std::vector<std::string> quarantined() {
    std::vector<std::string> found;
    for (const std::string& path : disk.files()) {
      if (path.starts_with("quarantine/")) found.push_back(path);
    }
    return found;
  }

  SimDisk disk;
  SimStore store{disk};
};

TEST_F(Writer, AppendedLinesAreSealedAndDurable) {
  must_append(store, {entry("a"), entry("b"), entry("c")});
  const Outcome outcome = recover_all(log_bytes(), "s");
  EXPECT_EQ(outcome.sink.seen.size(), 4U);
  EXPECT_EQ(outcome.end.torn_bytes, 0U);
  EXPECT_EQ(disk.read_durable(kLogPath), log_bytes());
  EXPECT_EQ(store.ids(), (Ids{"a", "b", "c"}));
}

// Made with the first of them, in a store that is open already.
TEST_F(Writer, TheDirectoryOfSystemLogsIsDurable) {
  auto process = disk.process();
  FakeClock clock;
  CountingRandom random;
  auto backend =
      file::FileBackend::open(std::move(process), clock, random,
                              {.create = true, .lock_wait = std::chrono::milliseconds(50)});
  ASSERT_TRUE(backend.ok());
  const std::string header = R"({"id":"h","type":"session_header","payload":{"version":1}})";
  ASSERT_TRUE((*backend)->create("system/x", {&header, 1}).ok());
  SimDisk after = disk.crash({fs::DataLoss::kNothing, fs::NameLoss::kAll}, 0);
  EXPECT_TRUE(after.read_file("system/x.jsonl").has_value());
  // What was dropped does not come back.
  ASSERT_TRUE((*backend)->drop_system("system/x").ok());
  after = disk.crash({fs::DataLoss::kNothing, fs::NameLoss::kAll}, 0);
  EXPECT_FALSE(after.read_file("system/x.jsonl").has_value());
}

// A backup on a read-only medium: the file of locks cannot be opened for writing.
TEST_F(Writer, AStoreThatCannotBeWrittenCanBeRead) {
  must_append(store, {entry("a")});
  FakeClock clock;
  CountingRandom random;
  int read_only = 0;
  for (std::uint64_t call = 1; call <= 12; ++call) {
    auto process = disk.process();
    fs::SimFs& raw = *process;
    raw.set_faults({.fail_at = call, .error = EROFS});
    auto backend =
        file::FileBackend::open(std::move(process), clock, random,
                                {.create = false, .lock_wait = std::chrono::milliseconds(50)});
    if (!backend.ok()) continue;
    raw.set_faults({});
    SessionStore reader(*backend);
    const auto entries = reader.load_session_entries("s");
    ASSERT_TRUE(entries.ok()) << entries.error().message();
    EXPECT_EQ(2U, entries->size());
    const std::string repeated = entry("a");
    const auto appended = reader.append_session_lines("s", {{std::string_view(repeated)}});
    if (appended.ok()) continue;
    EXPECT_EQ(Code::kStorageGone, appended.error().code());
    ++read_only;
  }
  EXPECT_EQ(1, read_only);
}

TEST_F(Writer, RepeatAddsNothing) {
  must_append(store, {entry("a"), entry("b")});
  const std::string before = log_bytes();
  const auto again = store.append({entry("a"), entry("b")});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->appended_count, 0U);
  EXPECT_EQ(again->already_present, 2U);
  EXPECT_TRUE(again->durable);
  EXPECT_EQ(log_bytes(), before);
}

// `durable` is a promise about the disk, also when nothing had to be written.
TEST_F(Writer, RepeatOfARelaxedAppendIsDurableOnlyWhenSynced) {
  const auto first = store.append({entry("a")}, relaxed());
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(first->durable);
  const auto again = store.append({entry("a")});
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->durable);
  EXPECT_EQ(disk.read_durable(kLogPath), log_bytes()) << "durable was promised, nothing was synced";
}

// The retry after a crash of the process: the very case that repeats are for.
TEST_F(Writer, RepeatAfterAKilledWriterIsDurableOnlyWhenSynced) {
  must_append(store, {entry("a")});
  SimStore other(disk, 2);
  must_append(other, {entry("b")});
  disk.record(true);
  must_append(other, {entry("c")});
  const auto calls = disk.records();
  disk.record(false);
  std::uint64_t upto = 0;  // the write, but not the sync
  while (calls[upto].call != SimCall::kSync) ++upto;
  other.raw().set_faults({.crash_after = upto});
  ASSERT_FALSE(other.append({entry("d")}).ok());
  const auto again = store.append({entry("d")});
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->already_present, 1U);
  EXPECT_TRUE(again->durable);
  EXPECT_EQ(disk.read_durable(kLogPath), log_bytes()) << "durable was promised, nothing was synced";
}

TEST_F(Writer, TornTailGoesToQuarantineByteForByte) {
  must_append(store, {entry("a")});
  const std::string sound = log_bytes();
  const std::string torn = R"({"id":"z","type":"mes)" + std::string("\0\x01\xff", 3);
  disk.write_file(kLogPath, sound + torn);
  EXPECT_EQ(store.ids(), (Ids{"a"}));
  EXPECT_TRUE(quarantined().empty()) << "readers write nothing";

  must_append(store, {entry("b")});
  EXPECT_EQ(store.ids(), (Ids{"a", "b"}));
  EXPECT_TRUE(log_bytes().starts_with(sound));
  EXPECT_EQ(log_bytes().find("\"z\""), std::string::npos);
  ASSERT_EQ(quarantined().size(), 1U);
  const std::string kept = disk.read_durable(quarantined()[0]).value();
  const auto feed = kept.find('\n');
  EXPECT_EQ(kept.substr(feed + 1), torn);
  const std::string record = kept.substr(0, feed);
  EXPECT_NE(record.find(R"("session":"s")"), std::string::npos) << record;
  EXPECT_NE(record.find("\"offset\":" + std::to_string(sound.size())), std::string::npos) << record;
  EXPECT_NE(record.find("\"bytes\":" + std::to_string(torn.size())), std::string::npos) << record;
}

TEST_F(Writer, TwoTornTailsInOneMillisecondBothKept) {
  for (const char* torn : {"{\"one", "{\"two"}) {
    disk.write_file(kLogPath, log_bytes() + torn);
    must_append(store, {entry(torn + 2)});
  }
  EXPECT_EQ(quarantined().size(), 2U);
}

TEST_F(Writer, QuarantineIsDurableBeforeTheTailIsCut) {
  must_append(store, {entry("a")});
  const std::string torn = "{\"id\":\"torn";
  disk.write_file(kLogPath, log_bytes() + torn);
  disk.record(true);
  must_append(store, {entry("b")});
  std::vector<SimCall> order;
  for (const auto& call : disk.records()) {
    const bool log = call.path == kLogPath;
    if (call.call == SimCall::kSyncDir || (!log && call.call == SimCall::kSync) ||
        (log && (call.call == SimCall::kTruncate || call.call == SimCall::kAppend ||
                 call.call == SimCall::kSync))) {
      order.push_back(call.call);
    }
  }
  EXPECT_THAT(order, testing::ElementsAre(SimCall::kSync, SimCall::kSyncDir, SimCall::kTruncate,
                                          SimCall::kSync, SimCall::kAppend, SimCall::kSync));
}

TEST_F(Writer, ForeignLinesAreAdoptedAndFoldedIn) {
  must_append(store, {entry("a")});
  disk.write_file(kLogPath, log_bytes() + "{\"type\":\"user\",\"id\":\"f\"}\r\n\n{\"x\":1}\n");
  must_append(store, {entry("b")});
  const auto entries = store.api().load_session_entries("s");
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 5U);
  EXPECT_EQ((*entries)[2].id, "f");
  EXPECT_TRUE((*entries)[2].adopted);
  EXPECT_TRUE((*entries)[3].adopted);
  EXPECT_EQ((*entries)[4].parent_id, (*entries)[3].id);
  const Outcome outcome = recover_all(log_bytes(), "s");
  EXPECT_EQ(outcome.sink.seen.size(), 5U);
  EXPECT_TRUE(outcome.sink.damages.empty());
  EXPECT_TRUE(quarantined().empty());
}

TEST_F(Writer, LastForeignLineGetsItsLineFeed) {
  must_append(store, {entry("a")});
  const std::string before = log_bytes() + R"({"id":"f"})";
  disk.write_file(kLogPath, before);
  EXPECT_EQ(store.ids(), (Ids{"a", "f"}));
  EXPECT_EQ(log_bytes(), before) << "readers write nothing";
  must_append(store, {entry("b")});
  EXPECT_TRUE(log_bytes().starts_with(before + "\n{"));
  EXPECT_EQ(store.ids(), (Ids{"a", "f", "b"}));
}

// The chain begins with the session id of the first line: when that line is cut
// off, it begins with what a reader will find there.
TEST_F(Writer, EntriesBehindATornHeaderStayVisible) {
  std::string header = log_bytes();
  const auto id = header.find(R"("sessionId":"s")");
  ASSERT_NE(id, std::string::npos);
  header.replace(id, 15, R"("sessionId":"r")");
  disk.write_file(kLogPath, header);
  SimStore fresh(disk, 4);
  must_append(fresh, {entry("a")});
  must_append(fresh, {entry("b")});
  EXPECT_EQ(fresh.ids(), (Ids{"a", "b"}));
  disk.remove_file(kIndexPath);
  SimStore again(disk, 5);
  EXPECT_EQ(again.ids(), (Ids{"a", "b"}));
}

TEST_F(Writer, FullDiskLeavesTheOldBoundary) {
  must_append(store, {entry("a")});
  const std::string before = log_bytes();
  for (const auto part :
       {fs::ShortWrite::kAllButOne, fs::ShortWrite::kHalf, fs::ShortWrite::kOneByte}) {
    disk.record(true);
    ASSERT_TRUE(store.append({entry("a")}).ok());
    const auto calls = disk.records();
    disk.record(false);
    // One call more than a repeat: the write.
    const auto unlock = std::find_if(
        calls.begin(), calls.end(), [](const auto& call) { return call.call == SimCall::kUnlock; });
    disk.set_faults({.fail_at = static_cast<std::uint64_t>(unlock - calls.begin()) + 1,
                     .error = ENOSPC,
                     .short_write = part});
    const auto appended = store.append({entry("b", std::string(100, 'x'))});
    ASSERT_TRUE(disk.fault_fired());
    disk.set_faults({});
    ASSERT_FALSE(appended.ok());
    EXPECT_EQ(appended.error().code(), Code::kNoSpace);
    EXPECT_EQ(log_bytes(), before);
    EXPECT_EQ(store.ids(), (Ids{"a"}));
    EXPECT_EQ(appended.error().entry_ids(), (Ids{"b"}));
  }
  must_append(store, {entry("b")});
  EXPECT_EQ(store.ids(), (Ids{"a", "b"}));
  EXPECT_TRUE(quarantined().empty());
}

TEST_F(Writer, FailedSyncIsUnknownAndRefusesUntilReopened) {
  must_append(store, {entry("a")});
  disk.record(true);
  must_append(store, {entry("b")});
  const auto calls = disk.records();
  disk.record(false);
  std::uint64_t sync = 1;
  while (calls[sync - 1].call != SimCall::kSync) ++sync;
  disk.set_faults({.fail_at = sync, .error = EIO});
  const auto appended = store.append({entry("c")});
  ASSERT_TRUE(disk.fault_fired());
  disk.set_faults({});
  ASSERT_FALSE(appended.ok());
  EXPECT_EQ(appended.error().code(), Code::kDurabilityUnknown);
  for (int i = 0; i < 3; ++i) {
    const auto later = store.append({entry("d")});
    ASSERT_FALSE(later.ok());
    EXPECT_EQ(later.error().code(), Code::kIoError);
  }
  const auto ids = store.ids();  // reading goes on
  EXPECT_EQ(Ids(ids.begin(), ids.begin() + 2), (Ids{"a", "b"}));

  SimStore again(disk, 3);
  const auto repeated = again.append({entry("c")});
  ASSERT_TRUE(repeated.ok());
  must_append(again, {entry("d")});
  EXPECT_EQ(again.ids(), (Ids{"a", "b", "c", "d"}));
}

// A backup copied over the log: same inode, same size, another content.
TEST_F(Writer, AnIndexThatDoesNotFitTheLogIsNotBelieved) {
  SimDisk other_disk;
  SimStore other(other_disk);
  ASSERT_TRUE(other.api().create_session(named("s")).ok());
  must_append(other, {entry("x"), entry("y")});
  must_append(store, {entry("a"), entry("b")});
  ASSERT_TRUE(store.close().ok());
  const std::string copy = other_disk.read_file(kLogPath).value();
  ASSERT_EQ(copy.size(), log_bytes().size());
  disk.write_file(kLogPath, copy);
  SimStore again(disk, 2);
  const auto repeated = again.append({entry("x"), entry("y")});
  ASSERT_TRUE(repeated.ok()) << repeated.error().message();
  EXPECT_EQ(repeated->already_present, 2U);
  EXPECT_EQ(again.ids(), (Ids{"x", "y"}));
}

TEST_F(Writer, AMigrationThatSucceededIsDurable) {
  disk.write_file("sessions/old.jsonl", "{\"id\":\"a\",\"type\":\"user\",\"text\":\"hi\"}\n");
  ASSERT_TRUE(store.api().migrate_session("old").ok());
  SimDisk after = disk.crash({fs::DataLoss::kNothing, fs::NameLoss::kAll}, 0);
  SimStore again(after, 2);
  const auto about = again.api().describe_session("old");
  ASSERT_TRUE(about.ok());
  EXPECT_EQ(about->schema_version, 1);
}

// A rebuild after every start of the machine would be right, and slow.
TEST_F(Writer, IndexOfACleanCloseIsBelievedAfterAPowerCut) {
  must_append(store, {entry("a"), entry("b")});
  ASSERT_TRUE(store.close().ok());
  SimDisk after = disk.crash({fs::DataLoss::kNothing, fs::NameLoss::kNone}, 0);
  SimStore again(after, 2);
  after.record(true);
  must_append(again, {entry("c")});
  for (const auto& record : after.records()) EXPECT_NE(record.call, SimCall::kRemove);
  EXPECT_EQ(again.ids(), (Ids{"a", "b", "c"}));
}

TEST_F(Writer, SessionsClosedToMakeRoomAreDurableAfterClose) {
  constexpr int kSessions = 300;  // more than a store keeps open
  const auto id_of = [](int number) { return "many-" + std::to_string(number); };
  for (int i = 0; i < kSessions; ++i) {
    ASSERT_TRUE(store.api().create_session(named(id_of(i))).ok());
    const std::string line = entry("e");
    const std::string_view view(line);
    ASSERT_TRUE(store.api().append_session_lines(id_of(i), {&view, 1}, relaxed()).ok());
  }
  ASSERT_TRUE(store.close().ok());
  fs::SimDisk after = disk.crash({fs::DataLoss::kNothing, fs::NameLoss::kAll}, 0);
  SimStore again(after, 2);
  for (int i = 0; i < kSessions; ++i) {
    ASSERT_EQ(again.ids(id_of(i)), Ids{"e"}) << i;
  }
}

TEST_F(Writer, AnotherFileUnderTheNameIsOpenedInstead) {
  must_append(store, {entry("a")});
  LogText generation("s");
  generation.batch(
      {R"({"id":"h","type":"session_header","payload":{"version":1,"sessionId":"s"})"});
  generation.batch({R"({"id":"n","type":"message","parentId":null,"payload":{})"});
  disk.write_file("sessions/.s.new", generation.bytes());
  ASSERT_TRUE(disk.process()->rename("sessions/.s.new", kLogPath).ok());
  must_append(store, {entry("b")});
  EXPECT_TRUE(log_bytes().starts_with(generation.bytes()));
  EXPECT_EQ(store.ids(), (Ids{"n", "b"}));
}

TEST_F(Writer, SeesWhatAnotherProcessAppended) {
  SimStore other(disk, 2);
  for (int i = 0; i < 200; ++i) {
    must_append(i % 2 == 0 ? store : other, {entry("e" + std::to_string(i))});
  }
  EXPECT_EQ(store.ids().size(), 200U);
  EXPECT_EQ(store.ids(), other.ids());
  const auto tail = other.append({entry("x")}, expecting_tail("e199"));
  EXPECT_TRUE(tail.ok());
  const auto moved = store.append({entry("y")}, expecting_tail("e199"));
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().code(), Code::kTailMoved);
  EXPECT_EQ(moved.error().actual(), "x");
}

TEST_F(Writer, EveryByteOfTheIndexFlippedUnderAnOpenWriter) {
  must_append(store, {entry("a"), entry("b"), entry("c")});
  const std::size_t size = disk.read_file(kIndexPath).value().size();
  Ids expected{"a", "b", "c"};
  for (std::size_t at = 0; at < size; at += 7) {
    ASSERT_TRUE(disk.flip(kIndexPath, at, 0x10));
    const std::string id = "e" + std::to_string(at);
    const auto repeat = store.append({entry("b")});
    ASSERT_TRUE(repeat.ok()) << at << repeat.error().message();
    ASSERT_EQ(repeat->already_present, 1U) << at;
    must_append(store, {entry(id)}, expecting_tail(expected.back()));
    expected.push_back(id);
    if (testing::Test::HasFatalFailure()) FAIL() << "byte " << at;
    if (expected.size() > 60) {  // keep it in one page
      ASSERT_TRUE(store.api().repair_session("s").ok());
      break;
    }
  }
  EXPECT_EQ(store.ids(), expected);
  SimStore fresh(disk, 9);
  EXPECT_EQ(fresh.ids(), expected);
}

}  // namespace
}  // namespace quipu::log
