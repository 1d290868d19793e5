#include "recall/vector.h"

#include <gtest/gtest.h>

#include <limits>

namespace quipu::recall {
namespace {

std::string complaint(const std::vector<float>& vector, std::size_t dimensions = 0) {
  const auto checked = check_vector(vector, dimensions);
  if (checked.ok()) return "";
  EXPECT_EQ(checked.error().code(), Code::kInvalidArgument);
  return checked.error().message();
}

TEST(Vector, IsCheckedForDimensionsAndValues) {
  EXPECT_EQ(complaint({1, 2, 3}), "");
  EXPECT_EQ(complaint({1, 2, 3}, 3), "");
  EXPECT_EQ(complaint({0, 0, 1e-45F}), "");
  EXPECT_EQ(complaint({}), "the vector has no components");
  EXPECT_EQ(complaint({1, 2}, 3), "the vector has 2 dimensions, not 3");
  EXPECT_EQ(complaint(std::vector<float>(kDimensionsMax, 1)), "");
  EXPECT_EQ(complaint(std::vector<float>(kDimensionsMax + 1, 1)),
            "the vector has more than 65536 dimensions");
  EXPECT_EQ(complaint({1, std::numeric_limits<float>::quiet_NaN()}),
            "the vector is NaN at component 1");
  EXPECT_EQ(complaint({1, 2, -std::numeric_limits<float>::infinity()}),
            "the vector is infinite at component 2");
  EXPECT_EQ(complaint({0, -0.0F, 0}), "the vector is zero in all components");
}

TEST(Vector, BytesAreLittleEndianAndComeBack) {
  EXPECT_EQ(vector_bytes(std::vector<float>{1.0F, -2.5F}),
            std::string("\x00\x00\x80\x3f\x00\x00\x20\xc0", 8));
  const std::vector<float> vector{0.1F, -3e38F, 1e-45F, 0};
  EXPECT_EQ(vector_of_bytes(vector_bytes(vector)).value(), vector);
  EXPECT_TRUE(vector_of_bytes("")->empty());
  EXPECT_EQ(vector_of_bytes("12345").error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace quipu::recall
