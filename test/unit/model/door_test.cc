#include "model/door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "base/json_scan.h"
#include "quipu/limits.h"

namespace quipu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class FixedClock : public Clock {
 public:
  std::int64_t unix_ms() override { return 1'772'357'400'000; }
  std::chrono::nanoseconds monotonic() override { return {}; }
  void sleep(std::chrono::nanoseconds) override {}
};

class ZeroRandom : public Random {
 public:
  void fill(std::span<std::byte> bytes) override {
    for (auto& byte : bytes) byte = static_cast<std::byte>(next_++);
  }

 private:
  unsigned next_ = 0;
};

class Door : public testing::Test {
 protected:
  Result<Batch> lines(const std::vector<std::string>& given) {
    kept = given;
    views.assign(kept.begin(), kept.end());
    return admit_lines(views, {.clock = clock, .random = random});
  }
  Result<Batch> entries(const std::vector<NewEntry>& given) {
    // A copy each: the test may look at several batches.
    const auto& entries = kept_entries.emplace_back(given);
    return admit_entries(entries, {.clock = clock, .random = random});
  }
  Code refusal(const std::vector<std::string>& given) {
    const auto batch = lines(given);
    EXPECT_FALSE(batch.ok()) << given[0];
    return batch.ok() ? Code::kInternal : batch.error().code();
  }
  /// The line as it is stored, but for the seal, with this parent put in.
  static std::string stored(const Draft& draft, const std::string& parent = "") {
    std::string body;
    draft.append_body(body, parent);
    return body + "}";
  }

  FixedClock clock;
  ZeroRandom random;
  // Drafts view into these.
  std::vector<std::string> kept;
  std::deque<std::vector<NewEntry>> kept_entries;
  std::vector<std::string_view> views;
};

NewEntry message(const std::string& id) {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  return entry;
}

TEST_F(Door, CallersLineIsKeptAsItCame) {
  const std::string line =
      R"({"type":"message" , "id":"a","n":1e400,"payload":{ "x" : 1.0 },"timestamp":"2026-03-01T09:30:00Z"})";
  const auto batch = lines({line});
  ASSERT_TRUE(batch.ok()) << batch.error().message();
  EXPECT_EQ(stored(batch->drafts[0]), line);
  EXPECT_TRUE(batch->drafts[0].id_given);
  EXPECT_TRUE(batch->drafts[0].timestamp_given);
  EXPECT_EQ(batch->ids(), std::vector<std::string>{"a"});
}

TEST_F(Door, WhiteSpaceAroundTheObjectIsDropped) {
  const auto batch =
      lines({" \t{\"id\":\"a\",\"type\":\"m\",\"payload\":{},"
             "\"timestamp\":\"2026-03-01T09:30:00Z\"}\r\n"});
  ASSERT_TRUE(batch.ok()) << batch.error().message();
  EXPECT_THAT(stored(batch->drafts[0]), StartsWith("{\"id\":\"a\""));
  EXPECT_EQ(stored(batch->drafts[0]).find('\n'), std::string::npos);
}

TEST_F(Door, MissingMembersGoRightAfterTheBrace) {
  const auto batch = lines({R"({"type":"message","payload":{}})"});
  ASSERT_TRUE(batch.ok());
  const Draft& draft = batch->drafts[0];
  EXPECT_FALSE(draft.id_given);
  EXPECT_EQ(draft.id.view().size(), 36U);
  EXPECT_EQ(
      stored(draft, "\"parentId\":null,"),
      "{\"id\":\"" + std::string(draft.id.view()) +
          R"(","parentId":null,"timestamp":"2026-03-01T09:30:00.000Z","type":"message","payload":{}})");
  EXPECT_TRUE(json::validate(stored(draft)).ok());
}

