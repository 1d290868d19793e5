#include "recall/vector_scan.h"

#include <gtest/gtest.h>

#include <new>
#include <random>
#include <vector>

namespace quipu::recall {
namespace {

struct alignas(kRowAlignment) Lane {
  std::int8_t values[kRowAlignment];
};

class Rows {
 public:
  Rows(std::size_t width, std::size_t count) : lanes_(width / kRowAlignment * count) {}
  std::int8_t* data() { return lanes_.empty() ? nullptr : lanes_[0].values; }
  std::size_t size() const { return lanes_.size() * kRowAlignment; }

 private:
  std::vector<Lane> lanes_;
};

TEST(VectorScan, ThePortableWayIsTheDefinition) {
  Rows query(32, 1);
  Rows rows(32, 2);
  query.data()[0] = 2;
  query.data()[31] = -3;
  rows.data()[0] = 5;
  rows.data()[31] = 7;
  rows.data()[32] = -100;
  std::vector<std::int32_t> products(2);
  scan_rows_portable(query.data(), rows.data(), 32, 2, products.data());
  EXPECT_EQ(products, (std::vector<std::int32_t>{2 * 5 - 3 * 7, -200}));
}

TEST(VectorScan, EveryWayGivesTheSameProducts) {
  std::mt19937 random(20261116);
  std::uniform_int_distribution<int> value(-127, 127);
  for (int round = 0; round < 300; ++round) {
    const std::size_t width = kRowAlignment * (1 + random() % 40);
    const std::size_t count = random() % 23;
    Rows query(width, 1);
    Rows rows(width, count);
    // Now and then nothing but extremes: sums that do not fit must show.
    const bool extreme = round % 3 == 0;
    const auto next = [&] { return extreme ? (random() % 2 == 0 ? 127 : -127) : value(random); };
    for (std::size_t i = 0; i < query.size(); ++i)
      query.data()[i] = static_cast<std::int8_t>(next());
    for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = static_cast<std::int8_t>(next());
    // One more, which must stay as it is.
    std::vector<std::int32_t> expected(count + 1, 4711);
    std::vector<std::int32_t> products(count + 1, 4711);
    scan_rows_portable(query.data(), rows.data(), width, count, expected.data());
    scan_rows(query.data(), rows.data(), width, count, products.data());
    ASSERT_EQ(products, expected) << "width " << width << ", rows " << count;
  }
}

TEST(VectorScan, TheWidestRowsDoNotOverflow) {
  constexpr std::size_t kWidth = 65536;
  Rows rows(kWidth, 1);
  std::fill_n(rows.data(), kWidth, std::int8_t{-127});
  std::int32_t product = 0;
  scan_rows(rows.data(), rows.data(), kWidth, 1, &product);
  EXPECT_EQ(product, 127 * 127 * 65536);
}

}  // namespace
}  // namespace quipu::recall
