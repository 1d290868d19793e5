// The cursor reads what the walks read, and ends on everything.
#include <gtest/gtest.h>

#include "base/json_scan.h"

namespace quipu::json {
namespace {

// What a cursor sees, written again without white space.
void write(Cursor& at, std::string& out) {
  const bool is_object = at.kind() == Kind::kObject;
  if (!is_object && at.kind() != Kind::kArray) {
    out += at.take();
    return;
  }
  out += is_object ? '{' : '[';
  bool first = true;
  std::string_view key;
  at.enter();
  while (is_object ? at.next_member(key) : at.next_element()) {
    if (!first) out += ',';
    first = false;
    if (is_object) (((out += '"') += key) += "\":");
    write(at, out);
  }
  out += is_object ? '}' : ']';
}

std::string again(std::string_view text) {
  Cursor at(text);
  std::string out;
  write(at, out);
  return out;
}

TEST(JsonCursor, SeesEverythingInOrder) {
  for (const char* text : {R"({})", R"([])", R"({"a":1,"b":[true,null,"x\"y"],"c":{"d":{}}})",
                           R"([[],[[]],{"k":[{}]}])", R"("alone")", "-1.5e3"}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again("{ \"a\" : [ 1 , 2 ] , \"b\" : { } }"), R"({"a":[1,2],"b":{}})");
}

TEST(JsonCursor, StopsWithTheValueWhateverStandsBehind) {
  Cursor at(R"({"a":1} and more {"b":2})");
  std::string out;
  write(at, out);
  EXPECT_EQ(out, R"({"a":1})");
  EXPECT_EQ(at.position()[0], ' ');
}

TEST(JsonCursor, EndsOnEveryPrefixAndEveryFlippedByte) {
  const std::string text = R"({"a":[1,{"b":"x\\"},[]],"c":{"d":null}})";
  for (std::size_t cut = 0; cut < text.size(); ++cut) again(std::string_view(text).substr(0, cut));
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'{', '}', '[', ']', ',', ':', '"', '\\', ' ', '\0'}) {
      std::string damaged = text;
      damaged[at] = c;
      EXPECT_LT(again(damaged).size(), 4 * text.size());
    }
  }
}

TEST(JsonCursor, ValueOnward) {
  EXPECT_EQ(value_onward(R"({"a":{"x":1},"b":[2],"c":3})", "b"), R"([2],"c":3})");
  EXPECT_EQ(value_onward(R"({"a":1})", "b"), "");
  EXPECT_EQ(value_onward("nothing", "b"), "");
}

TEST(JsonScrub, MakesAnyObjectStrict) {
  EXPECT_EQ(scrubbed(R"({"a":"\ud800x","b":"\ud83d\ude00","c":"\udc00"})"),
            "{\"a\":\"\xef\xbf\xbdx\",\"b\":\"\\ud83d\\ude00\",\"c\":\"\xef\xbf\xbd\"}");
  EXPECT_EQ(scrubbed("{\"a\":\"\xff\xc3\"}"), "{\"a\":\"\xef\xbf\xbd\xef\xbf\xbd\"}");
  EXPECT_EQ(scrubbed(R"({"a":"\\ud800"})"), R"({"a":"\\ud800"})");
  EXPECT_TRUE(validate(scrubbed("{\"a\":\"\x80\\ud83d\\u0041\"}")).ok());
}

}  // namespace
}  // namespace quipu::json
