#include "events/cursor.h"

#include <gtest/gtest.h>

#include <random>

namespace quipu::events {
namespace {

constexpr std::string_view kStore = "0192f0c1-2b5e-7c3d-9a41-000000000001";

TEST(EventCursor, ComesBackAsItWas) {
  for (const Cursor& cursor :
       {Cursor{}, Cursor{.place = {.segment = 12, .ordinal = 7, .told = 3}, .check = 0xdeadbeef},
        Cursor{.place = {.segment = ~std::uint64_t{0}, .ordinal = kNone, .told = kNone},
        .check = 1}}) {
    const std::string text = cursor_text(kStore, cursor);
    const auto read = read_cursor(kStore, text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(cursor.place, read->place);
    EXPECT_EQ(cursor.check, read->check);
  }
}

// Whatever differs in one character is another cursor or none.
TEST(EventCursor, IsReadInOneSpellingOnly) {
  const std::string text =
      cursor_text(kStore, {.place = {.segment = 1, .ordinal = 20, .told = 0}, .check = 0x00abcdef});
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = text;
    const std::size_t at = random() % (changed.size() + 1);
    switch (random() % 3) {
      case 0:
        changed.insert(at, 1, static_cast<char>(random()));
        break;
      case 1:
        if (at < changed.size()) changed.erase(at, 1);
        break;
      default:
        if (at < changed.size()) changed[at] = static_cast<char>(random());
        break;
    }
    const auto read = read_cursor(kStore, changed);
    if (read.ok()) {
      EXPECT_EQ(changed, cursor_text(kStore, *read));
    } else {
      EXPECT_EQ(Code::kInvalidArgument, read.error().code());
    }
  }
}

TEST(EventCursor, OfAnotherStoreIsSaidToBe) {
  const auto read = read_cursor("another", cursor_text(kStore, {}));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ("this cursor is of another store", read.error().message());
}

}  // namespace
}  // namespace quipu::events
