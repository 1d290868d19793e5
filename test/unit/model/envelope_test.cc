#include "model/envelope.h"

#include <gtest/gtest.h>

namespace quipu {
namespace {

Envelope adopted(std::string_view line) {
  Envelope envelope = read_envelope(line);
  adopt(envelope, line);
  return envelope;
}

TEST(Envelope, ReadsEveryMember) {
  const Envelope envelope = read_envelope(
      R"({"id":"a","parentId":"p","type":"message","timestamp":"t","runId":"r","payload":{"x":1},"meta":{"m":2},"other":3})");
  EXPECT_EQ(envelope.id.view(), "a");
  EXPECT_EQ(envelope.parent_link, ParentLink::kEntry);
  EXPECT_EQ(envelope.parent.view(), "p");
  EXPECT_EQ(envelope.type.view(), "message");
  EXPECT_EQ(envelope.type_code, EntryType::kMessage);
  EXPECT_EQ(envelope.timestamp.view(), "t");
  EXPECT_EQ(envelope.run_id.view(), "r");
  EXPECT_EQ(envelope.payload, R"({"x":1})");
  EXPECT_EQ(envelope.meta, R"({"m":2})");
}

TEST(Envelope, KeysAndValuesMayHoldEscapes) {
  const Envelope envelope =
      read_envelope(R"({"\u0069d":"a\u00e9","parentId":null,"t\u0079pe":"mess\u0061ge"})");
  EXPECT_EQ(envelope.id.view(), "a\xc3\xa9");
  EXPECT_TRUE(envelope.id.is_copy());
  EXPECT_EQ(envelope.parent_link, ParentLink::kNull);
  EXPECT_EQ(envelope.type_code, EntryType::kMessage);
}

TEST(Envelope, MembersOfTheWrongKindAreAbsent) {
  const Envelope envelope = read_envelope(
      R"({"id":7,"parentId":[],"type":null,"timestamp":true,"runId":{},"payload":[],"meta":"m"})");
  EXPECT_TRUE(envelope.id.empty());
  EXPECT_EQ(envelope.parent_link, ParentLink::kAbsent);
  EXPECT_TRUE(envelope.type.empty());
  EXPECT_TRUE(envelope.timestamp.empty());
  EXPECT_TRUE(envelope.run_id.empty());
  EXPECT_TRUE(envelope.payload.empty());
  EXPECT_TRUE(envelope.meta.empty());
}

TEST(Envelope, PrefixAgreesWithTheWholeWhereverMembersStand) {
  for (const std::string_view line : {
           R"({"id":"a","parentId":"p","type":"message","payload":{"id":"no","type":"head"}})",
           R"({"payload":{"id":"no","parentId":"no"},"type":"message","parentId":"p","id":"a"})",
           R"({"id":"a","type":"message","payload":{"parentId":"no"}})",
           R"({"type":"head","id":"a","payload":{"entryId":"x"}})",
           R"({"payload":{"targetEntryId":"x"},"type":"label","id":"a"})",
           R"({"id":"a","type":"usage","payload":{}})",
       }) {
    const Envelope whole = read_envelope(line);
    const Envelope prefix = read_envelope_prefix(line);
    EXPECT_EQ(prefix.id.view(), whole.id.view()) << line;
    EXPECT_EQ(prefix.type_code, whole.type_code) << line;
    EXPECT_EQ(prefix.parent_link, whole.parent_link) << line;
    EXPECT_EQ(prefix.parent.view(), whole.parent.view()) << line;
    const auto a = fact_target(prefix.type_code, prefix.payload);
    const auto b = fact_target(whole.type_code, whole.payload);
    ASSERT_EQ(a.has_value(), b.has_value()) << line;
    if (a) {
      EXPECT_EQ(a->view(), b->view()) << line;
    }
  }
}

TEST(Envelope, TextThatIsNoObjectGivesAnEmptyOne) {
  for (const std::string_view text : {"", "[", "{", "{\"id\"", "nul", "{\"id\":\"a", "\xff\xfe"}) {
    const Envelope envelope = read_envelope(text);
    EXPECT_TRUE(envelope.type.empty()) << text;
  }
}

TEST(Adopt, FlatObjectIsItsOwnPayload) {
  const std::string_view line = R"({"role":"user","content":"hi","meta":{"a":1}})";
  const Envelope envelope = adopted(line);
  EXPECT_EQ(envelope.type.view(), "custom");
  EXPECT_EQ(envelope.type_code, EntryType::kCustom);
  EXPECT_EQ(envelope.payload, line);
  EXPECT_TRUE(envelope.meta.empty());
}

TEST(Adopt, KeepsWhatIsThere) {
  const Envelope envelope = adopted(R"({"type":"user","payload":{"x":1},"meta":{"m":1}})");
  EXPECT_EQ(envelope.type.view(), "user");
  EXPECT_EQ(envelope.type_code, EntryType::kOther);
  EXPECT_EQ(envelope.payload, R"({"x":1})");
  EXPECT_EQ(envelope.meta, R"({"m":1})");
}

TEST(Adopt, NumbersAreTimestamps) {
  EXPECT_EQ(adopted(R"({"timestamp":1772357400})").timestamp.view(), "2026-03-01T09:30:00.000Z");
  EXPECT_EQ(adopted(R"({"timestamp":1772357400000})").timestamp.view(), "2026-03-01T09:30:00.000Z");
  EXPECT_EQ(adopted(R"({"timestamp":1772357400.5})").timestamp.view(), "2026-03-01T09:30:00.500Z");
  for (const std::string_view wild :
       {R"({"timestamp":-5})", R"({"timestamp":1e400})", R"({"timestamp":1e99})"}) {
    EXPECT_TRUE(adopted(wild).timestamp.empty()) << wild;
  }
}

TEST(FactTarget, OnlyOfFactsThatPoint) {
  EXPECT_EQ(fact_target(EntryType::kHead, R"({"entryId":"a"})")->view(), "a");
  EXPECT_EQ(fact_target(EntryType::kLabel, R"({"targetEntryId":"a"})")->view(), "a");
  EXPECT_EQ(fact_target(EntryType::kRedaction, R"({"targetEntryId":"a"})")->view(), "a");
  EXPECT_FALSE(fact_target(EntryType::kHead, R"({"targetEntryId":"a"})"));
  EXPECT_FALSE(fact_target(EntryType::kLabel, R"({"targetEntryId":5})"));
  EXPECT_FALSE(fact_target(EntryType::kMessage, R"({"entryId":"a"})"));
  EXPECT_FALSE(fact_target(EntryType::kHead, ""));
}

TEST(EntryJson, OurOrder) {
  std::string out;
  append_entry_json(out, {.id = "a\"b",
                          .parent = "",
                          .type = "message",
                          .timestamp = "t",
                          .run_id = "r",
                          .payload = "{}",
                          .meta = R"({"m":1})"});
  EXPECT_EQ(
      out,
      R"({"id":"a\"b","parentId":null,"type":"message","timestamp":"t","runId":"r","payload":{},"meta":{"m":1}})");
}

}  // namespace
}  // namespace quipu
