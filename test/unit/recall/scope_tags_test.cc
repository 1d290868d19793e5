#include "recall/scope_tags.h"

#include <gtest/gtest.h>

#include <set>

namespace quipu::recall {
namespace {

TEST(ScopeTags, HaveNoWhiteSpaceAndAreShort) {
  for (const std::string& value : {std::string("a b\tc\nd"), std::string(), std::string(5000, 'x'),
                                   std::string("数据 库"), std::string("\0\x7f\"'\\%", 6)}) {
    const std::string made = tag("agent", value);
    EXPECT_EQ(std::string::npos, made.find_first_of(" \t\r\n\"'\\")) << made;
    EXPECT_LE(made.size(), 256u);
  }
}

TEST(ScopeTags, DifferentValuesHaveDifferentTags) {
  const std::string long_one(4000, 'x');
  const std::set<std::string> tags{
      tag("a", "b"),   tag("a", "B"), tag("a", ""),       tag("a", "%20"),
      tag("a", " "),   tag("b", "b"), tag("a", long_one), tag("a", long_one + "y"),
      tag("a", "b=c"), tag("a ", "b")};
  EXPECT_EQ(10u, tags.size());
}

TEST(ScopeTags, MembersOfMetaAreTags) {
  const auto tags =
      meta_tags(R"({"lang":"en","n":3,"ok":true,"o":{},"a":[1],"z":null,"e\u0020f":"g"})");
  EXPECT_EQ((std::vector<std::string>{meta_tag("lang", "en"), meta_tag("n", "3"),
                                      meta_tag("ok", "true"), meta_tag("e f", "g")}),
            tags);
  EXPECT_TRUE(meta_tags("").empty());
}

}  // namespace
}  // namespace quipu::recall
