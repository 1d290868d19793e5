#include "base/json_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json_line.h"

namespace quipu::json {
namespace {

std::vector<Member> walk_all(std::string_view text) {
  std::vector<Member> members;
  MemberWalk walk(text);
  while (const std::optional<Member> member = walk.next()) members.push_back(*member);
  return members;
}

void expect_same(const std::vector<Member>& a, const std::vector<Member>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].key, b[i].key);
    EXPECT_EQ(a[i].value, b[i].value);
    EXPECT_EQ(a[i].kind, b[i].kind);
  }
}

TEST(ScanObjectTest, ListsMembersInOrder) {
  const std::string text =
      " { \"id\" : \"a\\\"b\" ,\n\"n\":-1.5e3, \"list\":[1,{\"id\":2}] , \"o\":{\"x\":[]},"
      "\"t\":true,\"f\" :false,\"z\":null } ";
  std::vector<Member> members;
  ASSERT_TRUE(scan_object(text, members).ok());
  struct Row {
    std::string_view key, value;
    Kind kind;
  };
  const Row want[] = {{"id", R"("a\"b")", Kind::kString},
                      {"n", "-1.5e3", Kind::kNumber},
                      {"list", R"([1,{"id":2}])", Kind::kArray},
                      {"o", R"({"x":[]})", Kind::kObject},
                      {"t", "true", Kind::kBool},
                      {"f", "false", Kind::kBool},
                      {"z", "null", Kind::kNull}};
  ASSERT_EQ(members.size(), std::size(want));
  for (std::size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(members[i].key, want[i].key);
    EXPECT_EQ(members[i].value, want[i].value);
    EXPECT_EQ(members[i].kind, want[i].kind);
  }
  expect_same(members, walk_all(text));
}

TEST(ScanObjectTest, MembersAreViewsIntoTheText) {
  const std::string text = R"({"key":"value"})";
  std::vector<Member> members;
  ASSERT_TRUE(scan_object(text, members).ok());
  EXPECT_EQ(members[0].key.data(), text.data() + 2);
  EXPECT_EQ(members[0].value.data(), text.data() + 7);
}

TEST(ScanObjectTest, ClearsWhatWasThere) {
  std::vector<Member> members(3);
  ASSERT_TRUE(scan_object("{}", members).ok());
  EXPECT_TRUE(members.empty());
}

TEST(ScanObjectTest, OnlyObjects) {
  std::vector<Member> members;
  for (const std::string_view text : {"[]", "1", "\"{}\"", "null", "[{\"a\":1}]"}) {
    ASSERT_TRUE(validate(text).ok()) << text;
    const Result<void> result = scan_object(text, members);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_THAT(result.error().message(), testing::HasSubstr("not an object"));
  }
}

// The end that it finds is the only one that `scan_line` takes, whatever comes behind it.
TEST(ScanLeadingLineTest, AgreesWithScanLineAtEveryCut) {
  const std::string whole = R"({"a":{"b":["}\"",1,{}]},"long":")" + std::string(200, 'x') +
                            "\\u00e9 \xc3\xa9\",\"t\\u0061g\": \"\",\"n\":-1.5e3}";
  std::vector<Member> members;
  std::vector<Member> wanted;
  ASSERT_TRUE(scan_line(whole, wanted).ok());
  for (const std::string_view after : {"", "\n", "\r\n{}", "{}", " x", "\""}) {
    const LeadingLine line = scan_leading_line(whole + std::string(after), members);
    EXPECT_EQ(line.size, whole.size()) << after;
    EXPECT_FALSE(line.has_plain_keys);
    EXPECT_EQ(members.size(), wanted.size());
  }
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    for (const char* const after : {"", "\n{}", "\"}"}) {
      const std::string text = whole.substr(0, cut) + after;
      const std::size_t size = scan_leading_line(text, members).size;
      if (size == 0) continue;
      ASSERT_TRUE(scan_line(std::string_view(text).substr(0, size), wanted).ok()) << text;
      expect_same(members, wanted);
    }
  }
  for (const char* const none : {"", " {}", "[1]", "1", "{\n}", "{\"a\":1", "\xef\xbb\xbf{}"}) {
    EXPECT_EQ(scan_leading_line(none, members).size, 0u) << none;
  }
}

