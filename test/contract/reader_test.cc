// Streams of entries: whatever the session's size, a reader holds a little of it.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>

#include "support/fresh_store.h"

namespace quipu::test {
namespace {

constexpr std::size_t kEntries = 3000;
constexpr std::size_t kTextBytes = 8 * 1024;  // 24 MB together

// Of the heap, large blocks included. Sanitizers have a heap of their own, and this says 0.
std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::string id_of(std::size_t number) { return "e" + std::to_string(number); }
// One in fifty goes on from the first, so that its parent was read long ago.
std::string parent_of(std::size_t number) {
  return number == 0 ? "" : id_of(number % 50 == 0 ? 0 : number - 1);
}

class Reader : public ::testing::TestWithParam<test::Engine> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(target_.create("s1").ok());
    for (std::size_t number = 0; number < kEntries;) {
      std::vector<NewEntry> batch;
      for (std::size_t i = 0; i < 500; ++i, ++number) {
        NewEntry& entry = batch.emplace_back();
        entry.id = id_of(number);
        entry.type = "message";
        entry.parent = number == 0 ? Parent::root() : Parent::of(parent_of(number));
        entry.payload = R"({"role":"user","content":")" + std::string(kTextBytes, 'x') + "\"}";
      }
      const auto added = target_.api().append_session_entries("s1", batch);
      ASSERT_TRUE(added.ok()) << added.error().message();
    }
  }

  FreshStore fresh_{GetParam()};
  StoreTarget target_{fresh_.url(), Door::kEntries};
};

TEST_P(Reader, HoldsAStretchOfTheSessionAndNotAllOfIt) {
  auto reader = target_.api().read_session("s1");
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  const std::size_t before = heap_bytes();
  std::size_t most = before;
  std::size_t number = 0;
  ASSERT_TRUE(reader->next().ok());  // the header
  for (;;) {
    const auto entry = reader->next();
    ASSERT_TRUE(entry.ok()) << entry.error().message();
    if (!*entry) break;
    ASSERT_EQ(id_of(number), (*entry)->id);
    ASSERT_EQ(parent_of(number), (*entry)->parent_id.value_or(""));
    ASSERT_EQ(kTextBytes + 28, (*entry)->payload.size());
    most = std::max(most, heap_bytes());
    ++number;
  }
  EXPECT_EQ(kEntries, number);
  EXPECT_LT(most - before, std::size_t{8} << 20);
}

INSTANTIATE_TEST_SUITE_P(Stores, Reader,
                         ::testing::Values(test::Engine::kFile, test::Engine::kSqlite,
                                           test::Engine::kPostgres),
                         [](const auto& one) {
                           return one.param == test::Engine::kFile     ? "file"
                                  : one.param == test::Engine::kSqlite ? "sqlite"
                                                                       : "postgres";
                         });

}  // namespace
}  // namespace quipu::test