TEST_F(Door, EntriesAreEncodedInOurOrder) {
  NewEntry entry = message("a");
  entry.payload = R"({"x":1})";
  entry.meta = R"({"m":2})";
  entry.run_id = "r";
  const auto batch = entries({entry});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(stored(batch->drafts[0], "\"parentId\":\"p\","),
            R"({"id":"a","parentId":"p","type":"message","timestamp":"2026-03-01T09:30:00.000Z",)"
            R"("runId":"r","payload":{"x":1},"meta":{"m":2}})");
  entry.parent = Parent::of("q");
  const auto given = entries({entry});
  ASSERT_TRUE(given.ok());
  EXPECT_THAT(stored(given->drafts[0]), StartsWith(R"({"id":"a","parentId":"q","type")"));
  EXPECT_EQ(given->drafts[0].parent.view(), "q");
}

TEST_F(Door, DraftSurvivesBeingMoved) {
  std::vector<NewEntry> many;
  for (int i = 0; i < 50; ++i) many.push_back(message("e" + std::to_string(i)));
  auto batch = entries(many);
  ASSERT_TRUE(batch.ok());
  std::vector<Draft> moved = std::move(batch->drafts);
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(stored(moved[static_cast<std::size_t>(i)]),
                StartsWith("{\"id\":\"e" + std::to_string(i) + "\",\"type\":\"message\""));
  }
}

TEST_F(Door, RefusesEveryBrokenEnvelope) {
  for (const std::string line : {
           R"()",
           R"([])",
           R"("text")",
           R"({"id":"a","type":"message","payload":{})",      // cut
           R"({"id":"a","type":"message","payload":{}} {})",  // two
           R"({"id":"a","type":"message"})",                  // no payload
           R"({"id":"a","payload":{}})",                      // no type
           R"({"id":"a","type":"","payload":{}})",
           R"({"id":"a","type":7,"payload":{}})",
           R"({"id":"a","type":"message","payload":[]})",
           R"({"id":"a","type":"message","payload":"{}"})",
           R"({"id":"a","type":"message","payload":null})",
           R"({"id":"","type":"message","payload":{}})",
           R"({"id":7,"type":"message","payload":{}})",
           R"({"id":null,"type":"message","payload":{}})",
           R"({"id":"a\u0000b","type":"message","payload":{}})",
           R"({"id":"a\nb","type":"message","payload":{}})",
           R"({"id":"a\u007f","type":"message","payload":{}})",
           R"({"id":"a","parentId":"","type":"message","payload":{}})",
           R"({"id":"a","parentId":5,"type":"message","payload":{}})",
           R"({"id":"a","type":"message","payload":{},"timestamp":"yesterday"})",
           R"({"id":"a","type":"message","payload":{},"timestamp":1772357400})",
           R"({"id":"a","type":"message","payload":{},"timestamp":"2026-02-30T00:00:00Z"})",
           R"({"id":"a","type":"message","payload":{},"timestamp":"2026-03-01T09:30:00+01:00"})",
           R"({"id":"a","type":"message","payload":{},"runId":1})",
           R"({"id":"a","type":"message","payload":{},"meta":[]})",
           R"({"id":"a","type":"message","payload":{},"meta":null})",
           R"({"id":"a","type":"message","payload":{},"_tx":"0000.00000000"})",
           R"({"id":"a","type":"message","payload":{},"\u005ftx":"x"})",
           R"({"id":"a","type":"message","payload":{},"_":1})",
           R"({"id":"a","id":"a","type":"message","payload":{}})",
           R"({"id":"a","type":"message","payload":{},"\u0069d":"b"})",
           R"({"id":"a","type":"message","payload":{},"x":1,"x":1})",
           R"({"id":"a","type":"session_header","payload":{}})",
           R"({"id":"a","type":"session\u005fheader","payload":{}})",
           R"({"id":"a","type":"label","parentId":"b","payload":{}})",
           R"({"id":"a","type":"head","payload":{}})",
           R"({"id":"a","type":"head","payload":{"entryId":5}})",
           R"({"id":"a","type":"redaction","payload":{"entryId":"x"}})",
           "{\"id\":\"a\",\n\"type\":\"message\",\"payload\":{}}",
           "{\"id\":\"a\",\"type\":\"message\",\"payload\":{\r}}",
           "{\"id\":\"a\",\"type\":\"message\",\"payload\":{\"x\":\"\xff\"}}",
           "\xef\xbb\xbf{\"id\":\"a\",\"type\":\"message\",\"payload\":{}}",
           R"({"id":"a","type":"message","payload":{"x":"\ud800"}})",
           R"({"id":"a","type":"message","payload":{"x":01}})",
       }) {
    EXPECT_EQ(refusal({line}), Code::kInvalidArgument) << line;
  }
}

