#include "dialect/line_window.h"

#include <gtest/gtest.h>

#include "support/memory_host.h"

namespace quipu::dialect {
namespace {

// What a file says of its session must not depend on where it is read from: else it would be
// another one when it has grown.
TEST(LineWindow, ALookAtTheBeginningSeesTheSameWhereverReadingBegins) {
  const std::string line = "{\"a\":\"" + std::string(997, 'x') + "\"}\n";
  MemoryHost host;
  std::string& text = host.files["/f"];
  for (int i = 0; i < 4000; ++i) text += line;
  const auto lines_seen = [&](std::size_t bytes, std::uint64_t from) {
    LineWindow window(host.open("/f").value(), {.offset = from});
    std::size_t count = 0;
    const auto see = [&](const Fields& fields) {
      EXPECT_EQ(fields.text("a").size(), 997u);
      ++count;
      return true;
    };
    EXPECT_TRUE(window.peek(bytes, see).ok());
    EXPECT_EQ(window.begin(), from);
    EXPECT_GT(window.fill().value() + window.rest().size(), 0u);
    EXPECT_TRUE(window.rest().starts_with("{\"a\"")) << "where reading begins";
    return count;
  };
  for (const std::size_t bytes : {std::size_t{100'000}, std::size_t{1} << 20, text.size()}) {
    EXPECT_EQ(lines_seen(bytes, 0), bytes / line.size()) << bytes;
    EXPECT_EQ(lines_seen(bytes, 40 * line.size()), bytes / line.size()) << bytes;
  }
}

}  // namespace
}  // namespace quipu::dialect
