// Shortening: whatever is cut, a valid string with both ends stays.
#include "context/shorten.h"

#include <gtest/gtest.h>

#include "base/json_scan.h"

namespace quipu::context {
namespace {

TEST(Shorten, ShortTextsStayAsTheyAre) {
  EXPECT_EQ(shortened("\"short\"", {.head = 10, .tail = 10}), "\"short\"");
}

TEST(Shorten, BothEndsStayAndTheRestIsCounted) {
  const std::string text = "\"begin" + std::string(1000, 'x') + "end\"";
  const std::string shorter = shortened(text, {.head = 5, .tail = 3});
  EXPECT_EQ(shorter, "\"begin\\n[… 1000 bytes left out …]\\nend\"");
}

// Every cut through escapes, pairs and sequences.
TEST(Shorten, NeverCutsInsideACharacter) {
  std::string text = "\"";
  for (int i = 0; i < 60; ++i) text += R"(\n\u00e9\ud83d\ude00\\é😀x\")";
  text += '"';
  ASSERT_TRUE(json::validate(text).ok());
  for (std::size_t head = 0; head < 60; ++head) {
    for (std::size_t tail = 0; tail < 60; tail += 7) {
      const std::string shorter = shortened(text, {.head = head, .tail = tail});
      ASSERT_TRUE(json::validate(shorter).ok()) << shorter;
      EXPECT_LT(shorter.size(), text.size());
    }
  }
}

TEST(Shorten, ContentOfSeveralPartsBecomesOneText) {
  const std::string content =
      R"([{"type":"text","text":"one"},{"type":"attachment","mediaType":"image/png","data":"QUJD"},{"type":"text","text":")" +
      std::string(500, 'y') + R"("}])";
  const std::string shorter = shortened_content(content, {.head = 40, .tail = 5});
  EXPECT_TRUE(shorter.starts_with(R"("one\n[an attachment was left out])")) << shorter;
  EXPECT_TRUE(json::validate(shorter).ok());
}

}  // namespace
}  // namespace quipu::context
