// NewEntry: the door for callers that have no JSON line.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "support/history_store.h"

namespace quipu::test {
namespace {

NewEntry message(const std::string& id, const std::string& payload = "{}") {
  NewEntry entry;
  entry.id = id;
  entry.type = "message";
  entry.payload = payload;
  return entry;
}

class EntryDoor : public ::testing::TestWithParam<bool> {
 protected:
  EntryDoor() : target_(GetParam() ? scratch_.path() + "/store" : "memory:", Door::kEntries) {
    EXPECT_TRUE(target_.create("s1").ok());
  }

  Result<AppendResult> append(const std::vector<NewEntry>& entries,
                              const AppendOptions& options = {}) {
    return target_.api().append_session_entries("s1", entries, options);
  }

  Code code_of(const std::vector<NewEntry>& entries) {
    const auto before = target_.view("s1");
    const auto result = append(entries);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ("", difference(*before, target_.view("s1").value()));
    return result.ok() ? Code::kInternal : result.error().code();
  }

  ScratchDir scratch_;
  StoreTarget target_;
};

TEST_P(EntryDoor, EncodesInOurOwnOrder) {
  NewEntry entry = message("a", R"({"role":"user", "content":"hi"})");
  entry.parent = Parent::root();
  entry.timestamp = "2026-01-02T03:04:05.678Z";
  entry.run_id = "run \"1\"";
  entry.meta = R"({"m": [1, 2]})";
  ASSERT_TRUE(append({entry}).ok());
  NewEntry child = message("b");
  child.timestamp = "2026-01-02T03:04:05.678Z";
  NewEntry fact;
  fact.id = "u";
  fact.type = "usage";
  ASSERT_TRUE(append({child, fact}).ok());

  const auto entries = target_.api().load_session_entries("s1");
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(4u, entries->size());
  EXPECT_EQ(
      R"({"id":"a","parentId":null,"type":"message","timestamp":"2026-01-02T03:04:05.678Z",)"
      R"("runId":"run \"1\"","payload":{"role":"user", "content":"hi"},"meta":{"m": [1, 2]}})",
      (*entries)[1].json);
  EXPECT_EQ(R"({"id":"b","parentId":"a","type":"message","timestamp":"2026-01-02T03:04:05.678Z",)"
            R"("payload":{}})",
            (*entries)[2].json);
  EXPECT_EQ(R"({"id":"u","type":"usage","timestamp":"2026-03-01T09:30:00.000Z","payload":{}})",
            (*entries)[3].json);
  EXPECT_EQ("run \"1\"", (*entries)[1].run_id);
}

