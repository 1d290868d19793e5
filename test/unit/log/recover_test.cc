// The decision table of recover.h, row by row.
#include "log/recover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log_text.h"

namespace quipu::log {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> texts(const LogText& log, const std::vector<std::size_t>& which) {
  std::vector<std::string> texts;
  for (const std::size_t i : which) texts.push_back(log.lines()[i].text);
  return texts;
}

std::vector<std::string> all_texts(const LogText& log) {
  std::vector<std::string> texts;
  for (const auto& line : log.lines()) texts.push_back(line.text);
  return texts;
}

TEST(RecoverTable, EmptyLogIsClean) {
  const Outcome outcome = recover_all("");
  EXPECT_THAT(outcome.sink.seen, IsEmpty());
  EXPECT_EQ(outcome.end.committed, 0U);
  EXPECT_EQ(outcome.end.torn_bytes, 0U);
  EXPECT_EQ(outcome.end.chain, chain_seed(kSession));
}

TEST(RecoverTable, NothingAfterTheLastBatchIsClean) {
  const LogText log = usual_log();
  const Outcome outcome = recover_all(log.bytes());
  EXPECT_EQ(outcome.sink.texts(), all_texts(log));
  EXPECT_EQ(outcome.end.committed, log.bytes().size());
  EXPECT_EQ(outcome.end.torn_bytes, 0U);
  EXPECT_EQ(outcome.end.chain, log.chain());
  EXPECT_THAT(outcome.sink.damages, IsEmpty());
}

TEST(RecoverTable, WholeUnsealedObjectIsAdoptedAsABatchOfOne) {
  LogText log;
  log.messages(1).foreign(R"({"x":1})").foreign(R"({"y":[2]})").messages(2);
  const Outcome outcome = recover_all(log.bytes());
  EXPECT_EQ(outcome.sink.texts(), all_texts(log));
  EXPECT_TRUE(outcome.sink.seen[0].sealed);
  EXPECT_FALSE(outcome.sink.seen[1].sealed);
  EXPECT_FALSE(outcome.sink.seen[2].sealed);
  EXPECT_THAT(outcome.sink.damages, IsEmpty());
}

// Other programs take no lock: a writer that did not see their lines extends what stood
// before them, or before some of them.
TEST(RecoverTable, UnsealedLinesMayComeBetweenALookAndAWrite) {
  for (const std::size_t seen : {0U, 1U, 2U}) {
    LogText log;
    log.messages(1);
    std::uint32_t chain = log.chain();
    const std::string foreign[] = {R"({"x":1})", R"({"x":2})"};
    std::string bytes = log.bytes();
    for (std::size_t i = 0; i < 2; ++i) {
      bytes += foreign[i] + "\n";
      if (i < seen) chain = fold_unsealed(chain, foreign[i]);
    }
    const std::size_t start = bytes.size();
    for (const std::uint32_t remaining : {1U, 0U}) {
      std::string line;
      append_unsealed(line, LogText::message("late" + std::to_string(remaining)));
      chain = write_seal(line.data(), line.size(), remaining, chain);
      bytes += line;
    }
    const Outcome outcome = recover_all(bytes);
    EXPECT_EQ(outcome.sink.seen.size(), 5U) << seen;
    EXPECT_EQ(outcome.end.torn_bytes, 0U) << seen;
    EXPECT_EQ(outcome.end.chain, chain) << seen;
    EXPECT_THAT(outcome.sink.damages, IsEmpty());
    // Damage is noticed as before.
    bytes[start + 8] ^= 1;
    EXPECT_EQ(recover_all(bytes).end.committed, start) << seen;
  }
}

// A line that came into the middle of a batch: the rest does not count as a batch.
TEST(RecoverTable, TheRestOfABatchIsNoBatch) {
  LogText log;
  log.messages(1);
  LogText batch = log;
  batch.messages(2);
  const std::string two = batch.bytes().substr(log.bytes().size());
  const std::size_t half = two.find('\n') + 1;
  const Outcome outcome =
      recover_all(log.bytes() + two.substr(0, half) + "{\"x\":1}\n" + two.substr(half));
  EXPECT_EQ(outcome.sink.seen.size(), 2U);
  EXPECT_EQ(outcome.end.torn_bytes, two.size() - half);
}

// A stale copy of such a line further on extends nothing.
TEST(RecoverTable, OnlyLinesRightBehindUnsealedOnesMayPassThemOver) {
  LogText log;
  log.messages(1);
  const std::uint32_t before = log.chain();
  log.foreign(R"({"x":1})").messages(1);
  std::string line;
  append_unsealed(line, LogText::message("late"));
  write_seal(line.data(), line.size(), 0, before);
  EXPECT_EQ(recover_all(log.bytes() + line).end.committed, log.bytes().size());
}

TEST(RecoverTable, UnsealedLastLineNeedsNoLineFeed) {
  LogText log;
  log.messages(1);
  const Outcome outcome = recover_all(log.bytes() + R"({"x":1})");
  ASSERT_EQ(outcome.sink.seen.size(), 2U);
  EXPECT_EQ(outcome.sink.seen[1].text, R"({"x":1})");
  EXPECT_EQ(outcome.end.torn_bytes, 0U);
  // As if the line feed were there: a writer adds it before it goes on.
  EXPECT_EQ(outcome.end.chain, fold_unsealed(log.chain(), R"({"x":1})"));
}

TEST(RecoverTable, SealedLastLineNeedsItsLineFeed) {
  LogText log;
  log.messages(1).messages(1);
  const Outcome outcome = recover_all(log.bytes().substr(0, log.bytes().size() - 1));
  EXPECT_EQ(outcome.sink.texts(), texts(log, {0}));
  EXPECT_EQ(outcome.end.committed, log.end_of(0));
  EXPECT_EQ(outcome.end.torn_bytes, log.lines()[1].text.size());
}

TEST(RecoverTable, BlankLinesArePassedOverAndFoldedIn) {
  LogText log;
  log.messages(1).foreign("").foreign(" \t\r").messages(2).foreign("");
  const Outcome outcome = recover_all(log.bytes());
  EXPECT_EQ(outcome.sink.texts(), texts(log, {0, 3, 4}));
  EXPECT_EQ(outcome.end.committed, log.bytes().size());
  EXPECT_EQ(outcome.end.chain, log.chain());
}

TEST(RecoverTable, LineOfAnotherSystemEndsInCarriageReturn) {
  LogText log;
  log.messages(1).foreign("{\"x\":1}\r").messages(1);
  const Outcome outcome = recover_all(log.bytes());
  ASSERT_EQ(outcome.sink.seen.size(), 3U);
  EXPECT_EQ(outcome.sink.seen[1].text, "{\"x\":1}\r");
  EXPECT_THAT(outcome.sink.damages, IsEmpty());
}

TEST(RecoverTable, BatchWithoutItsCommitLineIsTorn) {
  LogText log;
  log.messages(1).messages(3);
  const std::size_t end = log.lines()[2].end();  // two of three
  const Outcome outcome = recover_all(std::string_view(log.bytes()).substr(0, end));
  EXPECT_EQ(outcome.sink.texts(), texts(log, {0}));
  EXPECT_EQ(outcome.end.committed, log.end_of(0));
  EXPECT_EQ(outcome.end.torn_bytes, end - log.end_of(0));
  EXPECT_EQ(outcome.end.chain, find_seal(log.lines()[0].text)->crc);
  EXPECT_THAT(outcome.sink.damages, IsEmpty());
}

TEST(RecoverTable, CutLineIsTorn) {
  LogText log;
  log.messages(2);
  const Outcome outcome = recover_all(log.bytes() + R"({"id":"z","ty)");
  EXPECT_EQ(outcome.sink.texts(), all_texts(log));
  EXPECT_EQ(outcome.end.torn_bytes, 13U);
}

TEST(RecoverTable, NulRunIsTorn) {
  LogText log;
  log.messages(2);
  const Outcome outcome = recover_all(log.bytes() + std::string(4096, '\0'));
  EXPECT_EQ(outcome.sink.texts(), all_texts(log));
  EXPECT_EQ(outcome.end.torn_bytes, 4096U);
}

TEST(RecoverTable, LineOfAnotherSessionIsTorn) {
  LogText log;
  log.messages(1);
  LogText other("sess-2");
  other.batch({LogText::message("z")});
  const Outcome outcome = recover_all(log.bytes() + other.bytes());
  EXPECT_EQ(outcome.sink.texts(), all_texts(log));
  EXPECT_EQ(outcome.end.torn_bytes, other.bytes().size());
}

TEST(RecoverTable, DamagedLineBeforeAWholeBatchIsHiddenAlone) {
  const LogText log = usual_log();
  std::string bytes = log.bytes();
  bytes[log.lines()[4].offset + 8] ^= 1;  // in the middle of the batch of three
  const Outcome outcome = recover_all(bytes);
  std::vector<std::string> expected = all_texts(log);
  expected.erase(expected.begin() + 4);
  EXPECT_EQ(outcome.sink.texts(), expected);
  ASSERT_EQ(outcome.sink.damages.size(), 1U);
  EXPECT_EQ(outcome.sink.damages[0].kind, DamageKind::kDamagedLine);
  EXPECT_EQ(outcome.sink.damages[0].offset, log.lines()[4].offset);
  EXPECT_EQ(outcome.sink.damages[0].bytes, log.lines()[4].text.size() + 1);
  EXPECT_EQ(outcome.end.torn_bytes, 0U);
}

TEST(RecoverTable, BatchWithoutItsCommitLineBeforeAWholeBatchIsHiddenWhole) {
  LogText log;
  log.messages(1).messages(3);
  const std::string torn = log.bytes().substr(0, log.lines()[2].end());
  // Another program adds a line behind a torn batch: nobody cut it off.
  const Outcome outcome = recover_all(torn + "{\"x\":1}\n");
  ASSERT_EQ(outcome.sink.seen.size(), 2U);
  EXPECT_EQ(outcome.sink.seen[1].text, R"({"x":1})");
  ASSERT_EQ(outcome.sink.damages.size(), 2U);
  EXPECT_EQ(outcome.sink.damages[0].kind, DamageKind::kIncompleteBatch);
  EXPECT_EQ(outcome.sink.damages[1].kind, DamageKind::kIncompleteBatch);
  EXPECT_EQ(outcome.end.torn_bytes, 0U);
}

TEST(RecoverTable, BatchBegunBeforeTheLastOneEndedDoesNotCount) {
  LogText log;
  log.messages(1);
  LogText first = log;
  first.messages(3);
  const std::string begun = first.bytes().substr(0, first.lines()[1].end());  // remaining 2
  // A sound line with remaining 0 that extends the line before it.
  std::string line;
  append_unsealed(line, LogText::message("z"));
  write_seal(line.data(), line.size(), 0, find_seal(first.lines()[1].text)->crc);
  const Outcome outcome = recover_all(begun + line);
  EXPECT_EQ(outcome.sink.texts(), all_texts(log));
  EXPECT_EQ(outcome.end.committed, log.bytes().size());
}

TEST(RecoverTable, StaleBlockOfThisLogIsNotBelievedAfterDamage) {
  LogText log;
  log.messages(1).messages(2).messages(1);
  // Damage, then an earlier piece of the log, all lines extending each other.
  const std::string stale = log.bytes().substr(log.end_of(0));
  const Outcome outcome = recover_all(log.bytes() + std::string(3, '\0') + "\n" + stale);
  EXPECT_EQ(outcome.sink.texts(), all_texts(log));
  EXPECT_EQ(outcome.end.committed, log.bytes().size());
}

TEST(RecoverTable, BlankLineIsNoWholeBatch) {
  LogText log;
  log.messages(1);
  const Outcome outcome = recover_all(log.bytes() + std::string(7, '\0') + "\n\n\n");
  EXPECT_EQ(outcome.end.committed, log.bytes().size());
  EXPECT_EQ(outcome.end.torn_bytes, 10U);
}

TEST(RecoverTable, WriterThatFoldedDamageInIsFollowed) {
  LogText log;
  log.messages(1).foreign("%%% rotten, but an adopted line followed %%%").foreign(R"({"x":1})");
  log.messages(2);
  const Outcome outcome = recover_all(log.bytes());
  EXPECT_EQ(outcome.sink.texts(), texts(log, {0, 2, 3, 4}));
  ASSERT_EQ(outcome.sink.damages.size(), 1U);
  EXPECT_EQ(outcome.sink.damages[0].offset, log.lines()[1].offset);
}

TEST(RecoverTable, LogOfForeignLinesAloneIsAdoptedWhole) {
  const Outcome outcome = recover_all("{\"a\":1}\n{\"b\":2}\r\n\n{\"c\":3}");
  ASSERT_EQ(outcome.sink.seen.size(), 3U);
  EXPECT_EQ(outcome.end.torn_bytes, 0U);
}

TEST(RecoverTable, ArraysAndOtherValuesAreNoEntries) {
  const Outcome outcome = recover_all("{\"a\":1}\n[1,2]\n");
  EXPECT_EQ(outcome.sink.seen.size(), 1U);
  EXPECT_EQ(outcome.end.torn_bytes, 6U);
}

TEST(Header, ChainSessionIdIsTheHeadersElseTheStem) {
  const std::string header =
      R"({"id":"h","type":"session_header","payload":{"version":1,"sessionId":"abc"}})";
  EXPECT_EQ(chain_session_id(header, "stem"), "abc");
  EXPECT_EQ(header_of(header).version, 1);
  EXPECT_EQ(
      chain_session_id(R"({"id":"h","type":"message","payload":{"sessionId":"abc"}})", "stem"),
      "stem");
  EXPECT_EQ(chain_session_id("", "stem"), "stem");
  EXPECT_EQ(chain_session_id("\xff\n{", "stem"), "stem");
  EXPECT_EQ(chain_session_id(header.substr(0, header.size() - 1), "stem"), "stem");
}

TEST(SettledEnd, EndsAtTheLastCommitOrUnsealedObject) {
  LogText log;
  log.messages(1).messages(3);
  const std::string& bytes = log.bytes();
  EXPECT_EQ(settled_end(""), 0U);
  EXPECT_EQ(settled_end(bytes), bytes.size());
  EXPECT_EQ(settled_end(bytes + R"({"x":1})"), bytes.size() + 7);
  EXPECT_EQ(settled_end(bytes + "{\"x\":1}\n"), bytes.size() + 8);
  EXPECT_EQ(settled_end(bytes + "{\"x\":"), bytes.size());
  EXPECT_EQ(settled_end(bytes + std::string(99, '\0')), bytes.size());
  for (std::size_t cut = log.end_of(0); cut < bytes.size(); ++cut) {
    EXPECT_EQ(settled_end(std::string_view(bytes).substr(0, cut)), log.end_of(0)) << cut;
  }
  for (std::size_t cut = 0; cut < log.end_of(0); ++cut) {
    EXPECT_EQ(settled_end(std::string_view(bytes).substr(0, cut)), 0U) << cut;
  }
}

}  // namespace
}  // namespace quipu::log