TEST_F(Door, MessageNamesTheEntryByItsPosition) {
  const auto batch = lines({R"({"type":"m","payload":{}})", R"({"type":"m"})"});
  ASSERT_FALSE(batch.ok());
  EXPECT_THAT(batch.error().message(), StartsWith("entry 2: "));
}

TEST_F(Door, NullParentMakesARootAlsoOfAFact) {
  const auto batch = lines({R"({"id":"a","parentId":null,"type":"message","payload":{}})",
                            R"({"id":"b","parentId":null,"type":"usage","payload":{}})"});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->drafts[0].parent_link, ParentLink::kNull);
}

TEST_F(Door, FactsCarryTheirTarget) {
  const auto batch = lines({R"({"id":"a","type":"head","payload":{"entryId":"x\u0079"}})",
                            R"({"id":"b","type":"label","payload":{"targetEntryId":"z"}})",
                            R"({"id":"c","type":"label","payload":{}})"});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->drafts[0].target.view(), "xy");
  EXPECT_EQ(batch->drafts[1].target.view(), "z");
  EXPECT_EQ(batch->drafts[2].target.view(), "");
}

TEST_F(Door, BatchesThatContradictThemselves) {
  const auto node = [](const std::string& id, const std::string& parent) {
    return R"({"id":")" + id + R"(","parentId":")" + parent + R"(","type":"m","payload":{}})";
  };
  EXPECT_EQ(refusal({node("a", "x"), node("b", "x"), node("a", "y")}), Code::kBadBatch);
  EXPECT_EQ(refusal({node("a", "a")}), Code::kBadBatch);
  EXPECT_EQ(refusal({node("a", "b"), node("b", "x")}), Code::kBadBatch);
  EXPECT_TRUE(lines({node("b", "x"), node("a", "b")}).ok());
  EXPECT_EQ(refusal({R"({"id":"a","type":"m","payload":{}})",
                     R"({"id":"\u0061","type":"m","payload":{}})"}),
            Code::kBadBatch);
}

TEST_F(Door, Limits) {
  EXPECT_FALSE(lines({}).ok());
  const std::string head = R"({"id":"a","type":"m","payload":{"x":")";
  const std::string tail = "\"}}";
  std::string line = head + std::string(kLineBytesMax - head.size() - tail.size(), 'x') + tail;
  EXPECT_TRUE(lines({line}).ok());
  line.insert(head.size(), 1, 'x');
  EXPECT_EQ(refusal({line}), Code::kTooLarge);
  EXPECT_EQ(refusal({R"({"id":")" + std::string(257, 'i') + R"(","type":"m","payload":{}})"}),
            Code::kInvalidArgument);
  EXPECT_TRUE(lines({R"({"id":")" + std::string(256, 'i') + R"(","type":"m","payload":{}})"}).ok());
  const std::string deep(kJsonDepthMax - 2, '[');
  EXPECT_TRUE(lines({R"({"id":"a","type":"m","payload":{"x":)" + deep +
                     std::string(kJsonDepthMax - 2, ']') + "}}"})
                  .ok());
  EXPECT_EQ(refusal({R"({"id":"a","type":"m","payload":{"x":[)" + deep +
                     std::string(kJsonDepthMax - 2, ']') + "]}}"}),
            Code::kInvalidArgument);
  const std::vector<NewEntry> many(kBatchEntriesMax + 1, message(""));
  const auto batch = entries(many);
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code(), Code::kTooLarge);
}

