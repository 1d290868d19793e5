#include "json_suite_cases.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/json_scan.h"
#include "quipu/limits.h"

namespace quipu::json {
namespace {

bool accepted(Want want) { return want == Want::kYes || want == Want::kFreeButYes; }

class JsonSuiteTest : public testing::TestWithParam<SuiteCase> {};

TEST_P(JsonSuiteTest, ValidateAgrees) {
  const SuiteCase& one = GetParam();
  const Result<void> result = validate(one.text);
  EXPECT_EQ(result.ok(), accepted(one.want)) << one.name;
  if (!result.ok()) {
    EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
  }
}

TEST_P(JsonSuiteTest, ScanObjectAgrees) {
  const SuiteCase& one = GetParam();
  std::vector<Member> members;
  const std::size_t first = one.text.find_first_not_of(" \t\r\n");
  const bool is_object = first != std::string_view::npos && one.text[first] == '{';
  EXPECT_EQ(scan_object(one.text, members).ok(), is_object && accepted(one.want)) << one.name;
}

// The same text as the value of a member, of an element, and far into a text:
// the vector code must find the same faults wherever they lie.
TEST_P(JsonSuiteTest, AgreesInsideOtherText) {
  const SuiteCase& one = GetParam();
  const bool blank = one.text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  std::vector<Member> members;
  for (const std::size_t fill : {0u, 1u, 15u, 16u, 31u, 48u, 61u, 62u, 63u, 64u, 65u, 127u, 200u}) {
    const std::string before = R"({"fill":")" + std::string(fill, 'x') + R"(","value":)";
    const std::string text = before + std::string(one.text) + R"(,"after":[]})";
    // A few bad texts would change what follows them instead of failing at once,
    // but none of them becomes good by it.
    const bool good = scan_object(text, members).ok();
    ASSERT_EQ(good, accepted(one.want) && !blank) << one.name << " after " << fill;
    if (good) {
      ASSERT_EQ(members.size(), 3u);
      EXPECT_EQ(members[1].value,
                one.text.substr(one.text.find_first_not_of(" \t\r\n"), members[1].value.size()));
    }
    EXPECT_EQ(validate("[" + std::string(fill, ' ') + std::string(one.text) + ",0]").ok(),
              accepted(one.want))
        << one.name;
  }
}

// Every proper prefix of an object is refused: a torn line never passes for one.
TEST_P(JsonSuiteTest, NoPrefixOfAnObjectIsOne) {
  const SuiteCase& one = GetParam();
  if (!accepted(one.want)) return;
  const std::string text = R"({"value":)" + std::string(one.text) + "}";
  std::vector<Member> members;
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(scan_object(std::string_view(text).substr(0, size), members).ok()) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Rfc8259, JsonSuiteTest, testing::ValuesIn(kSuite),
                         [](const testing::TestParamInfo<SuiteCase>& tested) {
                           std::string name = std::to_string(tested.index) + "_";
                           for (const char c : tested.param.name) {
                             const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                               (c >= '0' && c <= '9');
                             name.push_back(word ? c : '_');
                           }
                           return name;
                         });

TEST(JsonSuiteSizeTest, ManyCasesAndNoneTwice) {
  EXPECT_GE(std::size(kSuite), 200u);
  std::set<std::string_view> names;
  std::set<std::string_view> texts;
  for (const SuiteCase& one : kSuite) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_TRUE(texts.insert(one.text).second) << one.name;
  }
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(JsonDepthTest, ArraysToTheLimitAndNoFurther) {
  EXPECT_TRUE(validate(repeat("[", kJsonDepthMax) + repeat("]", kJsonDepthMax)).ok());
  EXPECT_FALSE(validate(repeat("[", kJsonDepthMax + 1) + repeat("]", kJsonDepthMax + 1)).ok());
}

TEST(JsonDepthTest, ObjectsToTheLimitAndNoFurther) {
  const auto nested = [](std::size_t depth) {
    return repeat(R"({"a":)", depth) + "1" + repeat("}", depth);
  };
  std::vector<Member> members;
  EXPECT_TRUE(scan_object(nested(kJsonDepthMax), members).ok());
  EXPECT_FALSE(scan_object(nested(kJsonDepthMax + 1), members).ok());
}

TEST(JsonDepthTest, MixedNestingKeepsTheKindOfEachLevel) {
  const auto nested = [](std::size_t pairs, std::string_view closing) {
    return repeat(R"([{"a":)", pairs) + "1" + repeat(closing, pairs);
  };
  EXPECT_TRUE(validate(nested(kJsonDepthMax / 2, "}]")).ok());
  EXPECT_FALSE(validate(nested(kJsonDepthMax / 2, "]}")).ok());
  EXPECT_FALSE(validate(nested(kJsonDepthMax / 2 + 1, "}]")).ok());
  for (std::size_t level = 0; level < 128; ++level) {  // one wrong bracket at each level
    std::string text = nested(64, "}]");
    char& bracket = text[text.size() - 1 - level];
    bracket = bracket == '}' ? ']' : '}';
    EXPECT_FALSE(validate(text).ok()) << level;
  }
}

TEST(JsonDepthTest, WidthIsNotDepth) {
  EXPECT_TRUE(validate("[" + repeat("[],{},", 10'000) + "0]").ok());
}

TEST(JsonDepthTest, HostileNestingIsRefusedQuickly) {
  EXPECT_FALSE(validate(repeat("[", 16u << 20)).ok());
  EXPECT_FALSE(validate(repeat(R"({"":)", 4u << 20)).ok());
}

}  // namespace
}  // namespace quipu::json