TEST_P(EntryDoor, FillsInIds) {
  const auto result = append({message(""), message(""), message("c")});
  ASSERT_TRUE(result.ok()) << result.error().message();
  ASSERT_EQ(3u, result->entry_ids.size());
  const std::regex uuid_v7("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  EXPECT_TRUE(std::regex_match(result->entry_ids[0], uuid_v7)) << result->entry_ids[0];
  EXPECT_TRUE(std::regex_match(result->entry_ids[1], uuid_v7)) << result->entry_ids[1];
  EXPECT_NE(result->entry_ids[0], result->entry_ids[1]);
  EXPECT_EQ("c", result->entry_ids[2]);
}

TEST_P(EntryDoor, APayloadIsOneObjectAndNothingElse) {
  // The last ones would smuggle members into the envelope.
  for (const char* payload :
       {"", "[]", "1", "null", "\"{}\"", "{", "{}}", "{} {}", "{},\"x\":1", "{},\"meta\":{\"a\":1}",
        "{},\"_tx\":\"0000.00000000\"", "{},\"runId\":\"r\"", "{\n}", "{}\n", "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\xff\"}", "{\"a\":1,}"}) {
    EXPECT_EQ(Code::kInvalidArgument, code_of({message("a", payload)})) << payload;
  }
  for (const char* meta :
       {"[]", "1", "null", "{", "{}}", "{},\"x\":1", "{},\"_tx\":\"\"", "{\r}"}) {
    NewEntry entry = message("a");
    entry.meta = meta;
    EXPECT_EQ(Code::kInvalidArgument, code_of({entry})) << meta;
  }
}

TEST_P(EntryDoor, RefusesBadTexts) {
  for (const char* bad : {"\x01", "a\nb", "a\x7f", "\xff", "\xed\xa0\x80"}) {
    NewEntry entry = message(bad);
    EXPECT_EQ(Code::kInvalidArgument, code_of({entry})) << "id";
    entry = message("a");
    entry.parent = Parent::of(bad);
    const Code code = code_of({entry});
    EXPECT_TRUE(code == Code::kInvalidArgument || code == Code::kUnknownParent) << name(code);
  }
  NewEntry entry = message(std::string(257, 'i'));
  EXPECT_EQ(Code::kInvalidArgument, code_of({entry}));
  for (const char* bad : {"\xff", "\xc0\x80"}) {
    entry = message("a");
    entry.type = bad;
    EXPECT_EQ(Code::kInvalidArgument, code_of({entry})) << "type";
    entry = message("a");
    entry.run_id = bad;
    EXPECT_EQ(Code::kInvalidArgument, code_of({entry})) << "run id";
  }
  entry = message("a");
  entry.type = "";
  EXPECT_EQ(Code::kInvalidArgument, code_of({entry}));
  for (const char* bad : {"now", "2026-01-02", "2026-13-01T00:00:00.000Z", "2026-01-02T03:04:05"}) {
    entry = message("a");
    entry.timestamp = bad;
    EXPECT_EQ(Code::kInvalidArgument, code_of({entry})) << bad;
  }
  EXPECT_EQ(Code::kInvalidArgument, code_of({}));
}

TEST_P(EntryDoor, AGivenTimestampIsCompared) {
  NewEntry entry = message("a");
  entry.timestamp = "2026-01-02T03:04:05.678Z";
  ASSERT_TRUE(append({entry}).ok());
  EXPECT_EQ(1u, append({entry})->already_present);
  EXPECT_EQ(1u, append({message("a")})->already_present);
  entry.timestamp = "2026-01-02T03:04:05.679Z";
  EXPECT_EQ(Code::kIdConflict, code_of({entry}));
}

TEST_P(EntryDoor, ARepeatIsRecognisedThroughTheOtherDoor) {
  ASSERT_TRUE(append({message("a", R"({"n": 1})")}).ok());
  const std::string_view same = R"({"id":"a","type":"message","payload":{"n": 1}})";
  const auto again = target_.api().append_session_lines("s1", {&same, 1});
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(1u, again->already_present);
  const std::string_view line = R"({"payload":{"n":2},"type":"message","id":"b"})";
  ASSERT_TRUE(target_.api().append_session_lines("s1", {&line, 1}).ok());
  const auto other = append({message("b", R"({"n":2})")});
  ASSERT_TRUE(other.ok()) << other.error().message();
  EXPECT_EQ(1u, other->already_present);
}

TEST_P(EntryDoor, LimitsOfABatch) {
  std::vector<NewEntry> many(kBatchEntriesMax + 1, message(""));
  EXPECT_EQ(Code::kTooLarge, code_of(many));
  const std::string big = "{\"x\":\"" + std::string(13 << 20, 'x') + "\"}";
  const std::vector<NewEntry> heavy(5, message("", big));
  EXPECT_EQ(Code::kTooLarge, code_of(heavy));
  EXPECT_EQ(Code::kTooLarge,
            code_of({message("a", "{\"x\":\"" + std::string(16 << 20, 'x') + "\"}")}));

  many.pop_back();
  const auto result = append(many);
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(kBatchEntriesMax, result->appended_count);
  EXPECT_TRUE(append({message("big", big)}).ok());
  const auto tree = target_.api().session_tree("s1");
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(kBatchEntriesMax + 2, tree->size());
  EXPECT_EQ(kBatchEntriesMax, tree->depth(*tree->head()));
}

TEST_P(EntryDoor, AnErrorNamesTheEntries) {
  AppendOptions options;
  options.expected_tail = "nowhere";
  const auto result = append({message("a"), message("")}, options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(Code::kTailMoved, result.error().code());
  ASSERT_EQ(2u, result.error().entry_ids().size());
  EXPECT_EQ("a", result.error().entry_ids()[0]);
  const std::string filled = result.error().entry_ids()[1];
  EXPECT_FALSE(filled.empty());

  // The same call with these ids is the retry.
  ASSERT_TRUE(append({message("a"), message(filled)}).ok());
  const auto again = append({message("a"), message(filled)}, options);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(2u, again->already_present);
}

std::string where(const ::testing::TestParamInfo<bool>& one) {
  return one.param ? "Files" : "Memory";
}

INSTANTIATE_TEST_SUITE_P(Store, EntryDoor, ::testing::Bool(), where);

}  // namespace
}  // namespace quipu::test
