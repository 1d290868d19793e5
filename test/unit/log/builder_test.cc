// Folding the lines of a log into an index.
#include "log/builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace quipu::log {
namespace {

// Other programs write one id again and again: updates of one message.
TEST(IndexBuilder, AnIdThatComesAThousandTimesIsNotLookedUpAMillionTimes) {
  constexpr std::size_t kLines = 1000;
  const std::string text = R"({"id":"x","type":"message","payload":{}})";
  const auto index = Index::in_memory({.k0 = 1, .k1 = 2});
  IndexState state;
  std::size_t asked = 0;
  IndexBuilder builder(*index, state, nullptr, [&](const IndexEntry&) -> Result<std::string_view> {
    ++asked;
    return std::string_view(text);
  });
  for (std::size_t i = 0; i < kLines; ++i) {
    Line line;
    line.offset = i * (text.size() + 1);
    line.text = text;
    line.sealed = false;
    builder.accept(line);
  }
  ASSERT_FALSE(builder.failure());
  EXPECT_EQ(state.fold.count, kLines);
  EXPECT_TRUE(builder.find("x~1000").value().has_value());
  EXPECT_FALSE(builder.find("x~1001").value().has_value());
  EXPECT_LE(asked, 3 * kLines);
}

}  // namespace
}  // namespace quipu::log