TEST_F(Door, PayloadAndMetaSmuggleNothingIn) {
  for (const std::string smuggled :
       {R"({},"parentId":"x")", R"({},"id":"b")", R"({},"extra":{})", R"({},"_tx":"0000.00000000")",
        R"({}})", R"({}}{)", R"({},"meta":{})", "", " ", "[]", "1", "{},", "{}\n", "{\n}"}) {
    NewEntry entry = message("a");
    entry.payload = smuggled;
    auto batch = entries({entry});
    EXPECT_FALSE(batch.ok()) << smuggled;
    if (smuggled.empty()) continue;  // no meta
    entry.payload = "{}";
    entry.meta = smuggled;
    batch = entries({entry});
    EXPECT_FALSE(batch.ok()) << smuggled;
  }
  NewEntry both = message("a");
  both.payload = R"({},"meta":{)";
  both.meta = R"(})";
  EXPECT_FALSE(entries({both}).ok());
}

TEST_F(Door, TextsThatAreNoUtf8AreRefusedNotChanged) {
  for (int which = 0; which < 4; ++which) {
    NewEntry entry = message("a");
    (which == 0   ? entry.id
     : which == 1 ? entry.type
     : which == 2 ? entry.run_id
                  : entry.payload) = which == 3 ? "{\"x\":\"\xff\"}" : "a\xff";
    const auto batch = entries({entry});
    ASSERT_FALSE(batch.ok()) << which;
    EXPECT_EQ(batch.error().code(), Code::kInvalidArgument);
  }
  NewEntry entry = message("a");
  entry.parent = Parent::of("p\xff");
  const auto batch = entries({entry});
  EXPECT_FALSE(batch.ok()) << "the parent would be another one: " << batch->drafts[0].parent.view();
}

TEST_F(Door, RepeatComparesWhatWasGiven) {
  const std::string line = R"({"id":"a","type":"message","payload":{"x":1}})";
  auto batch = lines({line});
  ASSERT_TRUE(batch.ok());
  const Draft& draft = batch->drafts[0];
  const auto same = [&](const std::string& text) { return same_as_stored(draft, text); };
  EXPECT_TRUE(same(
      R"({"parentId":"z","timestamp":"2020-01-01T00:00:00.000Z","id":"a","type":"message","payload":{"x":1},"_tx":"0000.00000000"})"));
  EXPECT_TRUE(same(R"({"payload":{"x":1},"type":"message","id":"a"})")) << "order is no content";
  EXPECT_FALSE(same(R"({"id":"a","type":"message","payload":{"x":2}})"));
  EXPECT_FALSE(same(R"({"id":"a","type":"message","payload":{"x": 1}})")) << "bytes are";
  EXPECT_FALSE(same(R"({"id":"a","type":"custom","payload":{"x":1}})"));
  EXPECT_FALSE(same(R"({"id":"a","type":"message"})"));
}

TEST_F(Door, GivenParentAndTimestampAreCompared) {
  const auto batch = lines({R"({"id":"a","parentId":null,"type":"m","payload":{},)"
                            R"("timestamp":"2026-03-01T09:30:00.000Z"})"});
  ASSERT_TRUE(batch.ok());
  const Draft& draft = batch->drafts[0];
  EXPECT_TRUE(same_as_stored(
      draft,
      R"({"id":"a","parentId":null,"type":"m","payload":{},"timestamp":"2026-03-01T09:30:00.000Z"})"));
  EXPECT_FALSE(same_as_stored(
      draft,
      R"({"id":"a","parentId":"b","type":"m","payload":{},"timestamp":"2026-03-01T09:30:00.000Z"})"));
  EXPECT_FALSE(same_as_stored(
      draft,
      R"({"id":"a","parentId":null,"type":"m","payload":{},"timestamp":"2026-03-01T09:30:00.001Z"})"));
}

TEST_F(Door, RepeatOfAnEncodedEntryIgnoresItsFilledInTime) {
  const auto batch = entries({message("a")});
  ASSERT_TRUE(batch.ok());
  EXPECT_TRUE(same_as_stored(
      batch->drafts[0],
      R"({"id":"a","parentId":"q","type":"message","timestamp":"1999-01-01T00:00:00.000Z","payload":{}})"));
  EXPECT_FALSE(same_as_stored(
      batch->drafts[0],
      R"({"id":"a","type":"message","timestamp":"2026-03-01T09:30:00.000Z","payload":{"x":1}})"));
}

}  // namespace
}  // namespace quipu