TEST(ScanLeadingLineTest, KeysWithoutEscapesArePlain) {
  std::vector<Member> members;
  const auto is_plain = [&](std::string_view text) {
    return scan_leading_line(text, members).has_plain_keys;
  };
  EXPECT_TRUE(is_plain(R"({"a":"\n","b":{"\u0061":1}}        )"));
  EXPECT_FALSE(is_plain(R"({"a":1,"\u0062":2,"c":3}            )"));
}

TEST(ScanErrorTest, SaysWhereAndWhy) {
  struct Row {
    std::string_view text, at, reason;
  };
  constexpr Row kRows[] = {
      {"", "byte 0:", "end of text"},
      {"{\"a\":\"b\tc\"}", "byte 7:", "control character"},
      {"{\"a\":\"b\xff\"}", "byte 7:", "UTF-8"},
      {R"({"a":"\q"})", "byte 6:", "escape"},
      {R"({"a":"\u12"})", "byte 6:", "hex"},
      {R"({"a":"\ud800x"})", "byte 6:", "high surrogate"},
      {R"({"a":"\udc00x"})", "byte 6:", "low surrogate"},
      {R"({"a":01})", "byte 6:", "leading zero"},
      {R"({"a":-})", "byte 6:", "digit"},
      {R"({"a":x})", "byte 5:", "value"},
      {R"({"a" 1})", "byte 5:", "colon"},
      {R"({"a":1 2})", "byte 7:", "comma or }"},
      {R"({"a":[1 2]})", "byte 8:", "comma or ]"},
      {R"({a:1})", "byte 1:", "key"},
      {R"({"a":1,})", "byte 7:", "key"},
      {R"({"a":1} x)", "byte 8:", "after the value"},
      {R"({"a":1)", "byte 6:", "end of text"},
      {R"({"a":"b)", "byte 7:", "unterminated"},
      {"\xef\xbb\xbf{}", "byte 0:", "byte order mark"},
  };
  for (const Row& row : kRows) {
    const Result<void> result = validate(row.text);
    ASSERT_FALSE(result.ok()) << row.text;
    EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(result.error().message(), testing::HasSubstr(std::string(row.at))) << row.text;
    EXPECT_THAT(result.error().message(), testing::HasSubstr(std::string(row.reason))) << row.text;
  }
}

TEST(MemberWalkTest, StopsEarlyOnTextThatIsNoObject) {
  EXPECT_TRUE(walk_all("").empty());
  EXPECT_TRUE(walk_all("   ").empty());
  EXPECT_TRUE(walk_all("[1]").empty());
  EXPECT_TRUE(walk_all("{").empty());
  EXPECT_TRUE(walk_all("{\"a").empty());
  EXPECT_TRUE(walk_all("{\"a\"").empty());
  EXPECT_TRUE(walk_all("{\"a\":").empty());
  EXPECT_TRUE(walk_all("{1:2}").empty());
  EXPECT_EQ(walk_all(R"({"a":1,2})").size(), 1u);
  EXPECT_EQ(walk_all(R"({"a":{"b":[1)").size(), 1u);
  EXPECT_EQ(walk_all(R"({"a":"b)").size(), 1u);
}

TEST(MemberWalkTest, StaysAtTheEnd) {
  MemberWalk walk(R"({"a":1})");
  EXPECT_TRUE(walk.next());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(walk.next());
}

TEST(MemberWalkTest, BracketsAndQuotesInStringsDoNotCount) {
  const std::string text =
      R"({"a":{"x":"}]\"}","y":["\\","]"]},"b":["{\\\"[",[],{"k":"\\\\"}],"c":0})";
  std::vector<Member> members;
  ASSERT_TRUE(scan_object(text, members).ok());
  ASSERT_EQ(members.size(), 3u);
  expect_same(members, walk_all(text));
}

