#include "quipu/result.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace quipu {
namespace {

struct Row {
  Code code;
  std::string_view word;
  bool retryable;
};

// The words are a promise to programs: this table only ever grows.
constexpr Row kRows[] = {
    {Code::kNotFound, "not_found", false},
    {Code::kTailMoved, "tail_moved", false},
    {Code::kHeadMoved, "head_moved", false},
    {Code::kFenced, "fenced", false},
    {Code::kIdConflict, "id_conflict", false},
    {Code::kPartialOverlap, "partial_overlap", false},
    {Code::kUnknownParent, "unknown_parent", false},
    {Code::kBadBatch, "bad_batch", false},
    {Code::kInvalidArgument, "invalid_argument", false},
    {Code::kTooLarge, "too_large", false},
    {Code::kBusy, "busy", true},
    {Code::kNoSpace, "no_space", true},
    {Code::kNoMemory, "no_memory", true},
    {Code::kCorrupt, "corrupt", false},
    {Code::kIoError, "io_error", false},
    {Code::kDurabilityUnknown, "durability_unknown", true},
    {Code::kStorageGone, "storage_gone", false},
    {Code::kNotAllowed, "not_allowed", false},
    {Code::kUnsupported, "unsupported", false},
    {Code::kInternal, "internal", false},
};

TEST(ResultTest, EveryCodeHasItsWord) {
  static_assert(std::size(kRows) == static_cast<std::size_t>(Code::kInternal) + 1);
  for (const Row& row : kRows) {
    EXPECT_EQ(name(row.code), row.word);
    EXPECT_EQ(retryable(row.code), row.retryable) << row.word;
  }
}

TEST(ResultTest, EveryCodeHasAHintOfItsOwn) {
  std::set<std::string> hints;
  for (const Row& row : kRows) {
    const Error error(row.code, "message");
    EXPECT_GT(error.hint().size(), 10u) << row.word;
    EXPECT_EQ(error.hint().back(), '.') << row.word;
    EXPECT_TRUE(hints.emplace(error.hint()).second) << row.word;
    EXPECT_EQ(error.retryable(), row.retryable);
  }
}

TEST(ResultTest, UnknownCodesAreInternal) {
  const auto unknown = static_cast<Code>(250);
  EXPECT_EQ(name(unknown), "internal");
  EXPECT_FALSE(retryable(unknown));
  EXPECT_FALSE(Error(unknown, "").hint().empty());
}

TEST(ResultTest, ErrorCarriesWhatItWasGiven) {
  const Error error = Error(Code::kTailMoved, "tail is other")
                          .in("session s")
                          .with_hint("Look again.")
                          .with_actual("e9")
                          .with_entry_ids({"a", "b"});
  EXPECT_EQ(error.message(), "session s: tail is other");
  EXPECT_EQ(error.hint(), "Look again.");
  EXPECT_EQ(error.actual(), "e9");
  EXPECT_EQ(error.entry_ids(), (std::vector<std::string>{"a", "b"}));
}

TEST(ResultTest, ValueOrError) {
  Result<int> good = 7;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  const Result<int> bad = Error(Code::kBusy, "wait");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code(), Code::kBusy);
  EXPECT_TRUE(Result<void>().ok());
  EXPECT_FALSE(Result<void>(Error(Code::kBusy, "wait")).ok());
}

}  // namespace
}  // namespace quipu