// Whatever sits on the seam between two 64-byte blocks.
TEST(MemberWalkTest, AgreesWithScanAtEveryOffset) {
  for (std::size_t fill = 0; fill < 150; ++fill) {
    for (const std::string_view tail : {R"(\\)", R"(\")", R"(\\\")", R"(\\\\)", R"(}]\"{[)",
                                        R"(\n\t\"\u00e9)", "\xf0\x9f\x98\x80"}) {
      const std::string inner = std::string(fill, '.') + std::string(tail);
      const std::string text = R"({"s":")" + inner + R"(","o":{"k":[")" + inner + R"("]},")" +
                               inner + R"(":[{"x":{}},")" + inner + R"("],"z":1})";
      std::vector<Member> members;
      ASSERT_TRUE(scan_object(text, members).ok()) << text;
      ASSERT_EQ(members.size(), 4u);
      expect_same(members, walk_all(text));
    }
  }
}

TEST(FindMemberTest, FindsTheFirst) {
  const std::string_view text = R"({"x":{"id":0},"id":1,"id":2,"\u0069\u0064x":3,"":4})";
  EXPECT_EQ(find_member(text, "id")->value, "1");
  EXPECT_EQ(find_member(text, "idx")->value, "3");
  EXPECT_EQ(find_member(text, "")->value, "4");
  EXPECT_FALSE(find_member(text, "i"));
  EXPECT_FALSE(find_member(text, "idxx"));
  EXPECT_FALSE(find_member("[]", "id"));
}

TEST(KeyEqualsTest, ComparesDecoded) {
  EXPECT_TRUE(key_equals("id", "id"));
  EXPECT_TRUE(key_equals("", ""));
  EXPECT_TRUE(key_equals(R"(\u0069d)", "id"));
  EXPECT_TRUE(key_equals(R"(a\"b)", "a\"b"));
  EXPECT_TRUE(key_equals(R"(\ud83d\ude00)", "\xf0\x9f\x98\x80"));
  EXPECT_TRUE(key_equals(R"(\u0000)", std::string(1, '\0')));
  EXPECT_FALSE(key_equals("id", "ID"));
  EXPECT_FALSE(key_equals("idx", "id"));
  EXPECT_FALSE(key_equals("i", "id"));
  // As written they are alike, decoded they are not.
  EXPECT_FALSE(key_equals(R"(a\n)", R"(a\n)"));
  EXPECT_FALSE(key_equals(R"(\u0069)", R"(\u0069)"));
}

std::optional<std::string> duplicate_in(const std::string& text) {
  std::vector<Member> members;
  EXPECT_TRUE(scan_object(text, members).ok()) << text;
  return find_duplicate_key(members);
}

TEST(DuplicateKeyTest, FewMembers) {
  EXPECT_EQ(duplicate_in("{}"), std::nullopt);
  EXPECT_EQ(duplicate_in(R"({"a":1})"), std::nullopt);
  EXPECT_EQ(duplicate_in(R"({"a":1,"b":2,"A":3})"), std::nullopt);
  EXPECT_EQ(duplicate_in(R"({"a":1,"b":2,"a":3})"), "a");
  EXPECT_EQ(duplicate_in(R"({"":1,"":2})"), "");
  EXPECT_EQ(duplicate_in(R"({"id":1,"\u0069d":2})"), "id");
  EXPECT_EQ(duplicate_in(R"({"\n":1,"\u000a":2})"), "\n");
  EXPECT_EQ(duplicate_in(R"({"\\n":1,"\n":2})"), std::nullopt);
  // Nested keys are not looked at.
  EXPECT_EQ(duplicate_in(R"({"a":{"a":1,"a":2}})"), std::nullopt);
}

TEST(DuplicateKeyTest, AnyNumberOfMembers) {
  for (const std::size_t count : {2u, 15u, 16u, 17u, 18u, 100u, 5000u}) {
    std::string text = "{";
    for (std::size_t i = 0; i < count; ++i) text += "\"k" + std::to_string(i) + "\":0,";
    EXPECT_EQ(duplicate_in(text + R"("last":1})"), std::nullopt) << count;
    EXPECT_EQ(duplicate_in(text + R"("k1":1})"), "k1") << count;
    EXPECT_EQ(duplicate_in(text + R"("\u006b0":1})"), "k0") << count;
    EXPECT_EQ(duplicate_in(text + R"("x":1,"x":2})"), "x") << count;
  }
}

}  // namespace
}  // namespace quipu::json
